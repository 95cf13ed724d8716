//! Identity tokens as Fulcio validates them: compact JWS (RFC 7515) of issuers whose keys (RFC 7517) it was told, with the
//! claims of OpenID Connect Core sections 2 and 5.1.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::{Deserialize, de::DeserializeOwned};

/// An OpenID provider whose tokens are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedIssuer {
    /// Its URL, which tokens have as `iss`.
    pub issuer: String,
    /// Its JWK set (RFC 7517 section 5), in JSON. Keys of other kinds than RSA and P-256 are passed over.
    pub jwks: Vec<u8>,
}

/// Whom a token names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// `iss`.
    pub(crate) issuer: String,
    /// `sub`.
    pub(crate) subject: String,
    /// `email`, which its owner must sign to show that it holds the key.
    pub(crate) email: String,
}

/// Why a token is refused; the texts complete "failed to ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenFault {
    /// Not three parts of base64url, or not the JSON that they should be.
    #[error("read the token")]
    Malformed,
    /// Nobody who is trusted has this name.
    #[error("know the token's issuer")]
    Issuer,
    /// It is for somebody else.
    #[error("find the audience in the token")]
    Audience,
    /// `exp` is over, or there is none.
    #[error("accept the token at this time: it has expired")]
    Expired,
    /// `nbf` lies more than five minutes ahead.
    #[error("accept the token at this time: it is not valid yet")]
    NotYetValid,
    /// No key of the issuer made the signature, or its algorithm is not taken.
    #[error("verify the token's signature")]
    Signature,
    /// No e-mail address, or one that is none.
    #[error("find an e-mail address in the token")]
    Email,
    /// The issuer does not vouch for the address.
    #[error("trust the token's e-mail address: it is not verified")]
    Unverified,
}

/// What checks tokens of its issuers for one audience.
#[derive(Debug)]
pub(crate) struct TokenVerifier {
    audience: String,
    issuers: Vec<IssuerKeys>,
}

#[derive(Debug)]
struct IssuerKeys {
    issuer: String,
    keys: Vec<IssuerKey>,
}

#[derive(Debug)]
struct IssuerKey {
    id: Option<String>,
    material: KeyMaterial,
}

#[derive(Debug)]
enum KeyMaterial {
    /// Modulus and exponent, big-endian.
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    /// The uncompressed point.
    P256(Vec<u8>),
}

impl TokenVerifier {
    /// A verifier that takes tokens of these issuers for `audience`.
    ///
    /// # Errors
    /// A set of keys that is no JSON of this form.
    pub(crate) fn new(audience: String, issuers: &[TrustedIssuer]) -> Result<Self, serde_json::Error> {
        let keys = |issuer: &TrustedIssuer| {
            let set: JwkSet = serde_json::from_slice(&issuer.jwks)?;
            let keys = set.keys.into_iter().filter_map(Jwk::into_key).collect();
            Ok(IssuerKeys { issuer: issuer.issuer.clone(), keys })
        };
        Ok(Self { audience, issuers: issuers.iter().map(keys).collect::<Result<_, _>>()? })
    }

    /// The audience that tokens must name.
    pub(crate) fn audience(&self) -> &str {
        &self.audience
    }

    /// The URLs of the issuers.
    pub(crate) fn issuers(&self) -> impl Iterator<Item = &str> {
        self.issuers.iter().map(|issuer| issuer.issuer.as_str())
    }

