use hammer_tlog::keys::chain::ChainError;
use hammer_tlog::keys::der::DerError;
use hammer_tlog::keys::key::KeyError;

use super::status::{PkiFailures, PkiStatus, StatusInfo};
use crate::signed_data::SignedDataError;

/// What is wrong with a timestamp.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimestampFault {
    /// The DER of the response or of its `TSTInfo` is broken.
    #[error("read the timestamp: {0}")]
    Der(#[from] DerError),
    /// The token is no signed data.
    #[error("read the timestamp: failed to {0}")]
    SignedData(SignedDataError),
    /// The status is granted, and no token is there.
    #[error("read the timestamp: the status is {status}, but there is no token")]
    NoToken {
        /// The status.
        status: PkiStatus,
    },
    /// The signed content is no `TSTInfo`.
    #[error("read the timestamp: what is signed is no TSTInfo")]
    ContentType,
    /// The authority gave no token.
    #[error("get a timestamp: the status is {}", StatusInfo { status: *status, text: text.as_deref(), failures: *failures })]
    NotGranted {
        /// The status.
        status: PkiStatus,
        /// Why, in bits.
        failures: Option<PkiFailures>,
        /// Why, in words.
        text: Option<String>,
    },
    /// Another hash is stamped.
    #[error("verify the timestamp: it is over another hash")]
    Imprint,
    /// The hash that is stamped is by an algorithm that is not verified here.
    #[error("verify the timestamp: it is over a hash that is none of SHA-2")]
    ImprintDigest,
    /// The nonce is not that of the query.
    #[error("verify the timestamp: its nonce is not that of the query")]
    Nonce,
    /// The time lies before the query was sent, or after the response came, by more than the clocks may differ.
    #[error(
        "verify the timestamp: its genTime is {unix_ms}, outside of {} (milliseconds since 1970, the skew allowed included)",
        span(window)
    )]
    Time {
        /// `genTime`, in milliseconds since 1970.
        unix_ms: i64,
        /// The earliest and the latest time allowed, in milliseconds since 1970, what the clocks may differ included.
        window: [Option<i64>; 2],
    },
    /// There has to be exactly one signer (RFC 3161 section 2.4.2).
    #[error("verify the timestamp: there are {signers} signers")]
    Signers {
        /// How many there are.
        signers: usize,
    },
    /// The signer's certificate is neither sent along nor known.
    #[error("verify the timestamp: the certificate of its signer is neither in it nor known")]
    NoCertificate,
    /// The query asks for the signer's certificate, and it is not sent along (RFC 3161 section 2.4.1, certReq).
    #[error("verify the timestamp: the certificate of its signer was asked for (certReq), and is not in it")]
    CertificateNotSent,
    /// No signingCertificate attribute, in either version (RFC 3161 section 2.4.2).
    #[error("verify the timestamp: there is no attribute signingCertificate")]
    NoSigningCertificate,
    /// The signingCertificate attribute names another certificate (RFC 5816 section 2.2.1).
    #[error("verify the timestamp: the attribute signingCertificate names another certificate")]
    SigningCertificate,
    /// The extended key usage of the signer is not timeStamping alone, and critical (RFC 3161 section 2.3).
    #[error("verify the timestamp: the signer's extended key usage is not timeStamping alone, and critical")]
    Usage,
    /// The key usage of the signer is for no such signatures (RFC 5280 section 4.2.1.3).
    #[error("verify the timestamp: the signer's key usage is neither digitalSignature nor nonRepudiation")]
    KeyUsage,
    /// The signer's key cannot be read.
    #[error("verify the timestamp: failed to {0}")]
    Key(#[from] KeyError),
    /// The signer's certificate leads to no trusted root.
    #[error("verify the timestamp: failed to {0}")]
    Untrusted(#[from] ChainError),
    /// The attributes or the signature do not hold.
    #[error("verify the timestamp: failed to {0}")]
    Signature(SignedDataError),
}

impl From<SignedDataError> for TimestampFault {
    fn from(error: SignedDataError) -> Self {
        match error {
            SignedDataError::Der(_) | SignedDataError::NotSignedData | SignedDataError::Version { .. } => {
                Self::SignedData(error)
            }
            _ => Self::Signature(error),
        }
    }
}

impl TimestampFault {
    /// Whether nothing is said against it, but that it is by an algorithm which is not verified here, or leads to its root by what is not
    /// judged here.
    pub const fn is_unverified(&self) -> bool {
        match self {
            Self::ImprintDigest => true,
            Self::Key(source) => source.is_unknown(),
            Self::Untrusted(source) => source.is_unverified(),
            Self::Signature(source) => source.is_unverified(),
            _ => false,
        }
    }

    /// What a report calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Der(_) | Self::SignedData(_) | Self::NoToken { .. } | Self::ContentType => {
                "malformed-timestamp"
            }
            Self::NotGranted { .. } => "timestamp-not-granted",
            Self::Imprint | Self::ImprintDigest => "timestamp-imprint",
            Self::Nonce => "timestamp-nonce",
            Self::Time { .. } => "timestamp-time",
            Self::Signers { .. } | Self::NoCertificate | Self::CertificateNotSent => "timestamp-signer",
            Self::NoSigningCertificate | Self::SigningCertificate => "timestamp-signing-certificate",
            Self::Usage | Self::KeyUsage | Self::Key(_) => "timestamp-certificate",
            Self::Untrusted(_) => "timestamp-untrusted",
            Self::Signature(_) => "bad-timestamp-signature",
        }
    }
}

/// The instants from and up to which something holds.
fn span([from, to]: &[Option<i64>; 2]) -> String {
    let shown = |end: &Option<i64>| end.map_or_else(|| "...".to_owned(), |unix_ms| unix_ms.to_string());
    format!("{} to {}", shown(from), shown(to))
}
