//! A set of public keys, as an issuer publishes it.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;

/// The keys of an issuer that tokens are verified with here: for ES256, RS256 and EdDSA with Ed25519.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwkSet {
    keys: Vec<PublicJwk>,
    /// Keys of other kinds, or for other uses.
    skipped: usize,
}

/// Why bytes are no set of keys. Completes "failed to ...".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JwkSetError {
    /// They are no JSON object with an array `keys`.
    #[error("read a JSON Web Key Set: {0}")]
    Json(String),
    /// A key of a kind that is read here lacks a number, or one that is not base64url of the right length.
    #[error("read a JSON Web Key Set: key {position} has no {member} as its kind has")]
    Key {
        /// The key's place in the set, from 0.
        position: usize,
        /// The member in question.
        member: &'static str,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PublicJwk {
    key_id: Option<String>,
    material: KeyMaterial,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyMaterial {
    /// The point, uncompressed (SEC 1 section 2.3.3).
    P256(Vec<u8>),
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct WrittenSet {
    keys: Vec<Value>,
}

impl JwkSet {
    /// Reads a set. Keys of other kinds, and those that are not for signatures, are skipped (RFC 7517 section 5).
    ///
    /// # Errors
    /// What is no set, or a key of a known kind that is damaged.
    pub fn read(json: &[u8]) -> Result<Self, JwkSetError> {
        let written: WrittenSet =
            serde_json::from_slice(json).map_err(|error| JwkSetError::Json(error.to_string()))?;
        let mut set = Self { keys: Vec::with_capacity(written.keys.len()), skipped: 0 };
        for (position, key) in written.keys.iter().enumerate() {
            match PublicJwk::read(key).map_err(|member| JwkSetError::Key { position, member })? {
                Some(key) => set.keys.push(key),
                None => set.skipped += 1,
            }
        }
        Ok(set)
    }

    /// How many keys can be used.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether none can.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many keys are of another kind, or for another use.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Whether a key of this name can be used.
    pub fn has_key(&self, key_id: &str) -> bool {
        self.keys.iter().any(|key| key.key_id.as_deref() == Some(key_id))
    }

    /// Whether one of the keys that may be meant has signed this: those of this name, or all where none is said.
    pub(super) fn verifies(
        &self,
        algorithm: &str,
        key_id: Option<&str>,
        signed: &[u8],
        signature: &[u8],
    ) -> bool {
        let meant = |key: &&PublicJwk| key_id.is_none_or(|id| key.key_id.as_deref() == Some(id));
        self.keys.iter().filter(meant).any(|key| key.material.verifies(algorithm, signed, signature))
    }
}

impl PublicJwk {
    /// None for a key that is not read here; the member that is missing or damaged where it should be.
    fn read(key: &Value) -> Result<Option<Self>, &'static str> {
        let text = |member: &str| key.get(member).and_then(Value::as_str);
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return Ok(None);
        }
        let number = |member| text(member).and_then(|text| BASE64_URL_SAFE_NO_PAD.decode(text).ok());
        let number_of = |member: &'static str, length: usize| {
            number(member).filter(|bytes: &Vec<u8>| bytes.len() == length).ok_or(member)
        };
        let material = match (text("kty"), text("crv")) {
            (Some("EC"), Some("P-256")) => {
                KeyMaterial::P256([vec![4], number_of("x", 32)?, number_of("y", 32)?].concat())
            }
            (Some("OKP"), Some("Ed25519")) => KeyMaterial::Ed25519(number_of("x", 32)?),
            (Some("RSA"), _) => {
                KeyMaterial::Rsa { modulus: number("n").ok_or("n")?, exponent: number("e").ok_or("e")? }
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { key_id: text("kid").map(str::to_owned), material }))
    }
}

impl KeyMaterial {
    /// False as well where the algorithm is not one of this key: it is the key that says how it verifies.
    fn verifies(&self, algorithm: &str, signed: &[u8], signature: &[u8]) -> bool {
        let verified = match (self, algorithm) {
            (Self::P256(point), "ES256") => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, signature)
            }
            (Self::Rsa { modulus, exponent }, "RS256") => {
                RsaPublicKeyComponents { n: &modulus[..], e: &exponent[..] }.verify(
                    &RSA_PKCS1_2048_8192_SHA256,
                    signed,
                    signature,
                )
            }
            (Self::Ed25519(key), "EdDSA") => UnparsedPublicKey::new(&ED25519, key).verify(signed, signature),
            _ => return false,
        };
        verified.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_set_has_its_key() {
        let set = JwkSet::read(include_bytes!("../../testdata/oidc-jwks.json")).unwrap();
        assert_eq!((set.len(), set.skipped()), (1, 0));
        assert!(set.has_key("k1") && !set.has_key("k2"));
    }

    #[test]
    fn keys_of_other_kinds_and_uses_are_skipped() {
        let json =
            br#"{"keys":[{"kty":"oct","k":"AA"},{"kty":"RSA","use":"enc"},{"kty":"EC","crv":"P-521"}]}"#;
        let set = JwkSet::read(json).unwrap();
        assert_eq!((set.len(), set.skipped(), set.is_empty()), (0, 3, true));
    }

    #[test]
    fn a_damaged_key_is_named_by_its_place() {
        for (key, member) in [
            (r#"{"kty":"EC","crv":"P-256","x":"AA"}"#, "x"),
            (r#"{"kty":"OKP","crv":"Ed25519"}"#, "x"),
            (r#"{"kty":"RSA","n":"AQAB"}"#, "e"),
            (r#"{"kty":"RSA","n":"?","e":"AQAB"}"#, "n"),
        ] {
            let json = format!(r#"{{"keys":[{{"kty":"oct"}},{key}]}}"#);
            let error = JwkSet::read(json.as_bytes()).unwrap_err();
            assert_eq!(error, JwkSetError::Key { position: 1, member });
        }
        assert!(matches!(JwkSet::read(b"{}"), Err(JwkSetError::Json(_))));
    }
}
