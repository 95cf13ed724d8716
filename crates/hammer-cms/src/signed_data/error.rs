use hammer_tlog::keys::der::DerError;
use hammer_tlog::keys::key::SignatureError;

/// Why signed data cannot be read, or a signature in it does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignedDataError {
    /// The DER is broken.
    #[error("read the signed data: {0}")]
    Der(#[from] DerError),
    /// The `contentType` is not id-signedData.
    #[error("read the signed data: the content is of another type")]
    NotSignedData,
    /// A version that the structure does not have.
    #[error("read the signed data: its version is {version}")]
    Version {
        /// The first byte of the number.
        version: u8,
    },
    /// No `signedAttrs`, which all content but id-data needs (RFC 5652 section 5.3).
    #[error("verify the signed data: there are no signed attributes")]
    NoAttributes,
    /// An attribute that has to be there is not.
    #[error("verify the signed data: there is no attribute {attribute}")]
    MissingAttribute {
        /// Its name.
        attribute: &'static str,
    },
    /// An attribute is there twice, or has not exactly one value.
    #[error("verify the signed data: the attribute {attribute} has not exactly one value")]
    AmbiguousAttribute {
        /// Its name.
        attribute: &'static str,
    },
    /// The attribute contentType is not the type of the content.
    #[error("verify the signed data: the attribute contentType is not the type of the content")]
    ContentType,
    /// The signer's digest or signature algorithm is not verified here.
    #[error("verify the signed data: the signer's {what} algorithm is unknown")]
    Unknown {
        /// Digest or signature.
        what: &'static str,
    },
    /// The signer's signature algorithm does not go with its digest.
    #[error("verify the signed data: the signer's signature algorithm is not for its digest")]
    Algorithms,
    /// The attribute messageDigest is not the digest of the content.
    #[error("verify the signed data: the content has another digest than the attribute messageDigest")]
    MessageDigest,
    /// The signature does not hold.
    #[error("verify the signed data: {0}")]
    Signature(#[from] SignatureError),
}

impl SignedDataError {
    /// Whether nothing is said against it, but that it is by an algorithm which is not verified here.
    pub const fn is_unverified(&self) -> bool {
        match self {
            Self::Unknown { .. } => true,
            Self::Signature(source) => source.is_unknown(),
            _ => false,
        }
    }
}
