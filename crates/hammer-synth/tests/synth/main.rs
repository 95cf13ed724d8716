//! What is minted, held against openssl, x509-cert, x509-parser and ring.

mod acceptance;
mod determinism;
mod files;
mod precert;
mod shape;
mod subject_key;
mod uniqueness;

use hammer_synth::{
    Algorithm, ChainMinter, HierarchySpec, IssuerSource, MintScratch, Minted, MinterSpec, Profile, Seed,
    Validity,
};

/// 2025-10-09, in seconds since the Unix epoch.
const NOT_BEFORE: u64 = 1_760_000_000;
const NINETY_DAYS: u64 = 90 * 86_400;

fn leaf_validity() -> Validity {
    Validity::new(NOT_BEFORE, NOT_BEFORE + NINETY_DAYS - 1).unwrap()
}

/// From 2020 to 2052, so that one end is a UTCTime and the other a GeneralizedTime.
fn authority_validity() -> Validity {
    Validity::new(1_577_836_800, 2_587_766_400).unwrap()
}

/// A minter of one profile, of which 30 % are precertificates, half of them by a signing certificate.
fn spec(seed: u64, algorithm: Algorithm, profile: Profile) -> MinterSpec {
    MinterSpec {
        seed: Seed::from_u64(seed),
        stream: 0,
        issuer: IssuerSource::Derived(HierarchySpec { algorithm, depth: 2, validity: authority_validity() }),
        mix: vec![(profile, 1)],
        validity: leaf_validity(),
        precert_percent: 30,
        precert_signing_percent: 50,
        with_root: false,
    }
}

fn minter(seed: u64, algorithm: Algorithm, profile: Profile) -> ChainMinter {
    ChainMinter::new(&spec(seed, algorithm, profile)).unwrap()
}

fn mint(minter: &ChainMinter, seq: u64) -> Minted {
    let mut minted = Minted::new();
    minter.mint(seq, &mut MintScratch::new(), &mut minted);
    minted
}
