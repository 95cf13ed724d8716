use std::collections::HashSet;

use hammer_synth::{Algorithm, ChainMinter, Kind, MintScratch, Minted, MinterSpec, Profile, Shape};
use ring::digest::{Context, SHA256};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::{mint, minter, spec};

/// SHA-256 over roots, chains and TBSCertificates of the seqs 0 to 99.
fn digest(minter: &ChainMinter) -> String {
    let mut context = Context::new(&SHA256);
    context.update(minter.roots_pem().as_bytes());
    let (mut scratch, mut minted) = (MintScratch::new(), Minted::new());
    for seq in 0..100 {
        minter.mint(seq, &mut scratch, &mut minted);
        minted.certificates().for_each(|certificate| context.update(certificate));
        context.update(minted.tbs());
        context.update(minted.issuer_key_hash());
    }
    context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_bytes_of_every_profile_are_pinned() {
    let found: Vec<(String, String)> = Profile::all()
        .map(|profile| (profile.to_string(), digest(&minter(1, Algorithm::P256, profile))))
        .collect();
    let pinned: Vec<(String, String)> =
        PINNED_PROFILES.iter().map(|(name, digest)| ((*name).to_owned(), (*digest).to_owned())).collect();
    assert_eq!(found, pinned);
}

#[test]
fn the_bytes_of_every_algorithm_are_pinned() {
    let found = Algorithm::ALL.map(|algorithm| digest(&minter(2, algorithm, Profile::DV)));
    assert_eq!(found, PINNED_ALGORITHMS);
}

#[test]
fn another_seed_changes_roots_and_leaves() {
    let (one, two) = (minter(1, Algorithm::P256, Profile::DV), minter(2, Algorithm::P256, Profile::DV));
    assert_ne!(one.roots_pem(), two.roots_pem());
    assert_ne!(mint(&one, 5).leaf(), mint(&two, 5).leaf());
}

#[test]
fn neither_the_order_nor_what_a_buffer_held_changes_a_chain() {
    let minter = minter(1, Algorithm::P256, Profile::DV);
    let (mut scratch, mut reused) = (MintScratch::new(), Minted::new());
    for seq in (0..50).rev() {
        minter.mint(seq, &mut scratch, &mut reused);
        let fresh = mint(&minter, seq);
        assert!(reused.certificates().eq(fresh.certificates()), "{seq}");
        assert_eq!(
            (reused.seq(), reused.kind(), reused.tbs(), reused.issuer_key_hash()),
            (seq, fresh.kind(), fresh.tbs(), fresh.issuer_key_hash())
        );
    }
}

#[test]
fn neither_threads_nor_what_else_was_minted_change_a_chain() {
    let (one, other) = (minter(1, Algorithm::P256, Profile::DV), minter(2, Algorithm::P256, Profile::DV));
    let (mut shared, mut minted) = (MintScratch::of_one_among(3), Minted::new());
    for seq in (0..600).chain(0..20) {
        for minter in [&one, &other] {
            minter.mint(seq, &mut shared, &mut minted);
            assert_eq!(minted.leaf(), mint(minter, seq).leaf(), "{seq}");
        }
    }
}

#[test]
fn no_nonce_signs_two_messages() {
    let usual = spec(1, Algorithm::P256, Profile::DV);
    let one = ChainMinter::new(&usual).unwrap();
    let later = hammer_synth::Validity::new(usual.validity.not_before(), usual.validity.not_after() + 1);
    let spread = usual.validity.spread_to(usual.validity.not_after() + 1).unwrap();
    let shaped = |spec: &MinterSpec, shape| one.shaped(spec, shape).unwrap();
    let minters = [
        shaped(&MinterSpec { stream: 1, ..usual.clone() }, Shape::default()),
        shaped(&MinterSpec { precert_percent: 31, ..usual.clone() }, Shape::default()),
        shaped(&MinterSpec { precert_signing_percent: 51, ..usual.clone() }, Shape::default()),
        shaped(&MinterSpec { validity: later.unwrap(), ..usual.clone() }, Shape::default()),
        shaped(&MinterSpec { validity: spread, ..usual.clone() }, Shape::default()),
        shaped(&usual, Shape { server_auth: false, ..Shape::default() }),
        shaped(&usual, Shape { critical_poison: false, ..Shape::default() }),
        shaped(&usual, Shape { padding: 1, ..Shape::default() }),
        minter(1, Algorithm::P256, Profile::all().nth(1).unwrap()),
        minter(2, Algorithm::P256, Profile::DV),
        one,
    ];
    let nonces: HashSet<Vec<u8>> =
        minters.iter().flat_map(|minter| (0..100).map(|seq| r(&mint(minter, seq)))).collect();
    assert_eq!(nonces.len(), 100 * minters.len());
}

/// The first half of the leaf's signature, which follows from its nonce.
fn r(minted: &Minted) -> Vec<u8> {
    let (_, leaf) = X509Certificate::from_der(minted.leaf()).unwrap();
    let signature = &leaf.signature_value.data;
    signature[4..4 + usize::from(signature[3])].to_vec()
}

#[test]
fn threads_that_share_a_minter_mint_what_one_thread_does() {
    let minter = minter(1, Algorithm::P256, Profile::DV);
    let leaf = |seq| mint(&minter, seq).leaf().to_vec();
    let shared: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|k| scope.spawn(move || [k, k + 4, k + 8].map(leaf))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let alone: Vec<Vec<u8>> = (0..4).flat_map(|k| [k, k + 4, k + 8].map(leaf)).collect();
    assert_eq!(shared, alone);
}

#[test]
fn shares_and_weights_come_out_as_they_were_asked_for() {
    let mut spec = spec(1, Algorithm::P256, Profile::DV);
    let rare = Profile { subject_key: hammer_synth::SubjectKey::Rsa2048, ..Profile::DV };
    spec.mix = vec![(Profile::DV, 3), (rare, 1)];
    let minter = ChainMinter::new(&spec).unwrap();
    let (mut precerts, mut signed_apart, mut rsa) = (0, 0, 0);
    for seq in 0..2000 {
        let minted = mint(&minter, seq);
        precerts += usize::from(minted.kind() == Kind::Precert);
        signed_apart += usize::from(minted.certificates().count() == 3);
        rsa += usize::from(minted.leaf().windows(9).any(|bytes| bytes == RSA_ENCRYPTION));
    }
    assert!((540..660).contains(&precerts), "{precerts} of 2000 where 600 were asked for");
    assert!((240..360).contains(&signed_apart), "{signed_apart} of 2000 where 300 were asked for");
    assert!((430..570).contains(&rsa), "{rsa} of 2000 where 500 were asked for");
}

const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];

