//! The add-chain body of an everyday chain.

use hammer_synth::{
    Algorithm, ChainMinter, HierarchySpec, IssuerSource, MintScratch, Minted, MinterSpec, Profile, Seed,
    Validity,
};

/// A chain by a P-256 issuer: a leaf of the everyday profile and one intermediate.
///
/// # Panics
/// Never: its authorities are derived.
pub fn chain() -> Minted {
    let validity = Validity::new(1_767_225_600, 1_775_001_600).expect("it starts before it ends");
    let issuer = IssuerSource::Derived(HierarchySpec { algorithm: Algorithm::P256, depth: 2, validity });
    let spec = MinterSpec {
        seed: Seed::from_u64(1),
        stream: 0,
        issuer,
        mix: vec![(Profile::DV, 1)],
        validity,
        precert_percent: 0,
        precert_signing_percent: 0,
        with_root: false,
    };
    let mut chain = Minted::new();
    ChainMinter::new(&spec).expect("a derived hierarchy").mint(0, &mut MintScratch::new(), &mut chain);
    chain
}

/// Writes the body of the chain in place of what `body` held.
pub fn write(chain: &Minted, body: &mut Vec<u8>) {
    body.clear();
    chain.write_add_chain_body(body);
}