    /// Whom the token names, at `now` in seconds since 1970. Claims come before the signature, as in the real one.
    pub(crate) fn verify(&self, token: &str, now: u64) -> Result<Identity, TokenFault> {
        let (signed, signature) = token.rsplit_once('.').ok_or(TokenFault::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(TokenFault::Malformed)?;
        let claims: Claims = json(claims)?;
        let issuer = self.issuers.iter().find(|issuer| issuer.issuer == claims.iss);
        let issuer = issuer.ok_or(TokenFault::Issuer)?;
        claims.check(&self.audience, now as f64)?;
        let header: Header = json(header)?;
        let signature = decoded(signature)?;
        if !issuer.verifies(&header, signed.as_bytes(), &signature) {
            return Err(TokenFault::Signature);
        }
        claims.identity()
    }
}

impl IssuerKeys {
    /// Whether one of the keys that the header may mean made the signature.
    fn verifies(&self, header: &Header, signed: &[u8], signature: &[u8]) -> bool {
        let meant = |key: &&IssuerKey| header.kid.is_none() || header.kid == key.id;
        self.keys.iter().filter(meant).any(|key| match (&key.material, header.alg.as_str()) {
            (KeyMaterial::Rsa(key), "RS256") => {
                key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature).is_ok()
            }
            (KeyMaterial::P256(point), "ES256") => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, signature).is_ok()
            }
            _ => false,
        })
    }
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Jwk>,
}

/// A key of a set (RFC 7518 section 6).
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(default)]
    crv: String,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
    #[serde(default)]
    x: String,
    #[serde(default)]
    y: String,
}

impl Jwk {
    fn into_key(self) -> Option<IssuerKey> {
        let material = match (self.kty.as_str(), self.crv.as_str()) {
            ("RSA", _) => {
                let (n, e) = (decoded(&self.n).ok()?, decoded(&self.e).ok()?);
                KeyMaterial::Rsa(RsaPublicKeyComponents { n, e })
            }
            ("EC", "P-256") => {
                let (x, y) = (decoded(&self.x).ok()?, decoded(&self.y).ok()?);
                let whole = x.len() == 32 && y.len() == 32;
                KeyMaterial::P256(whole.then(|| [&[4], x.as_slice(), &y].concat())?)
            }
            _ => return None,
        };
        Some(IssuerKey { id: self.kid, material })
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
}

#[derive(Deserialize)]
struct Claims {
    #[serde(default)]
    iss: String,
    #[serde(default)]
    sub: String,
    #[serde(default)]
    aud: Audience,
    exp: Option<f64>,
    nbf: Option<f64>,
    #[serde(default)]
    email: String,
    #[serde(default)]
    email_verified: EmailVerified,
}

/// One name or several (RFC 7519 section 4.1.3).
#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Default for Audience {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

/// Some providers write the boolean as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum EmailVerified {
    Boolean(bool),
    Text(String),
}

impl Default for EmailVerified {
    fn default() -> Self {
        Self::Boolean(false)
    }
}

impl Claims {
    fn check(&self, audience: &str, now: f64) -> Result<(), TokenFault> {
        let meant = match &self.aud {
            Audience::One(name) => name == audience,
            Audience::Several(names) => names.iter().any(|name| name == audience),
        };
        if !meant {
            return Err(TokenFault::Audience);
        }
        if self.exp.is_none_or(|expiry| expiry < now) {
            return Err(TokenFault::Expired);
        }
        if self.nbf.is_some_and(|start| start > now + NOT_BEFORE_LEEWAY) {
            return Err(TokenFault::NotYetValid);
        }
        Ok(())
    }

    fn identity(self) -> Result<Identity, TokenFault> {
        let parts = self.email.split_once('@');
        let is_address =
            |(local, domain): (&str, &str)| !local.is_empty() && !domain.is_empty() && !domain.contains('@');
        if !parts.is_some_and(is_address) || !self.email.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenFault::Email);
        }
        match self.email_verified {
            EmailVerified::Boolean(true) => {}
            EmailVerified::Text(text) if text == "true" => {}
            _ => return Err(TokenFault::Unverified),
        }
        Ok(Identity { issuer: self.iss, subject: self.sub, email: self.email })
    }
}

fn json<T: DeserializeOwned>(part: &str) -> Result<T, TokenFault> {
    serde_json::from_slice(&decoded(part)?).map_err(|_| TokenFault::Malformed)
}

fn decoded(text: &str) -> Result<Vec<u8>, TokenFault> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| TokenFault::Malformed)
}

/// Seconds by which a token may come before its `nbf`.
const NOT_BEFORE_LEEWAY: f64 = 300.0;

#[cfg(test)]
mod tests;
