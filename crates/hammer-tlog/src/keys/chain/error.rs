//! Why a certificate leads to no root.

use crate::encoding::Base64Error;
use crate::keys::der::DerError;
use crate::keys::key::{KeyError, SignatureError};

/// Why a certificate leads to no trusted root, or why trusted certificates cannot be read. Subjects and issuers are common
/// names, or what stands in their place: of a certificate without a subject its alternative name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// The DER of a certificate is broken.
    #[error("read a certificate: {0}")]
    Der(#[from] DerError),
    /// No whole `CERTIFICATE` block in the PEM.
    #[error("read certificates: no whole CERTIFICATE block in the PEM")]
    Pem,
    /// The base64 of a PEM is broken.
    #[error("read certificates: {0}")]
    Base64(#[from] Base64Error),
    /// None of the trusted certificates is a root.
    #[error("read trusted certificates: none of them is a self-issued one of a CA")]
    NoRoot,
    /// A key of an authority cannot be read.
    #[error("read the certificate of {subject:?}: failed to {source}")]
    Key {
        /// Whose key.
        subject: String,
        /// What is wrong with it.
        source: KeyError,
    },
    /// `notBefore` or `notAfter` is no time.
    #[error("read the certificate of {subject:?}: its validity is no time")]
    Validity {
        /// Whose certificate.
        subject: String,
    },
    /// The time lies before `notBefore`.
    #[error("verify the certificate of {subject:?}: at {at} it was not yet valid, only from {not_before} on")]
    NotYetValid {
        /// Whose certificate.
        subject: String,
        /// `notBefore`, in seconds since 1970.
        not_before: i64,
        /// The time of verification, in seconds since 1970.
        at: i64,
    },
    /// The time lies after `notAfter`.
    #[error("verify the certificate of {subject:?}: at {at} it had expired, at {not_after}")]
    Expired {
        /// Whose certificate.
        subject: String,
        /// `notAfter`, in seconds since 1970.
        not_after: i64,
        /// The time of verification, in seconds since 1970.
        at: i64,
    },
    /// No certificate of the issuer is trusted, or sent along.
    #[error("verify a chain: its issuer {issuer:?} is not trusted")]
    Untrusted {
        /// The issuer.
        issuer: String,
    },
    /// It is self-issued, and not one of those that are trusted.
    #[error("verify a chain: {subject:?} is self-issued, and not trusted")]
    SelfIssued {
        /// Whose certificate.
        subject: String,
    },
    /// The signature is not that of the certificate that has the issuer's name.
    #[error("verify the certificate of {subject:?} with its issuer's key: {source}")]
    BadSignature {
        /// Whose certificate.
        subject: String,
        /// What is wrong with the signature.
        source: SignatureError,
    },
    /// A certificate names one signature algorithm within what is signed, and another one outside.
    #[error("verify the certificate of {subject:?}: it names two signature algorithms")]
    TwoAlgorithms {
        /// Whose certificate.
        subject: String,
    },
    /// An issuer's certificate is not one of a CA.
    #[error("verify a chain: {subject:?} is no CA")]
    NotACa {
        /// The issuer.
        subject: String,
    },
    /// More CAs follow a certificate than its `pathLenConstraint` allows.
    #[error("verify a chain: {below} CAs stand below {subject:?}, which allows {path_length}")]
    PathLength {
        /// Whose certificate.
        subject: String,
        /// What it allows.
        path_length: u8,
        /// How many there are.
        below: u32,
    },
    /// A CA's key usage is without keyCertSign.
    #[error("verify a chain: the key of {subject:?} is not for signing certificates")]
    Usage {
        /// Whose certificate.
        subject: String,
    },
    /// It is a precertificate, which nobody is to take for a certificate (RFC 6962 section 3.1).
    #[error("verify the certificate of {subject:?}: it is a precertificate")]
    Poisoned {
        /// Whose certificate.
        subject: String,
    },
    /// All else holds, and a critical extension is not read here, such as name constraints: whoever reads it may refuse the certificate.
    #[error("verify the certificate of {subject:?}: its critical extension {oid} is not read here")]
    CriticalExtension {
        /// Whose certificate.
        subject: String,
        /// The DER content of the identifier, in hex.
        oid: String,
    },
    /// All else holds, and the extended key usage of an issuer names neither the purpose nor any: some verifiers take that for a
    /// restriction of what it issues, and others do not (RFC 5280 section 4.2.1.12 is silent on it).
    #[error("verify a chain: the extended key usage of {subject:?} is for other purposes")]
    IssuerPurpose {
        /// The issuer.
        subject: String,
    },
    /// The certificates allow for so many paths that the search was given up.
    #[error("verify a chain: no path to a root was found within {steps} steps")]
    TooManyPaths {
        /// Steps made.
        steps: u32,
    },
}

impl ChainError {
    /// Whether nothing is said against the chain, but that a key or signature in it is of an algorithm which is not verified here, or a
    /// certificate has what is not judged here.
    pub const fn is_unverified(&self) -> bool {
        match self {
            Self::Key { source, .. } => source.is_unknown(),
            Self::BadSignature { source, .. } => source.is_unknown(),
            Self::CriticalExtension { .. } | Self::IssuerPurpose { .. } => true,
            _ => false,
        }
    }
}
