//! Identity tokens as Fulcio validates them: compact JWS (RFC 7515) of issuers whose keys (RFC 7517) it was told, with the
//! claims of OpenID Connect Core sections 2 and 5.1.

use std::sync::{PoisonError, RwLock};

use hammer_lab::clock::Clock;
use hammer_lab::http_get::{GetError, get, on_loopback};
use hammer_lab::jws::{ClaimFault, CompactJws, JwkSet, MalformedJws, RegisteredClaims};
use http::Uri;
use serde::{Deserialize, Serialize};

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
    #[error(transparent)]
    Malformed(#[from] MalformedJws),
    /// Nobody who is trusted has this name.
    #[error("know the token's issuer")]
    Issuer,
    /// It is not for Fulcio at this time. `nbf` may lie five minutes ahead.
    #[error(transparent)]
    Claim(#[from] ClaimFault),
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
    keys: RwLock<JwkSet>,
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

impl TokenVerifier {
    /// A verifier that takes tokens of these issuers for `audience`.
    ///
    /// # Errors
    /// A set of keys that is no JSON of this form.
    pub(crate) fn new(audience: String, issuers: &[TrustedIssuer]) -> Result<Self, serde_json::Error> {
        let keys = |issuer: &TrustedIssuer| {
            let keys = RwLock::new(JwkSet::read(&issuer.jwks)?);
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
        let claims: RegisteredClaims = CompactJws::split(token).ok()?.claims().ok()?;
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
        let token = CompactJws::split(token)?;
        let claims: FulcioClaims = token.claims()?;
        let issuer = self.issuers.iter().find(|issuer| issuer.issuer == claims.registered.iss);
        let issuer = issuer.ok_or(TokenFault::Issuer)?;
        claims.registered.check(&self.audience, now as f64, NOT_BEFORE_LEEWAY)?;
        let keys = issuer.keys.read().unwrap_or_else(PoisonError::into_inner);
        if !token.is_signed_by(&keys)? {
            return Err(TokenFault::Signature);
        }
        claims.identity(self.issuer_type)
    }
}

impl IssuerLookup {
    async fn keys(&self, issuer: &str, clock: &dyn Clock) -> Result<JwkSet, LookupError> {
        let found = get(&self.discovery, MOST, clock).await?;
        let unusable = || LookupError::Discovery(issuer.to_owned());
        let discovery: Discovery = serde_json::from_slice(&found).map_err(|_| unusable())?;
        let of_it = Some(discovery.jwks_uri.as_str()).filter(|_| discovery.issuer == issuer);
        let jwks = of_it.and_then(on_loopback).ok_or_else(unusable)?;
        let found = get(&jwks, MOST, clock).await?;
        JwkSet::read(&found).map_err(|_| LookupError::Keys(issuer.to_owned()))
    }
}

/// What is read of an issuer's configuration (OpenID Connect Discovery section 3).
#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

/// What is read of a token's claims.
#[derive(Deserialize)]
struct FulcioClaims {
    #[serde(flatten)]
    registered: RegisteredClaims,
    #[serde(default)]
    email: String,
    #[serde(default)]
    email_verified: EmailVerified,
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

impl FulcioClaims {
    fn identity(self, issuer_type: IssuerType) -> Result<Identity, TokenFault> {
        if issuer_type == IssuerType::Email {
            return self.owner_of_address();
        }
        let RegisteredClaims { iss: issuer, sub: subject, .. } = self.registered;
        let name = match issuer_type {
            IssuerType::Kubernetes => {
                let account = subject.strip_prefix("system:serviceaccount:");
                let (namespace, name) =
                    account.and_then(|account| account.split_once(':')).ok_or(TokenFault::Subject)?;
                CertifiedName::Uri(format!(
                    "https://kubernetes.io/namespaces/{namespace}/serviceaccounts/{name}"
                ))
            }
            _ if subject.is_empty() || subject.contains(['!', '@']) => return Err(TokenFault::Subject),
            _ => CertifiedName::Username(format!("{subject}!hammer.test")),
        };
        Ok(Identity { issuer, challenge: subject.clone(), subject, name })
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
        Ok(Identity { issuer: self.registered.iss, subject: self.registered.sub, challenge, name })
    }
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
