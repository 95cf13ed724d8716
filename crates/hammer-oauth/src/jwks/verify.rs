//! What a verifier of tokens does.

use super::set::JwkSet;
use crate::jwt::{TokenClaims, TokenError, parse};

/// What a token must say to be meant for somebody.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedClaims<'a> {
    /// The `iss`.
    pub issuer: &'a str,
    /// One of the `aud`.
    pub audience: &'a str,
}

/// Why a token is not to be trusted. Completes "failed to ...".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// It is no token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// No key of the set has signed it with its algorithm.
    #[error("verify a token: none of the issuer's keys has signed it with {algorithm}")]
    Signature {
        /// The `alg` of its header.
        algorithm: String,
    },
    /// It is of another issuer.
    #[error("verify a token: it is not of the issuer {expected}")]
    Issuer {
        /// The one that was expected.
        expected: String,
    },
    /// It is for another audience.
    #[error("verify a token: it is not for the audience {expected}")]
    Audience {
        /// The one that was expected.
        expected: String,
    },
    /// It says no end, or its end is over.
    #[error("verify a token: it is no longer good, or says no end")]
    Expired,
    /// It begins later.
    #[error("verify a token: it is not good yet")]
    NotYet,
}

/// Verifies a token by the keys of its issuer, and says what it says; `now` is in seconds since the Unix epoch.
///
/// # Errors
/// Whatever keeps the token from being trusted, the signature before the claims.
pub fn verify(
    token: &str,
    keys: &JwkSet,
    expected: ExpectedClaims<'_>,
    now: i64,
) -> Result<TokenClaims, VerifyError> {
    let read = parse(token)?;
    let key_id = read.header.key_id.as_deref();
    if !keys.verifies(&read.header.algorithm, key_id, read.signed.0.as_bytes(), &read.signature) {
        return Err(VerifyError::Signature { algorithm: read.header.algorithm });
    }
    let claims = read.claims;
    if claims.issuer.as_deref() != Some(expected.issuer) {
        return Err(VerifyError::Issuer { expected: expected.issuer.to_owned() });
    }
    if !claims.audience.iter().any(|audience| audience == expected.audience) {
        return Err(VerifyError::Audience { expected: expected.audience.to_owned() });
    }
    if claims.times.expires_at.is_none() || claims.times.is_expired_at(now) {
        return Err(VerifyError::Expired);
    }
    if claims.times.not_before.is_some_and(|begin| now < begin) {
        return Err(VerifyError::NotYet);
    }
    Ok(claims)
}
