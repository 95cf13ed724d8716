use hammer_tlog::keys::der::DerError;

use crate::signed_data::SignedDataError;
use crate::timestamp::TimestampFault;

/// What is wrong with a signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// It is no signed data.
    #[error("read the signature: failed to {0}")]
    SignedData(SignedDataError),
    /// There has to be exactly one signer.
    #[error("verify the signature: there are {signers} signers")]
    Signers {
        /// How many there are.
        signers: usize,
    },
    /// What is signed is of another type than id-data.
    #[error("verify the signature: what is signed is not id-data")]
    ContentType,
    /// The document was to be in it, and is not, or the other way round.
    #[error("verify the signature: the document is {}in it, and was {}to be", if *.is_there { "" } else { "not " }, if *.is_there { "not " } else { "" })]
    Packaging {
        /// Whether it is in it.
        is_there: bool,
    },
    /// The document in it is another one than was sent.
    #[error("verify the signature: the document in it is not the one that was sent")]
    Document,
    /// The signed attributes name another digest than the document's.
    #[error("verify the signature: the document has another digest than the attribute messageDigest")]
    MessageDigest,
    /// The signer's certificate is not the one that was named.
    #[error("verify the signature: it is another signer's")]
    Signer,
    /// The signer's certificate is not in it, as the baseline profiles want it (EN 319 122-1 section 6.3).
    #[error("verify the signature: the signer's certificate is not in it")]
    NoCertificate,
    /// An attribute that its form wants is not there (EN 319 122-1 section 6.3, EN 319 142-1 section 6.3).
    #[error("verify the signature: there is no attribute {attribute}")]
    MissingAttribute {
        /// Its name.
        attribute: &'static str,
    },
    /// An attribute that its form must not have.
    #[error("verify the signature: the attribute {attribute} must not be there")]
    ForbiddenAttribute {
        /// Its name.
        attribute: &'static str,
    },
    /// The attribute signing-certificate names another certificate.
    #[error("verify the signature: the attribute signing-certificate names another certificate")]
    SigningCertificate,
    /// The attribute signingTime lies before the signature was asked for, or after it came.
    #[error("verify the signature: its signingTime is {unix_seconds}, which is not when it was made")]
    SigningTime {
        /// Seconds since 1970.
        unix_seconds: i64,
    },
    /// Anything else of attributes or signature.
    #[error("verify the signature: failed to {0}")]
    Signature(SignedDataError),
    /// A timestamp was asked for, and there is none.
    #[error("verify the signature: there is no timestamp of it")]
    NoTimestamp,
    /// The timestamp does not hold.
    #[error("verify the timestamp of the signature: failed to {0}")]
    Timestamp(TimestampFault),
}

impl SignatureFault {
    /// Whether nothing is said against it, but that it is by an algorithm which is not verified here.
    pub const fn is_unverified(&self) -> bool {
        match self {
            Self::Signature(source) => source.is_unverified(),
            Self::Timestamp(source) => source.is_unverified(),
            _ => false,
        }
    }

    /// What a report calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SignedData(_) => "malformed-signature",
            Self::Signers { .. } | Self::Signer => "another-signer",
            Self::ContentType | Self::Packaging { .. } | Self::Document => "another-document",
            Self::MessageDigest => "message-digest",
            Self::NoCertificate | Self::MissingAttribute { .. } | Self::ForbiddenAttribute { .. } => {
                "signature-attributes"
            }
            Self::SigningCertificate => "signing-certificate",
            Self::SigningTime { .. } => "signing-time",
            Self::Signature(SignedDataError::AmbiguousAttribute { .. }) => "signature-attributes",
            Self::Signature(_) => "bad-signature",
            Self::NoTimestamp => "missing-timestamp",
            Self::Timestamp(fault) => fault.kind(),
        }
    }
}

impl From<SignedDataError> for SignatureFault {
    fn from(error: SignedDataError) -> Self {
        match error {
            SignedDataError::Der(_) | SignedDataError::NotSignedData | SignedDataError::Version { .. } => {
                Self::SignedData(error)
            }
            SignedDataError::NoAttributes => Self::MissingAttribute { attribute: "messageDigest" },
            SignedDataError::MissingAttribute { attribute } => Self::MissingAttribute { attribute },
            SignedDataError::ContentType => Self::ContentType,
            SignedDataError::MessageDigest => Self::MessageDigest,
            _ => Self::Signature(error),
        }
    }
}

impl From<DerError> for SignatureFault {
    fn from(error: DerError) -> Self {
        Self::SignedData(error.into())
    }
}
