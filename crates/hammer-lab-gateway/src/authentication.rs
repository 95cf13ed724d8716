//! The validation of bearer tokens (RFC 6750).

use std::path::Path;

use bytes::Bytes;
use hammer_lab::{
    LabError,
    jws::{ClaimFault, CompactJws, JwkSet, MalformedJws, RegisteredClaims},
};
use hammer_lab_authority::{TokenKey, pem};
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{AUTHORIZATION, WWW_AUTHENTICATE},
};

use crate::answer::GatewayAnswer;
use crate::plan::TokenPlan;

/// What takes tokens of one issuer for one audience.
#[derive(Debug)]
pub(crate) struct TokenValidator {
    issuer: String,
    audience: String,
    keys: JwkSet,
}

/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenFault {
    /// The request has none.
    Missing,
    /// It is none.
    Malformed,
    /// No trusted key signed it.
    Signature,
    /// It is of another issuer.
    Issuer,
    /// It names no subject.
    Subject,
    /// It is not for the gateway at this time.
    Claim(ClaimFault),
}

impl From<MalformedJws> for TokenFault {
    fn from(_: MalformedJws) -> Self {
        Self::Malformed
    }
}

impl TokenFault {
    const fn description(self) -> &'static str {
        match self {
            Self::Missing => "the request has no bearer token",
            Self::Malformed => "the token is malformed",
            Self::Signature => "the signature of the token is by no trusted key",
            Self::Issuer => "the token is of another issuer",
            Self::Subject => "the token names no subject",
            Self::Claim(ClaimFault::Audience) => "the token is for another audience",
            Self::Claim(ClaimFault::Expired) => "the token has expired",
            Self::Claim(ClaimFault::NotYetValid) => "the token is not valid yet",
        }
    }

    /// 401 with its challenge (RFC 6750 section 3). A request without a token is told of no error, as section 3.1 asks.
    pub(crate) fn answer(self) -> GatewayAnswer {
        let description = self.description();
        let (error, challenge) = match self {
            Self::Missing => ("unauthorized", HeaderValue::from_static("Bearer")),
            _ => {
                let challenge =
                    format!("Bearer error=\"invalid_token\", error_description=\"{description}\"");
                // The descriptions above are all of visible ASCII.
                let challenge = HeaderValue::from_maybe_shared(Bytes::from(challenge));
                ("invalid_token", challenge.unwrap_or(HeaderValue::from_static("Bearer")))
            }
        };
        let mut answer = GatewayAnswer::error(StatusCode::UNAUTHORIZED, error, description);
        answer.headers.insert(WWW_AUTHENTICATE, challenge);
        answer
    }
}

impl TokenValidator {
    /// A validator that trusts the token endpoint's key and those of the plan's files.
    ///
    /// # Errors
    /// A file that cannot be read, or has no key of RSA or P-256.
    pub(crate) fn new(plan: &TokenPlan, own: &TokenKey) -> Result<Self, LabError> {
        let unreadable =
            |error: serde_json::Error| LabError::Plan { key: "key_seed".into(), reason: error.to_string() };
        let mut keys = JwkSet::read(own.jwk_set().as_bytes()).map_err(unreadable)?;
        if !plan.jwks.is_empty() {
            let unreadable =
                |error: serde_json::Error| LabError::Plan { key: "jwks".into(), reason: error.to_string() };
            keys.add(JwkSet::read(plan.jwks.as_bytes()).map_err(unreadable)?);
        }
        for path in &plan.jwks_files {
            let set = JwkSet::read(&read(path)?).map_err(|error| content(path, error.to_string()))?;
            if set.is_empty() {
                return Err(content(path, "it has no key of RSA or P-256".to_owned()));
            }
            keys.add(set);
        }
        for path in &plan.public_key_files {
            let key = pem::decode(&read(path)?, &[pem::PUBLIC_KEY]).and_then(|spki| JwkSet::of_spki(&spki));
            let none = || content(path, "it is no PEM with a PUBLIC KEY of RSA or P-256".to_owned());
            keys.add(key.ok_or_else(none)?);
        }
        Ok(Self { issuer: plan.issuer.clone(), audience: plan.audience.clone(), keys })
    }

    /// Whom the token of a request names, at this many milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// The first thing that is wrong with it: its form, its signature, its claims.
    pub(crate) fn subject(&self, headers: &HeaderMap, unix_ms: u64) -> Result<String, TokenFault> {
        let token = CompactJws::split(bearer(headers).ok_or(TokenFault::Missing)?)?;
        let claims: RegisteredClaims = token.claims()?;
        if !token.is_signed_by(&self.keys)? {
            return Err(TokenFault::Signature);
        }
        if claims.iss != self.issuer {
            return Err(TokenFault::Issuer);
        }
        claims.check(&self.audience, unix_ms as f64 / 1000.0, LEEWAY_S).map_err(TokenFault::Claim)?;
        if claims.sub.is_empty() {
            return Err(TokenFault::Subject);
        }
        Ok(claims.sub)
    }
}

/// The token of a request (RFC 6750 section 2.1).
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn read(path: &Path) -> Result<Vec<u8>, LabError> {
    std::fs::read(path).map_err(|source| LabError::File { action: "read", path: path.to_owned(), source })
}

fn content(path: &Path, reason: String) -> LabError {
    LabError::Content { path: path.to_owned(), reason }
}

/// Seconds by which a token may come before its `nbf`, since clocks differ.
const LEEWAY_S: f64 = 5.0;
