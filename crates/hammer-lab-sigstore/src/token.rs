//! Identity tokens as Fulcio validates them: compact JWS (RFC 7515) of issuers whose keys (RFC 7517) it was told, with the
//! claims of OpenID Connect Core sections 2 and 5.1.

use std::sync::{PoisonError, RwLock};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hammer_lab::clock::Clock;
use hammer_lab::http_get::{GetError, get, on_loopback};
use hammer_p256::FixedKeyVerifier;
use hammer_tlog::hash::sha256;
use http::Uri;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use hammer_lab_authority::der::{UTF8_STRING, element, oid};

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
    /// What its owner must sign to show that it holds the key.
    pub(crate) challenge: String,
    /// Whom its certificate names.
    pub(crate) name: CertifiedName,
}

/// The `type` of an issuer in Fulcio's configuration: what becomes of its tokens' claims.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IssuerType {
    /// Certificates name the `email`, which is what possession is proved over.
    #[default]
    Email,
    /// They name the URI of the service account that is in `sub`; possession is proved over the `sub`.
    Kubernetes,
    /// They name the user in `sub` with its domain, `hammer.test`; possession is proved over the `sub`.
    Username,
}

/// The one subject alternative name of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CertifiedName {
    /// A mailbox.
    Email(String),
    /// A URI.
    Uri(String),
    /// A user, an exclamation mark, and its domain.
    Username(String),
}

impl IssuerType {
    /// As Fulcio's configuration writes it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Kubernetes => "kubernetes",
            Self::Username => "username",
        }
    }

    /// The claim that possession is proved over.
    pub(crate) const fn challenge_claim(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Kubernetes | Self::Username => "sub",
        }
    }
}

impl CertifiedName {
    /// DER of the `GeneralName` (RFC 5280 section 4.2.1.6).
    pub(crate) fn general_name(&self) -> Vec<u8> {
        match self {
            Self::Email(email) => element(0x81, &[email.as_bytes()]),
            Self::Uri(uri) => element(0x86, &[uri.as_bytes()]),
            Self::Username(name) => {
                let text = element(UTF8_STRING, &[name.as_bytes()]);
                element(0xa0, &[&oid(USERNAME), &element(0xa0, &[&text])])
            }
        }
    }
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
    /// No `sub`, or none of that type of issuer.
    #[error("find a subject of the issuer's type in the token")]
    Subject,
}

/// What checks tokens of its issuers for one audience.
#[derive(Debug)]
pub(crate) struct TokenVerifier {
    audience: String,
    issuers: Vec<IssuerKeys>,
    issuer_type: IssuerType,
}

#[derive(Debug)]
struct IssuerKeys {
    issuer: String,
    keys: RwLock<Vec<IssuerKey>>,
    /// Where the keys are found, of an issuer of whom none were told.
    lookup: Option<IssuerLookup>,
}

/// An issuer that is asked for its keys: when a token first names it, and whenever a token is of none of those that are known.
#[derive(Debug)]
struct IssuerLookup {
    /// Its discovery document.
    discovery: Uri,
    /// Held while it is asked, so that it is asked once for all who wait.
    asking: tokio::sync::Mutex<()>,
}

/// Why an issuer has no keys; the texts complete "failed to ...".
#[derive(Debug, thiserror::Error)]
enum LookupError {
    #[error(transparent)]
    Get(#[from] GetError),
    #[error("use the discovery document of {0}: it is of another issuer, or names no keys on loopback")]
    Discovery(String),
    #[error("use the keys of {0}: they are no JSON of that form")]
    Keys(String),
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
    /// With a table of its multiples, since an issuer signs many tokens.
    P256(Box<FixedKeyVerifier>),
}

impl TokenVerifier {
    /// A verifier that takes tokens of these issuers for `audience`.
    ///
    /// # Errors
    /// A set of keys that is no JSON of this form.
    pub(crate) fn new(audience: String, issuers: &[TrustedIssuer]) -> Result<Self, serde_json::Error> {
        let keys = |issuer: &TrustedIssuer| {
            let keys = RwLock::new(read_keys(&issuer.jwks)?);
            Ok(IssuerKeys { issuer: issuer.issuer.clone(), keys, lookup: None })
        };
        let issuers = issuers.iter().map(keys).collect::<Result<_, serde_json::Error>>()?;
        Ok(Self { audience, issuers, issuer_type: IssuerType::default() })
    }

    /// The same, of issuers of that type.
    pub(crate) fn of_type(self, issuer_type: IssuerType) -> Self {
        Self { issuer_type, ..self }
    }

    /// The type of its issuers.
    pub(crate) fn issuer_type(&self) -> IssuerType {
        self.issuer_type
    }

    /// Takes the tokens of these issuers too, whose keys it looks up.
    ///
    /// # Errors
    /// The place of a URL that is none of `http` on loopback with a port.
    pub(crate) fn looking_up(mut self, issuers: &[String]) -> Result<Self, usize> {
        for (place, issuer) in issuers.iter().enumerate() {
            let discovery = on_loopback(&format!("{}{DISCOVERY}", issuer.trim_end_matches('/')));
            let discovery = discovery.ok_or(place)?;
            let lookup = Some(IssuerLookup { discovery, asking: tokio::sync::Mutex::default() });
            self.issuers.push(IssuerKeys { issuer: issuer.clone(), keys: RwLock::default(), lookup });
        }
        Ok(self)
    }

