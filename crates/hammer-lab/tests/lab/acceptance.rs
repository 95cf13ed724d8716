//! What the log accepts, judged from bytes alone.

use std::sync::LazyLock;

use hammer_lab::ct::Validator;
use proptest::prelude::*;

use crate::chains::{openssl, openssl_roots};

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| Validator::new(&openssl_roots()).unwrap());

fn refusal(names: &[&str], precert: bool) -> String {
    VALIDATOR.check(&openssl(names), precert, 0).expect_err("accepted").to_string()
}

fn assert_accepted(names: &[&str], precert: bool) {
    VALIDATOR.check(&openssl(names), precert, 0).unwrap_or_else(|refusal| panic!("{names:?}: {refusal}"));
}

#[test]
fn chains_made_by_openssl_are_accepted_in_every_key_type_and_digest() {
    for algorithm in ["p256", "p384", "rsa", "ed25519"] {
        let name = |role: &str| format!("{algorithm}-{role}");
        let (leaf, int, root) = (name("leaf"), name("int"), name("root"));
        assert_accepted(&[&leaf, &int], false);
        assert_accepted(&[&leaf, &int, &root], false);
    }
    for (leaf, int) in [
        ("p256-sha384-leaf", "p256-int"),
        ("p384-sha384-leaf", "p384-int"),
        ("rsa-sha384-leaf", "rsa-int"),
        ("rsa-sha512-leaf", "rsa-int"),
        ("rsa-pss-leaf", "rsa-int"),
        ("ed25519-leaf-of-rsa", "rsa-int"),
        ("expired", "p256-int"),
        ("bare", "p256-int"),
    ] {
        assert_accepted(&[leaf, int], false);
    }
}

#[test]
fn leaves_of_a_root_authorities_as_leaves_and_cross_signed_paths_are_accepted() {
    assert_accepted(&["leaf-of-root"], false);
    assert_accepted(&["leaf-of-root", "p256-root"], false);
    assert_accepted(&["p256-root"], false);
    assert_accepted(&["p256-int"], false);
    assert_accepted(&["p256-leaf", "p256-int", "p256-root-cross"], false);
    assert_accepted(&["p256-leaf", "p256-int", "p256-root-cross", "rsa-root"], false);
}

#[test]
fn a_chain_that_does_not_lead_to_a_root_in_its_order_is_refused() {
    for names in [
        &["p256-leaf"][..],
        &["p256-int", "p256-leaf"],
        &["p256-leaf", "p256-root", "p256-int"],
        &["p256-leaf", "rsa-int"],
        &["p256-leaf", "p256-int", "rsa-int"],
        &["p256-leaf", "p256-int", "p256-int"],
        &["p256-leaf", "p256-int", "rsa-root"],
        &["p256-leaf", "p256-leaf", "p256-int"],
    ] {
        let text = refusal(names, false);
        assert!(text.contains("x509: certificate signed by unknown authority"), "{names:?}: {text}");
    }
    let repeated = refusal(&["p256-leaf", "p256-int", "p256-root", "p256-root"], false);
    assert!(repeated.contains("no RFC compliant path"), "{repeated}");
    let stranger = Validator::new(&openssl(&["rsa-root"])).unwrap();
    assert!(stranger.check(&openssl(&["p256-leaf", "p256-int", "p256-root"]), false, 0).is_err());
}

#[test]
fn an_issuer_that_may_not_issue_is_refused() {
    for (leaf, issuer) in [("leaf-of-not-ca", "not-ca"), ("leaf-of-no-cert-sign", "no-cert-sign")] {
        let text = refusal(&[leaf, issuer], false);
        assert!(text.contains("parent certificate cannot sign"), "{text}");
    }
}

#[test]
fn a_precertificate_needs_a_critical_null_poison_and_its_own_endpoint() {
    assert_accepted(&["precert", "p256-int"], true);
    assert_accepted(&["precert-of-root"], true);
    assert_accepted(&["precert-by-signing", "precert-signing", "p256-int"], true);
    for (name, precert) in [("precert", false), ("p256-leaf", true)] {
        assert_eq!(refusal(&[name, "p256-int"], precert), "cert / precert mismatch: bool");
    }
    for name in ["precert-soft-poison", "precert-odd-poison"] {
        for precert in [false, true] {
            assert!(refusal(&[name, "p256-int"], precert).starts_with("precert test failed"), "{name}");
        }
    }
    assert!(refusal(&["precert-by-signing", "precert-signing"], true).contains("unknown authority"));
}

#[test]
fn a_broken_signature_is_refused_in_the_words_of_its_algorithm() {
    for (leaf, int, words) in [
        ("p256-leaf", "p256-int", "x509: ECDSA verification failure"),
        ("p384-leaf", "p384-int", "x509: ECDSA verification failure"),
        ("rsa-leaf", "rsa-int", "crypto/rsa: verification error"),
        ("ed25519-leaf", "ed25519-int", "x509: Ed25519 verification failure"),
    ] {
        let mut chain = openssl(&[leaf, int]);
        *chain[0].last_mut().unwrap() ^= 1;
        let text = VALIDATOR.check(&chain, false, 0).expect_err("accepted").to_string();
        assert!(text.contains(words), "{leaf}: {text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_chain_with_any_byte_altered_is_refused(
        which in 0_usize..4, certificate in 0_usize..2, at in any::<prop::sample::Index>(), mask in 1_u8..
    ) {
        let algorithm = ["p256", "p384", "rsa", "ed25519"][which];
        let mut chain = openssl(&[&format!("{algorithm}-leaf"), &format!("{algorithm}-int")]);
        let at = at.index(chain[certificate].len());
        chain[certificate][at] ^= mask;
        prop_assert!(VALIDATOR.check(&chain, false, 0).is_err(), "{algorithm} certificate {certificate} byte {at}");
    }

    #[test]
    fn arbitrary_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(VALIDATOR.check(&[bytes], false, 0).is_err());
    }

    #[test]
    fn a_certificate_cut_short_or_followed_by_bytes_is_refused(cut in any::<prop::sample::Index>(), extra in any::<u8>()) {
        let chain = openssl(&["p256-leaf", "p256-int"]);
        let short = chain[0][..cut.index(chain[0].len())].to_vec();
        prop_assert!(VALIDATOR.check(&[short, chain[1].clone()], false, 0).is_err());
        let long = [chain[0].as_slice(), &[extra]].concat();
        prop_assert!(VALIDATOR.check(&[long, chain[1].clone()], false, 0).is_err());
    }
}