const PINNED_PROFILES: &[(&str, &str)] = &[
    ("dv-p256-chain2", "119f0cd6eff9419837a77cf3edeeb144e1ce5e4ebddd4adcd2c6f28f800d9619"),
    ("dv-p256-chain3", "e15273e39f44c4e41f4a1ba2153a59afc57cd0b6b35efefc0b5a4aa1e6ee84d9"),
    ("dv-rsa2048-chain2", "294ac2a34afaf3a69ce5e2c2a9c328a6549b29e02174e6a40d24ae88a186ad75"),
    ("dv-rsa2048-chain3", "681d27733e2ab4772210ddc8d1d1b908b527a2197d64842e6098b125488407e7"),
    ("san100-p256-chain2", "82783fca2e42ac5a417faff95750a70dcba701d7fd6f8cf7083425ea04ba7f2f"),
    ("san100-p256-chain3", "e02fdde511e75034cc3cbf8cdba62a79e2e053dea7be5add08ce9d18ab9854eb"),
    ("san100-rsa2048-chain2", "998817066d538ae7305e5c840c44798dc064d93fa71cf21e7546dd8e364c2243"),
    ("san100-rsa2048-chain3", "c6bbf9a428c9c4a865dc92f7c240e5430a14e3a59e2205a465696df337a6e0e7"),
];

const PINNED_ALGORITHMS: [&str; 3] = [
    "e50e952adeaa25b6572eb2762566c4e1a602e4e7c8466611681bb3bbceb232aa",
    "ce46c86bb5046b172f379c4d4da8d1613445f22e55c395c439b81bbc8b98cf71",
    "03d10b0aeac611bf434160cc161214ef77ec8952cbcf9140283e9a74ec1964b1",
];
