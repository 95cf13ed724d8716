use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};

use super::*;

/// A token by this key with this header.
fn token(key: &SigningKey, header: &str) -> String {
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let signed = format!("{}.{}", encode(header.as_bytes()), encode(br#"{"sub":"jane"}"#));
    let signature: Signature = key.sign(signed.as_bytes());
    format!("{signed}.{}", encode(&signature.to_bytes()))
}

fn key(seed: u8) -> SigningKey {
    SigningKey::from_slice(&[seed; 32]).unwrap()
}

/// The uncompressed point (SEC 1 section 2.3.3).
fn point(key: &SigningKey) -> Vec<u8> {
    key.verifying_key().to_sec1_point(false).as_bytes().to_vec()
}

/// A set with the key under this name.
fn set(key: &SigningKey, kid: &str) -> JwkSet {
    let point = point(key);
    let [x, y] = [&point[1..33], &point[33..]].map(|half| URL_SAFE_NO_PAD.encode(half));
    let key = format!(r#"{{"kty":"EC","crv":"P-256","kid":"{kid}","x":"{x}","y":"{y}"}}"#);
    JwkSet::read(format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","x":"AA"}},{key}]}}"#).as_bytes())
        .unwrap()
}

fn spki(key: &SigningKey) -> Vec<u8> {
    [hammer_p256::SPKI_PREFIX.as_slice(), &point(key)].concat()
}

fn verdict(token: &str, keys: &JwkSet) -> Result<bool, MalformedJws> {
    CompactJws::split(token)?.is_signed_by(keys)
}

#[test]
fn a_key_of_a_set_is_meant_by_its_name_or_by_none() {
    let keys = set(&key(1), "k1");
    assert_eq!(verdict(&token(&key(1), r#"{"alg":"ES256","kid":"k1"}"#), &keys), Ok(true));
    assert_eq!(verdict(&token(&key(1), r#"{"alg":"ES256"}"#), &keys), Ok(true));
    assert_eq!(verdict(&token(&key(1), r#"{"alg":"ES256","kid":"k2"}"#), &keys), Ok(false));
    assert_eq!(verdict(&token(&key(2), r#"{"alg":"ES256","kid":"k1"}"#), &keys), Ok(false));
    for algorithm in ["RS256", "none", "HS256"] {
        assert_eq!(verdict(&token(&key(1), &format!(r#"{{"alg":"{algorithm}"}}"#)), &keys), Ok(false));
    }
}

#[test]
fn a_key_without_a_name_is_meant_by_every_token_and_sets_are_joined() {
    let mut keys = JwkSet::default();
    let token = token(&key(3), r#"{"alg":"ES256","kid":"whatever"}"#);
    assert_eq!((keys.is_empty(), verdict(&token, &keys)), (true, Ok(false)));
    keys.add(set(&key(1), "k1"));
    keys.add(JwkSet::of_spki(&spki(&key(3))).unwrap());
    assert_eq!((keys.is_empty(), verdict(&token, &keys)), (false, Ok(true)));
    assert!(JwkSet::of_spki(&spki(&key(3))[1..]).is_none());
}

#[test]
fn what_is_no_token_is_malformed_and_claims_are_read_whoever_signed() {
    let keys = set(&key(1), "k1");
    for text in ["", ".", "..", "a.b.c", "e30.e30", "e30.e30.", "e30.e30.!"] {
        assert_eq!(verdict(text, &keys), Err(MalformedJws), "{text:?}");
    }
    let token = token(&key(9), r#"{"alg":"ES256"}"#);
    let claims: RegisteredClaims = CompactJws::split(&token).unwrap().claims().unwrap();
    assert_eq!((claims.sub.as_str(), claims.iss.as_str()), ("jane", ""));
}
