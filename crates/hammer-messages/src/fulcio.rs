//! Fulcio's certificate authority (package dev.sigstore.fulcio.v2, `fulcio.proto`).

use prost::{Enumeration, Message, Oneof};

/// Asks for a [`CreateSigningCertificateRequest`] and answers with a [`SigningCertificate`].
pub const CREATE_SIGNING_CERTIFICATE: &str = "/dev.sigstore.fulcio.v2.CA/CreateSigningCertificate";
/// Asks for a [`GetTrustBundleRequest`] and answers with a [`TrustBundle`].
pub const GET_TRUST_BUNDLE: &str = "/dev.sigstore.fulcio.v2.CA/GetTrustBundle";
/// Asks for a [`GetConfigurationRequest`] and answers with a [`Configuration`].
pub const GET_CONFIGURATION: &str = "/dev.sigstore.fulcio.v2.CA/GetConfiguration";

/// Who asks for a certificate, and for which key.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct CreateSigningCertificateRequest {
    /// Who asks.
    #[prost(message, optional, tag = "1")]
    pub credentials: Option<Credentials>,
    /// The key that is to be certified.
    #[prost(oneof = "RequestedKey", tags = "2, 3")]
    pub key: Option<RequestedKey>,
}

/// The key that is to be certified.
#[derive(Clone, PartialEq, Eq, Hash, Oneof)]
pub enum RequestedKey {
    /// The public key, with a proof that whoever asks holds the private one.
    #[prost(message, tag = "2")]
    PublicKeyRequest(PublicKeyRequest),
    /// A PKCS#10 request in PEM (RFC 2986, RFC 7468 section 7), which is its own proof.
    #[prost(bytes = "vec", tag = "3")]
    CertificateSigningRequest(Vec<u8>),
}

/// Who asks for a certificate. The text is a secret, so that it is not shown where this is printed.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
#[prost(skip_debug)]
pub struct Credentials {
    /// A JSON Web Token of OpenID Connect, in its compact form (a `oneof` of one).
    #[prost(string, optional, tag = "1")]
    pub oidc_identity_token: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Credentials(***)")
    }
}

/// A public key, and a proof of its private one.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct PublicKeyRequest {
    /// The key.
    #[prost(message, optional, tag = "1")]
    pub public_key: Option<PublicKey>,
    /// The signature by the private key over the token's challenge claim: the email address, or else the subject.
    #[prost(bytes = "vec", tag = "2")]
    pub proof_of_possession: Vec<u8>,
}

/// A public key.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct PublicKey {
    /// What the key is for; Fulcio reads it from the content, so that it may be unspecified.
    #[prost(enumeration = "PublicKeyAlgorithm", tag = "1")]
    pub algorithm: i32,
    /// The `SubjectPublicKeyInfo` in PEM.
    #[prost(string, tag = "2")]
    pub content: String,
}

/// What a public key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum PublicKeyAlgorithm {
    /// Its content says it.
    Unspecified = 0,
    /// RSA with PSS (RFC 8017 section 8.1).
    RsaPss = 1,
    /// ECDSA (FIPS 186-4).
    Ecdsa = 2,
    /// Ed25519 (RFC 8032).
    Ed25519 = 3,
}

/// A certificate that was issued.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct SigningCertificate {
    /// Its chain, with the promise of a CT log inside or beside.
    #[prost(oneof = "IssuedCertificate", tags = "1, 2")]
    pub certificate: Option<IssuedCertificate>,
}

/// Where the promise of the CT log is.
#[derive(Clone, PartialEq, Eq, Hash, Oneof)]
pub enum IssuedCertificate {
    /// Beside the certificate, or nowhere if there is no CT log.
    #[prost(message, tag = "1")]
    SignedCertificateDetachedSct(SigningCertificateDetachedSct),
    /// In an extension of the leaf (RFC 6962 section 3.3).
    #[prost(message, tag = "2")]
    SignedCertificateEmbeddedSct(SigningCertificateEmbeddedSct),
}

/// A chain, and the promise of a CT log beside it.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct SigningCertificateDetachedSct {
    /// The chain.
    #[prost(message, optional, tag = "1")]
    pub chain: Option<CertificateChain>,
    /// The log's answer to `add-chain`, in JSON (RFC 6962 section 4.1); empty if there is no CT log.
    #[prost(bytes = "vec", tag = "2")]
    pub signed_certificate_timestamp: Vec<u8>,
}

/// A chain whose leaf holds the promise of a CT log.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct SigningCertificateEmbeddedSct {
    /// The chain.
    #[prost(message, optional, tag = "1")]
    pub chain: Option<CertificateChain>,
}

/// Certificates, each followed by its issuer.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct CertificateChain {
    /// Each in PEM; the leaf first, the root last.
    #[prost(string, repeated, tag = "1")]
    pub certificates: Vec<String>,
}

/// Asks what to trust.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct GetTrustBundleRequest {}

/// The chains that certificates are issued under.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct TrustBundle {
    /// Each from the issuer of leaves up to its root.
    #[prost(message, repeated, tag = "1")]
    pub chains: Vec<CertificateChain>,
}

/// Asks whose tokens are accepted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct GetConfigurationRequest {}

/// Whose tokens are accepted.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Configuration {
    /// The issuers.
    #[prost(message, repeated, tag = "1")]
    pub issuers: Vec<OidcIssuer>,
}

/// An issuer whose tokens are accepted.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct OidcIssuer {
    /// Which issuer.
    #[prost(oneof = "IssuerName", tags = "1, 2")]
    pub issuer: Option<IssuerName>,
    /// The `aud` that a token must have.
    #[prost(string, tag = "3")]
    pub audience: String,
    /// The claim that the proof of possession is a signature over.
    #[prost(string, tag = "4")]
    pub challenge_claim: String,
    /// The trust domain that the subjects of a SPIFFE issuer must be in.
    #[prost(string, tag = "5")]
    pub spiffe_trust_domain: String,
    /// What makes a name out of a token: `email`, `uri`, `username`, `spiffe`, ...
    #[prost(string, tag = "6")]
    pub issuer_type: String,
    /// The domain that the subjects of the types `uri` and `username` must be in.
    #[prost(string, tag = "7")]
    pub subject_domain: String,
    /// Whether `email_verified` may be missing.
    #[prost(bool, tag = "8")]
    pub skip_email_verification: bool,
}

/// Which issuer.
#[derive(Clone, PartialEq, Eq, Hash, Oneof)]
pub enum IssuerName {
    /// The one with this URL.
    #[prost(string, tag = "1")]
    IssuerUrl(String),
    /// Every one whose URL is like this one, where `*` stands for a part between dots or slashes.
    #[prost(string, tag = "2")]
    WildcardIssuerUrl(String),
}
