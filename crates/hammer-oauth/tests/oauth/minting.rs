//! Tokens that are minted.

use hammer_oauth::{
    ExpectedClaims, ExtraClaim, IdentityClaims, IssuerDocuments, IssuerKeys, JwkSet, MintScratch,
    TokenAlgorithm, TokenMinter, jwks, jwt,
};
use hammer_synth::Seed;
use serde_json::json;

pub(crate) const ISSUER: &str = "http://127.0.0.1:18888";
pub(crate) const EXPECTED: ExpectedClaims<'_> = ExpectedClaims { issuer: ISSUER, audience: "sigstore" };
pub(crate) const NOW: i64 = 1_795_243_690;

pub(crate) fn claims(subject: &str) -> IdentityClaims<'_> {
    IdentityClaims { subject, email: None, issued_at: NOW, expires_at: NOW + 600, extra: &[] }
}

pub(crate) fn keys(algorithm: TokenAlgorithm, rotation: u64) -> IssuerKeys {
    IssuerKeys::derive(&Seed::from_u64(1), algorithm, rotation)
}

pub(crate) fn published(keys: &[&IssuerKeys]) -> JwkSet {
    JwkSet::read(&IssuerDocuments::new(ISSUER, keys).unwrap().jwks).unwrap()
}

pub(crate) fn minted(keys: &IssuerKeys, index: u64, claims: &IdentityClaims<'_>) -> String {
    let mut token = String::new();
    let minter = TokenMinter::new(ISSUER, "sigstore", keys.clone());
    minter.mint(index, claims, &mut MintScratch::default(), &mut token);
    token
}

#[test]
fn every_token_verifies_with_the_keys_that_its_issuer_publishes() {
    for algorithm in TokenAlgorithm::ALL {
        let keys = keys(algorithm, 0);
        let (set, minter) = (published(&[&keys]), TokenMinter::new(ISSUER, "sigstore", keys));
        let mut scratch = MintScratch::default();
        // Enough to leave the first block of nonces, and a number far away.
        for index in
            (0..300).chain([u64::MAX]).step_by(if algorithm == TokenAlgorithm::Rs256 { 100 } else { 1 })
        {
            let mut token = String::new();
            minter.mint(index, &claims("jdoe"), &mut scratch, &mut token);
            let said = jwks::verify(&token, &set, EXPECTED, NOW).unwrap();
            assert_eq!(said.subject.as_deref(), Some("jdoe"), "{algorithm} {index}");
        }
    }
}

#[test]
fn a_token_says_what_a_recorded_one_says() {
    let recorded = jwt::parse(include_str!("../../testdata/oidc-token.jwt").trim()).unwrap();
    let email = Some("jdoe@redhat.com");
    let token = minted(
        &keys(TokenAlgorithm::Es256, 0),
        7,
        &IdentityClaims { email, expires_at: NOW + 3_600, ..claims("jdoe") },
    );
    let read = jwt::parse(&token).unwrap();
    assert_eq!(read.claims, recorded.claims);
    assert_eq!(read.header.algorithm, "ES256");
    assert_eq!(read.header.key_id.as_deref(), Some(keys(TokenAlgorithm::Es256, 0).key_id()));
}

#[test]
fn the_same_number_and_claims_give_the_same_token_and_others_another_one() {
    for algorithm in TokenAlgorithm::ALL {
        let keys = keys(algorithm, 0);
        let token = minted(&keys, 1, &claims("jdoe"));
        assert_eq!(token, minted(&keys, 1, &claims("jdoe")));
        assert_ne!(token, minted(&keys, 1, &claims("another")));
    }
    let keys = keys(TokenAlgorithm::Es256, 0);
    assert_ne!(minted(&keys, 1, &claims("jdoe")), minted(&keys, 2, &claims("jdoe")));
}

#[test]
fn two_minters_of_one_key_share_no_nonce() {
    let keys = keys(TokenAlgorithm::Es256, 0);
    let token = |audience: &str| {
        let mut token = String::new();
        let minter = TokenMinter::new(ISSUER, audience, keys.clone());
        minter.mint(5, &claims("jdoe"), &mut MintScratch::default(), &mut token);
        token
    };
    // r, which is the nonce's alone, is the first half of the signature: 32 of 64 bytes, so 42 of its characters for certain.
    let r = |token: String| token.rsplit_once('.').unwrap().1[..42].to_owned();
    assert_ne!(r(token("sigstore")), r(token("another")));
    assert_eq!(r(token("sigstore")), r(token("sigstore")));
}

#[test]
fn a_token_is_written_behind_what_is_there() {
    let (minter, mut header) =
        (TokenMinter::new(ISSUER, "sigstore", keys(TokenAlgorithm::Es256, 0)), "Bearer ".to_owned());
    minter.mint(3, &claims("jdoe"), &mut MintScratch::default(), &mut header);
    assert_eq!(
        header.strip_prefix("Bearer "),
        Some(&*minted(&keys(TokenAlgorithm::Es256, 0), 3, &claims("jdoe")))
    );
}

#[test]
fn names_of_any_text_and_claims_of_any_kind_are_said_as_they_are() {
    let keys = keys(TokenAlgorithm::Es256, 0);
    let (text, groups) = ("\"\\\n\u{1}\u{fc}\u{1f980}", json!({ "list": [1, "a", null] }));
    let extra = [ExtraClaim { name: text, value: &groups }];
    let token = minted(&keys, 0, &IdentityClaims { email: Some(text), extra: &extra, ..claims(text) });
    let said = jwks::verify(&token, &published(&[&keys]), EXPECTED, NOW).unwrap();
    assert_eq!(said.subject.as_deref(), Some(text));
    assert_eq!((&said.all["email"], &said.all[text]), (&json!(text), &groups));
    assert_eq!(said.all["email_verified"], json!(true));
}
