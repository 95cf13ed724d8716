//! Tokens that are trusted, and those that are not.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use hammer_oauth::{ExpectedClaims, IdentityClaims, JwkSet, TokenAlgorithm, VerifyError, jwks};
use hammer_synth::{Algorithm, Seed, Signer as _, ThrowawayKey};

use crate::minting::{EXPECTED, ISSUER, NOW, claims, keys, minted, published};

const RECORDED: &str = include_str!("../../testdata/oidc-token.jwt");
const RECORDED_KEYS: &[u8] = include_bytes!("../../testdata/oidc-jwks.json");

#[test]
fn a_recorded_token_is_trusted_until_its_end() {
    let set = JwkSet::read(RECORDED_KEYS).unwrap();
    let token = RECORDED.trim();
    assert!(jwks::verify(token, &set, EXPECTED, NOW).is_ok());
    assert_eq!(jwks::verify(token, &set, EXPECTED, NOW + 3_600), Err(VerifyError::Expired));
}

#[test]
fn a_token_whose_bytes_were_altered_is_refused() {
    for algorithm in TokenAlgorithm::ALL {
        let keys = keys(algorithm, 0);
        let (set, token) = (published(&[&keys]), minted(&keys, 0, &claims("jdoe")));
        for place in [token.find('.').unwrap() + 9, token.rfind('.').unwrap() + 9] {
            let mut altered = token.clone().into_bytes();
            altered[place] = if altered[place] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            assert!(jwks::verify(&altered, &set, EXPECTED, NOW).is_err(), "{algorithm} {place}");
        }
    }
}

#[test]
fn a_token_of_another_key_is_refused_and_so_is_one_of_a_key_that_was_withdrawn() {
    let (old, new) = (keys(TokenAlgorithm::Es256, 0), keys(TokenAlgorithm::Es256, 1));
    let token = minted(&old, 0, &claims("jdoe"));
    assert!(jwks::verify(&token, &published(&[&new, &old]), EXPECTED, NOW).is_ok());
    let refused = VerifyError::Signature { algorithm: "ES256".to_owned() };
    assert_eq!(jwks::verify(&token, &published(&[&new]), EXPECTED, NOW), Err(refused));
}

#[test]
fn a_key_verifies_only_by_its_own_algorithm() {
    let keys = keys(TokenAlgorithm::Es256, 0);
    let set = published(&[&keys]);
    let token = minted(&keys, 0, &claims("jdoe"));
    let (_, rest) = token.split_once('.').unwrap();
    for algorithm in ["none", "HS256", "RS256"] {
        let header = BASE64_URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"{algorithm}"}}"#));
        let refused = jwks::verify(&format!("{header}.{rest}"), &set, EXPECTED, NOW).unwrap_err();
        assert_eq!(refused, VerifyError::Signature { algorithm: algorithm.to_owned() });
    }
}

#[test]
fn a_token_for_somebody_else_or_another_time_is_refused_by_its_cause() {
    let keys = keys(TokenAlgorithm::Es256, 0);
    let set = published(&[&keys]);
    let verify = |claims: &IdentityClaims<'_>, expected, now| {
        jwks::verify(&minted(&keys, 0, claims), &set, expected, now).map(|_| ())
    };
    let good = claims("jdoe");
    assert_eq!(verify(&good, EXPECTED, NOW + 599), Ok(()));
    assert_eq!(verify(&good, EXPECTED, NOW + 600), Err(VerifyError::Expired));
    let other = ExpectedClaims { issuer: "http://other", ..EXPECTED };
    assert_eq!(verify(&good, other, NOW), Err(VerifyError::Issuer { expected: "http://other".to_owned() }));
    let other = ExpectedClaims { audience: "other", ..EXPECTED };
    assert_eq!(verify(&good, other, NOW), Err(VerifyError::Audience { expected: "other".to_owned() }));
    let later = serde_json::json!(NOW + 10);
    let extra = [hammer_oauth::ExtraClaim { name: "nbf", value: &later }];
    let early = IdentityClaims { extra: &extra, ..good };
    assert_eq!(verify(&early, EXPECTED, NOW + 9), Err(VerifyError::NotYet));
    assert_eq!(verify(&early, EXPECTED, NOW + 10), Ok(()));
}

#[test]
fn a_token_of_ed25519_is_verified() {
    let key = ThrowawayKey::derive(&Seed::from_u64(1), Algorithm::Ed25519, "test", 0);
    let text = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let x = text(&key.spki_der()[12..]);
    let set = format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}]}}"#);
    let set = JwkSet::read(set.as_bytes()).unwrap();
    let said = format!(r#"{{"iss":"{ISSUER}","aud":["a","sigstore"],"exp":{}}}"#, NOW + 1);
    let signed = format!("{}.{}", text(br#"{"alg":"EdDSA"}"#), text(said.as_bytes()));
    let mut signature = Vec::new();
    key.sign(signed.as_bytes(), &mut signature);
    let token = format!("{signed}.{}", text(&signature));
    assert!(jwks::verify(&token, &set, EXPECTED, NOW).is_ok());
    signature[0] ^= 1;
    let token = format!("{signed}.{}", text(&signature));
    assert!(matches!(jwks::verify(&token, &set, EXPECTED, NOW), Err(VerifyError::Signature { .. })));
}
