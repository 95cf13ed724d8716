use proptest::prelude::*;
use ring::signature::{ECDSA_P256_SHA256_ASN1, ED25519, UnparsedPublicKey, VerificationAlgorithm};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::*;
use crate::authority::{Hierarchy, HierarchySpec};
use crate::signer::Algorithm;

fn hierarchy(seed: &Seed, algorithm: Algorithm) -> Hierarchy {
    let validity = Validity::new(0, 4_000_000_000).unwrap();
    Hierarchy::derive(seed, &HierarchySpec { algorithm, depth: 2, validity }).unwrap()
}

/// Verifies the leaf's signature, and returns it.
fn signature(minted: &Minted, signer: &SignerIdentity) -> Vec<u8> {
    let (rest, leaf) = X509Certificate::from_der(minted.leaf()).unwrap();
    assert!(rest.is_empty());
    let algorithm = signer.key.algorithm();
    let verifier: &'static dyn VerificationAlgorithm = match algorithm {
        Algorithm::P256 => &ECDSA_P256_SHA256_ASN1,
        _ => &ED25519,
    };
    let public = &signer.key.spki_der()[spki::prefix_length(algorithm)..];
    let signed = &minted.bytes[minted.signed.clone()];
    assert_eq!(leaf.tbs_certificate.as_ref(), signed);
    UnparsedPublicKey::new(verifier, public).verify(signed, &leaf.signature_value.data).unwrap();
    leaf.signature_value.data.to_vec()
}

fn shapes() -> impl Strategy<Value = Shape> {
    let padding = proptest::sample::select(vec![0, 1, 40_000, 100_000]);
    (any::<bool>(), any::<bool>(), padding).prop_map(|(server_auth, critical_poison, padding)| Shape {
        server_auth,
        critical_poison,
        padding,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_filled_template_is_what_encoding_from_nothing_gives_but_for_a_p256_signature(
        seed in any::<u64>(),
        first in any::<u64>(),
        end in proptest::sample::select(vec![2_000_000_000_u64, 3_000_000_000]),
        spread in proptest::sample::select(vec![0, 400_000_000_u64]),
        draw in any::<u64>(),
        profile in proptest::sample::select(Profile::all().collect::<Vec<_>>()),
        form in proptest::sample::select(
            vec![Form::Certificate, Form::Precert, Form::PrecertBySigningCertificate],
        ),
        shape in shapes(),
        algorithm in proptest::sample::select(vec![Algorithm::P256, Algorithm::P256, Algorithm::Ed25519]),
        threads in 1..4_usize,
    ) {
        let seed = Seed::from_u64(seed);
        let validity = Validity::new(1_000_000_000, end).unwrap().spread_to(end + spread).unwrap();
        let not_after = validity.not_after_by(draw);
        let hierarchy = hierarchy(&seed, algorithm);
        let issuer = hierarchy.issuer(profile.chain).unwrap();
        let mut template = LeafTemplate::new(&seed, profile, issuer, form, validity, shape).unwrap();
        template.walk(&[7; 32]);
        let mut scratch = MintScratch::of_one_among(threads);
        let (mut fast, mut slow) = (Minted::new(), Minted::new());
        // Enough for a block of the walks, and beyond it.
        for seq in (0..10).map(|step| first.saturating_add(step)).chain([first / 2]) {
            template.write(seq, not_after, &mut scratch, &mut fast);
            template.write_slowly(seq, not_after, &mut slow);
            prop_assert_eq!(fast.tbs(), slow.tbs());
            prop_assert_eq!(&fast.bytes[fast.signed.clone()], &slow.bytes[slow.signed.clone()]);
            prop_assert_eq!((fast.seq, fast.kind, fast.not_after), (slow.seq, slow.kind, slow.not_after));
            prop_assert_eq!(fast.issuer_key_hash, slow.issuer_key_hash);
            let signatures = [signature(&fast, &template.signer), signature(&slow, &template.signer)];
            prop_assert_eq!(signatures[0] == signatures[1], algorithm == Algorithm::Ed25519);
        }
    }
}
