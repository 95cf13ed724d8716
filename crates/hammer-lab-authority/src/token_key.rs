//! The key of an embedded issuer of tokens: compact JWS (RFC 7515) with ES256, and the set that verifies them (RFC 7517).

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use hammer_lab::LabError;
use hammer_p256::RawSignature;
use hammer_tlog::hash::sha256;
use serde_json::{Value, json};

use crate::signer::LabSigner;

/// A P-256 key of a seed, which signs tokens: whoever knows the seed holds it.
#[derive(Debug)]
pub struct TokenKey {
    signer: LabSigner,
    id: String,
}

impl TokenKey {
    /// The key of a seed; keys of different purposes have nothing in common.
    ///
    /// # Errors
    /// There is no randomness.
    pub fn of_seed(purpose: &str, seed: u64) -> Result<Self, LabError> {
        let signer = LabSigner::p256(purpose, seed)?;
        let id = encode(&sha256(signer.spki()).0);
        Ok(Self { signer, id })
    }

    /// The set of the one key, in JSON (RFC 7517 section 5).
    #[must_use]
    pub fn jwk_set(&self) -> String {
        let (x, y) = self.signer.public_key()[1..].split_at(32);
        let key = json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id, "x": encode(x), "y": encode(y),
        });
        json!({ "keys": [key] }).to_string()
    }

    /// The token with these claims (RFC 7519), which names the key by its `kid`.
    #[must_use]
    pub fn token(&self, claims: &Value) -> String {
        let header = json!({ "alg": "ES256", "typ": "JWT", "kid": self.id });
        let signed =
            format!("{}.{}", encode(header.to_string().as_bytes()), encode(claims.to_string().as_bytes()));
        // What the signer itself wrote is a signature; of any other nobody could make a token.
        let signature = RawSignature::from_der(&self.signer.sign(signed.as_bytes()));
        let signature = signature.map(|signature| encode(&signature.to_fixed())).unwrap_or_default();
        format!("{signed}.{signature}")
    }
}

fn encode(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use hammer_lab::jws::{CompactJws, JwkSet};

    use super::*;

    #[test]
    fn its_set_verifies_its_tokens_and_not_those_of_another_seed_or_purpose() {
        let key = |purpose, seed| TokenKey::of_seed(purpose, seed).unwrap();
        let keys = JwkSet::read(key("a", 1).jwk_set().as_bytes()).unwrap();
        let is_its = |token: &str| CompactJws::split(token).unwrap().is_signed_by(&keys);
        // Numbers of a signature that start with zeroes are one in 128.
        let own = key("a", 1);
        assert!((0..1_000).all(|number| is_its(&own.token(&json!({ "jti": number }))) == Ok(true)));
        for other in [key("a", 2), key("b", 1)] {
            assert_eq!(is_its(&other.token(&json!({}))), Ok(false));
        }
    }
}
