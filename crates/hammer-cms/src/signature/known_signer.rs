use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::der::DerError;
use hammer_tlog::keys::key::{KeyError, LogKey};

/// Why bytes are no signer's certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignerError {
    /// The DER is broken.
    #[error("read the signer's certificate: {0}")]
    Der(#[from] DerError),
    /// Its key cannot be read, or is of a kind that is not verified here.
    #[error("read the signer's certificate: failed to {0}")]
    Key(#[from] KeyError),
}

/// A signer by its certificate, whose key is read once.
#[derive(Debug)]
pub struct KnownSigner {
    certificate: Vec<u8>,
    key: LogKey,
}

impl KnownSigner {
    /// The signer of a certificate in DER.
    ///
    /// # Errors
    /// What is no certificate, or one of a key that is not verified here.
    pub fn new(certificate: Vec<u8>) -> Result<Self, SignerError> {
        let parsed = Certificate::parse(&certificate)?;
        let key = LogKey::from_der(parsed.spki)?;
        Ok(Self { certificate, key })
    }

    /// The DER of the certificate.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// The key.
    pub(super) fn key(&self) -> &LogKey {
        &self.key
    }
}
