use proptest::prelude::*;

use super::*;
use crate::authority::{Hierarchy, HierarchySpec};
use crate::signer::Algorithm;

fn hierarchy(seed: &Seed) -> Hierarchy {
    let validity = Validity::new(0, 4_000_000_000).unwrap();
    Hierarchy::derive(seed, &HierarchySpec { algorithm: Algorithm::Ed25519, depth: 2, validity }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_filled_template_is_what_encoding_from_nothing_gives(
        seed in any::<u64>(),
        seq in any::<u64>(),
        end in proptest::sample::select(vec![2_000_000_000_u64, 3_000_000_000]),
        spread in proptest::sample::select(vec![0, 400_000_000_u64]),
        draw in any::<u64>(),
        profile in proptest::sample::select(Profile::all().collect::<Vec<_>>()),
        form in proptest::sample::select(
            vec![Form::Certificate, Form::Precert, Form::PrecertBySigningCertificate],
        ),
    ) {
        let seed = Seed::from_u64(seed);
        let validity = Validity::new(1_000_000_000, end).unwrap().spread_to(end + spread).unwrap();
        let not_after = validity.not_after_by(draw);
        let hierarchy = hierarchy(&seed);
        let issuer = hierarchy.issuer(profile.chain).unwrap();
        let template = LeafTemplate::new(&seed, profile, issuer, form, validity).unwrap();
        let mut minted = Minted::new();
        template.write(seq, not_after, &mut minted);

        let layout = Layout { seed: &seed, profile, validity, shape: Shape::default() };
        let entry = layout.encode(seq, not_after, &issuer.as_signer(), false).bytes;
        let signer = match form {
            Form::PrecertBySigningCertificate => issuer.precert_signer().unwrap().as_signer(),
            _ => issuer.as_signer(),
        };
        let signed = layout.encode(seq, not_after, &signer, form != Form::Certificate).bytes;
        let mut leaf = Vec::new();
        tbs::write_certificate(&signed, signer.key.as_ref(), &mut Vec::new(), &mut leaf);
        prop_assert_eq!(minted.tbs(), &entry[..]);
        prop_assert_eq!(minted.leaf(), &leaf[..]);
    }
}
