//! JSON Web Signatures (RFC 7515) in their compact form, as a service verifies the tokens that it is shown: by RS256 or ES256
//! (RFC 7518 section 3), with the keys of a [`JwkSet`].

mod jwk_set;
mod registered_claims;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, de::DeserializeOwned};

pub use jwk_set::JwkSet;
pub use registered_claims::{ClaimFault, RegisteredClaims};

/// A token as it came, of which each part is decoded when it is asked for (RFC 7515 section 7.1).
#[derive(Debug, Clone, Copy)]
pub struct CompactJws<'a> {
    header: &'a str,
    claims: &'a str,
    signature: &'a str,
    /// Header and claims, with the dot between them.
    signed: &'a str,
}

/// What is read of a token's header (RFC 7515 section 4.1).
#[derive(Debug, Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
}

/// A token that is not three parts of base64url, or whose parts are not the JSON that they should be. The text completes "failed
/// to ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read the token")]
pub struct MalformedJws;

impl<'a> CompactJws<'a> {
    /// The three parts of a token.
    ///
    /// # Errors
    /// Fewer than three.
    pub fn split(token: &'a str) -> Result<Self, MalformedJws> {
        let (signed, signature) = token.rsplit_once('.').ok_or(MalformedJws)?;
        let (header, claims) = signed.split_once('.').ok_or(MalformedJws)?;
        Ok(Self { header, claims, signature, signed })
    }

    /// What it claims, whoever signed it.
    ///
    /// # Errors
    /// Claims of another form.
    pub fn claims<T: DeserializeOwned>(&self) -> Result<T, MalformedJws> {
        json(self.claims)
    }

    /// Whether one of the keys that its header may mean signed it. An algorithm that is not taken (`none`) is no signature.
    ///
    /// # Errors
    /// A header or a signature that cannot be read.
    pub fn is_signed_by(&self, keys: &JwkSet) -> Result<bool, MalformedJws> {
        let header: Header = json(self.header)?;
        let signature = decoded(self.signature)?;
        Ok(keys.verifies(&header.alg, header.kid.as_deref(), self.signed.as_bytes(), &signature))
    }
}

fn json<T: DeserializeOwned>(part: &str) -> Result<T, MalformedJws> {
    serde_json::from_slice(&decoded(part)?).map_err(|_| MalformedJws)
}

fn decoded(part: &str) -> Result<Vec<u8>, MalformedJws> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| MalformedJws)
}

#[cfg(test)]
mod tests;
