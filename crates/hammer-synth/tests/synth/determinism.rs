use hammer_synth::{Algorithm, ChainMinter, Kind, Minted, Profile};
use ring::digest::{Context, SHA256};

use crate::{mint, minter, spec};

/// SHA-256 over roots, chains and TBSCertificates of the seqs 0 to 99.
fn digest(minter: &ChainMinter) -> String {
    let mut context = Context::new(&SHA256);
    context.update(minter.roots_pem().as_bytes());
    let mut minted = Minted::new();
    for seq in 0..100 {
        minter.mint(seq, &mut minted);
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
    let mut reused = Minted::new();
    for seq in (0..50).rev() {
        minter.mint(seq, &mut reused);
        let fresh = mint(&minter, seq);
        assert!(reused.certificates().eq(fresh.certificates()), "{seq}");
        assert_eq!(
            (reused.seq(), reused.kind(), reused.tbs(), reused.issuer_key_hash()),
            (seq, fresh.kind(), fresh.tbs(), fresh.issuer_key_hash())
        );
    }
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
        signed_apart += usize::from(minted.certificates().len() == 3);
        rsa += usize::from(minted.leaf().windows(9).any(|bytes| bytes == RSA_ENCRYPTION));
    }
    assert!((540..660).contains(&precerts), "{precerts} of 2000 where 600 were asked for");
    assert!((240..360).contains(&signed_apart), "{signed_apart} of 2000 where 300 were asked for");
    assert!((430..570).contains(&rsa), "{rsa} of 2000 where 500 were asked for");
}

const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];

const PINNED_PROFILES: &[(&str, &str)] = &[
    ("dv-p256-chain2", "ddcde869f25a4a311d2eaf45ff7467a8fb484795481aafce5c1ad1b290ab468d"),
    ("dv-p256-chain3", "ac2a4c65c118bfc4b064f99e26258891fdc72b555c86864846fe712c5abf63a2"),
    ("dv-rsa2048-chain2", "b6cea053e9f5dbf5af7f8273ff24ed4d02015041d803f3bf1f6ef10ef49024c4"),
    ("dv-rsa2048-chain3", "f346716ed2ece834b28fcbfddae889c6b5023c64b74a25b7e89089f39027e584"),
    ("san100-p256-chain2", "61e140a23957effe6cdd0cacd60fa00587bb64d1eb9216ea192eb86c3ae982da"),
    ("san100-p256-chain3", "e8caea373caae9f6670e82fd4f32401d49bddb25db5749a030e9dde86b0ee05b"),
    ("san100-rsa2048-chain2", "10fe213e5323babcdb3908af59d422192b392a12d615af4fa06441cca85c20de"),
    ("san100-rsa2048-chain3", "9cc018bc3704b9d2bf8502f7bbeac66afb055a3f4acb94b4c392acb569f0e340"),
];

const PINNED_ALGORITHMS: [&str; 3] = [
    "aeda35067281a5411e999eb9d91e0f5011cedb371424f6a4dfab2c4f7d411276",
    "21adfca0c03a8bdb1b691d4407746ed44f8c6e10c3a8b7105bd0831a8c8b4ad3",
    "419803f10c318aa27b59e6a7b7f3f6069716aeb11021e5bdfae35924b9ee7116",
];
