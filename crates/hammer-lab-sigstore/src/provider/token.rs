//! The tokens of the embedded provider: compact JWS (RFC 7515) with ES256, and the key that verifies them (RFC 7517).

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use hammer_lab::LabError;
use hammer_tlog::hash::sha256;
use serde_json::json;

use hammer_lab_authority::LabSigner;

/// The key of a provider.
#[derive(Debug)]
pub(super) struct ProviderKey {
    signer: LabSigner,
    id: String,
}

/// What a token says.
#[derive(Debug)]
pub(super) struct GrantedClaims<'a> {
    pub(super) issuer: &'a str,
    pub(super) audience: &'a str,
    pub(super) email: &'a str,
    /// Seconds since 1970, as all times are.
    pub(super) issued_at: u64,
    pub(super) expires_at: u64,
}

impl ProviderKey {
    /// # Errors
    /// The signature library refuses the key, which no seed is known to bring about.
    pub(super) fn of_seed(seed: u64) -> Result<Self, LabError> {
        let signer = LabSigner::p256("provider", seed)?;
        let id = encode(&sha256(signer.spki()).0);
        Ok(Self { signer, id })
    }

    /// The set of the one key.
    pub(super) fn set(&self) -> String {
        let (x, y) = self.signer.public_key()[1..].split_at(32);
        let key = json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id, "x": encode(x), "y": encode(y),
        });
        json!({ "keys": [key] }).to_string()
    }

    pub(super) fn token(&self, claims: &GrantedClaims<'_>) -> String {
        let header = json!({ "alg": "ES256", "typ": "JWT", "kid": self.id });
        let claims = json!({
            "iss": claims.issuer,
            "aud": claims.audience,
            "sub": claims.email,
            "email": claims.email,
            "email_verified": true,
            "iat": claims.issued_at,
            "exp": claims.expires_at,
        });
        let signed =
            format!("{}.{}", encode(header.to_string().as_bytes()), encode(claims.to_string().as_bytes()));
        let signature = fixed(&self.signer.sign(signed.as_bytes())).unwrap_or_default();
        format!("{signed}.{}", encode(&signature))
    }
}

/// The two numbers of a signature, 32 bytes each (RFC 7518 section 3.4), of its DER (RFC 3279 section 2.2.3).
fn fixed(der: &[u8]) -> Option<Vec<u8>> {
    let mut numbers = Vec::with_capacity(64);
    // A signature of P-256 is shorter than 128 bytes, so that each length is one byte.
    let mut rest = der.get(2..)?;
    for _ in 0..2 {
        let [0x02, length, behind @ ..] = rest else { return None };
        let (number, behind) = behind.split_at_checked(usize::from(*length))?;
        let number = number.strip_prefix(&[0]).unwrap_or(number);
        numbers.resize(numbers.len() + 32usize.checked_sub(number.len())?, 0);
        numbers.extend_from_slice(number);
        rest = behind;
    }
    Some(numbers)
}

fn encode(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::{TokenVerifier, TrustedIssuer};

    #[test]
    fn fulcio_believes_its_tokens_until_they_are_over() {
        let key = ProviderKey::of_seed(1).unwrap();
        let issuer = TrustedIssuer { issuer: "http://127.0.0.1:1".to_owned(), jwks: key.set().into_bytes() };
        let verifier = TokenVerifier::new("sigstore".to_owned(), &[issuer]).unwrap();
        // Numbers of a signature that start with zeroes are one in 128.
        for second in 0..1_000 {
            let claims = GrantedClaims {
                issuer: "http://127.0.0.1:1",
                audience: "sigstore",
                email: "a@b.c",
                issued_at: second,
                expires_at: second + 10,
            };
            let token = key.token(&claims);
            assert_eq!(verifier.verify(&token, second + 10).unwrap().challenge, "a@b.c");
            assert!(verifier.verify(&token, second + 11).is_err());
        }
    }
}
