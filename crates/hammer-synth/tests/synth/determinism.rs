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
        signed_apart += usize::from(minted.certificates().len() == 3);
        rsa += usize::from(minted.leaf().windows(9).any(|bytes| bytes == RSA_ENCRYPTION));
    }
    assert!((540..660).contains(&precerts), "{precerts} of 2000 where 600 were asked for");
    assert!((240..360).contains(&signed_apart), "{signed_apart} of 2000 where 300 were asked for");
    assert!((430..570).contains(&rsa), "{rsa} of 2000 where 500 were asked for");
}

const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];

const PINNED_PROFILES: &[(&str, &str)] = &[
    ("dv-p256-chain2", "38b929346a789a67d553edf336a850e5d7201e88696c897da4c90ae6bd6b332c"),
    ("dv-p256-chain3", "ca537684e4c63c3f614b2f604713a211726b3227e91851142ace01e7f1b1d42f"),
    ("dv-rsa2048-chain2", "c8c36ba6c2d4d18d3ca6c23b1f5d9a26153836a3538cdfb238858a0c4e6dead2"),
    ("dv-rsa2048-chain3", "df74365a7f1c1d5a37882f0bf5246c0a9bb6272cfc8044d379765b4d8657c79d"),
    ("san100-p256-chain2", "36294ac6580979b3d825b3f35ba7cc40f44289663574d36a240cfb8a45060b47"),
    ("san100-p256-chain3", "e46f5f1bc70d961cdfc9461b9854ba26a3ba2fa0339c0632ffa14ffbf776b984"),
    ("san100-rsa2048-chain2", "6d3e6b6ef07de37d36d1fb540a1ed22e9b88dec14a7e2a689f465170791b8082"),
    ("san100-rsa2048-chain3", "43893b916fc71a65a6c920c6de45e1aca2ba9bc5906a5a2491ddb46b4a26c464"),
];

const PINNED_ALGORITHMS: [&str; 3] = [
    "866eb7842bcfe76aa98dfb1af313f09bbc3c855089725d711d3097f54e0f5914",
    "87069b7a3db1dc1e78a0b102dec12817f13393ae2816513d25e5ba3d9aa3e627",
    "a9f417c8d501666b06954dc809cfcf98efaf4776b3dbd6463f94c77d7ebe4280",
];