    /// As [`TokenVerifier::verify`]; a token by a key that is not known has its issuer asked again, where that is looked up, as the
    /// real one does.
    pub(crate) async fn verify_or_ask(
        &self,
        token: &str,
        now: u64,
        clock: &dyn Clock,
    ) -> Result<Identity, TokenFault> {
        let verdict = self.verify(token, now);
        let asked = self.looked_up(token).filter(|_| verdict == Err(TokenFault::Signature));
        let Some((issuer, lookup)) = asked else { return verdict };
        let _asking = lookup.asking.lock().await;
        // Somebody may have asked meanwhile.
        let verdict = self.verify(token, now);
        if verdict != Err(TokenFault::Signature) {
            return verdict;
        }
        match lookup.keys(&issuer.issuer, clock).await {
            Ok(keys) => *issuer.keys.write().unwrap_or_else(PoisonError::into_inner) = keys,
            Err(error) => tracing::warn!("failed to {error}"),
        }
        self.verify(token, now)
    }

    /// The issuer that a token names, where its keys are looked up.
    fn looked_up(&self, token: &str) -> Option<(&IssuerKeys, &IssuerLookup)> {
        let claims: Claims = json(token.split('.').nth(1)?).ok()?;
        let issuer = self.issuers.iter().find(|issuer| issuer.issuer == claims.iss)?;
        Some((issuer, issuer.lookup.as_ref()?))
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
        claims.identity(self.issuer_type)
    }
}

impl IssuerKeys {
    /// Whether one of the keys that the header may mean made the signature.
    fn verifies(&self, header: &Header, signed: &[u8], signature: &[u8]) -> bool {
        let meant = |key: &&IssuerKey| header.kid.is_none() || header.kid == key.id;
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.iter().filter(meant).any(|key| match (&key.material, header.alg.as_str()) {
            (KeyMaterial::Rsa(key), "RS256") => {
                key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature).is_ok()
            }
            (KeyMaterial::P256(key), "ES256") => {
                let signature = <&[u8; 64]>::try_from(signature);
                signature.is_ok_and(|signature| key.verify_fixed(&sha256(signed).0, signature))
            }
            _ => false,
        })
    }
}

impl IssuerLookup {
    async fn keys(&self, issuer: &str, clock: &dyn Clock) -> Result<Vec<IssuerKey>, LookupError> {
        let found = get(&self.discovery, MOST, clock).await?;
        let unusable = || LookupError::Discovery(issuer.to_owned());
        let discovery: Discovery = serde_json::from_slice(&found).map_err(|_| unusable())?;
        let of_it = Some(discovery.jwks_uri.as_str()).filter(|_| discovery.issuer == issuer);
        let jwks = of_it.and_then(on_loopback).ok_or_else(unusable)?;
        let found = get(&jwks, MOST, clock).await?;
        read_keys(&found).map_err(|_| LookupError::Keys(issuer.to_owned()))
    }
}

/// Keys of other kinds than RSA and P-256 are passed over.
fn read_keys(jwks: &[u8]) -> Result<Vec<IssuerKey>, serde_json::Error> {
    let set: JwkSet = serde_json::from_slice(jwks)?;
    Ok(set.keys.into_iter().filter_map(Jwk::into_key).collect())
}

/// What is read of an issuer's configuration (OpenID Connect Discovery section 3).
#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
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
                let point = whole.then(|| [&[4], x.as_slice(), &y].concat())?;
                KeyMaterial::P256(Box::new(FixedKeyVerifier::new(&point)?))
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

    fn identity(self, issuer_type: IssuerType) -> Result<Identity, TokenFault> {
        let name = match issuer_type {
            IssuerType::Email => return self.owner_of_address(),
            IssuerType::Kubernetes => {
                let account = self.sub.strip_prefix("system:serviceaccount:");
                let (namespace, name) =
                    account.and_then(|account| account.split_once(':')).ok_or(TokenFault::Subject)?;
                CertifiedName::Uri(format!(
                    "https://kubernetes.io/namespaces/{namespace}/serviceaccounts/{name}"
                ))
            }
            IssuerType::Username if self.sub.is_empty() || self.sub.contains(['!', '@']) => {
                return Err(TokenFault::Subject);
            }
            IssuerType::Username => CertifiedName::Username(format!("{}!hammer.test", self.sub)),
        };
        Ok(Identity { issuer: self.iss, challenge: self.sub.clone(), subject: self.sub, name })
    }

    fn owner_of_address(self) -> Result<Identity, TokenFault> {
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
        let (challenge, name) = (self.email.clone(), CertifiedName::Email(self.email));
        Ok(Identity { issuer: self.iss, subject: self.sub, challenge, name })
    }
}

fn json<T: DeserializeOwned>(part: &str) -> Result<T, TokenFault> {
    serde_json::from_slice(&decoded(part)?).map_err(|_| TokenFault::Malformed)
}

fn decoded(text: &str) -> Result<Vec<u8>, TokenFault> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| TokenFault::Malformed)
}

/// 1.3.6.1.4.1.57264.1.7, a user with its domain (Fulcio's docs/oid-info.md).
const USERNAME: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x01, 0x07];
/// Below the issuer (OpenID Connect Discovery section 4).
const DISCOVERY: &str = "/.well-known/openid-configuration";
/// Bytes of a document of an issuer.
const MOST: usize = 1 << 20;
/// Seconds by which a token may come before its `nbf`.
const NOT_BEFORE_LEEWAY: f64 = 300.0;

#[cfg(test)]
mod tests;
