//! Who signed an artifact: a certificate or a bare key, and whether its signature over the artifact holds. A log is
//! given the artifact's hash alone, so that ECDSA and RSA are verified over a hash that was computed elsewhere.

mod hash_algorithm;
mod key;
mod rsa;
mod subjects;

use hammer_tlog::keys::{certificate::Certificate, der::DerError};

pub use hash_algorithm::HashAlgorithm;
pub use key::{ArtifactKey, KeyKind};

use hammer_lab_authority::pem::{self, PemBlock};

/// Why a signature over an artifact is not believed. The texts are those that Rekor puts behind "error processing
/// entry: ".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactError {
    /// The verifier is not PEM.
    #[error("invalid public key: failure decoding PEM")]
    Pem,
    /// The PEM holds neither certificates nor a public key.
    #[error("invalid public key: cannot handle type")]
    PemType,
    /// The DER of a certificate or key is broken.
    #[error("x509: malformed certificate or public key: {0}")]
    Der(#[from] DerError),
    /// The key is of no kind that signatures are verified with here, or not with this hash.
    #[error("unsupported public key type")]
    UnsupportedKey,
    /// The hash has another length than its algorithm's.
    #[error("invalid value for hash")]
    HashLength,
    /// An ECDSA signature does not hold.
    #[error("verifying signature: invalid signature when validating ASN.1 encoded signature")]
    Ecdsa,
    /// An RSA signature does not hold.
    #[error("verifying signature: crypto/rsa: verification error")]
    Rsa,
    /// An Ed25519 signature does not hold.
    #[error("verifying signature: failed to verify signature")]
    Ed25519,
}

/// A certificate, a chain of them, or a bare public key, by which artifact signatures are verified.
#[derive(Debug, Clone)]
pub struct ArtifactVerifier {
    /// The key of the leaf, or the bare one.
    pub key: ArtifactKey,
    /// The PEM as Go's encoding/pem writes it: lines of 64 characters, each block with a newline at its end.
    pub pem: String,
    /// The alternative names of the leaf (DNS, e-mail, URI), in this order; none of a bare key.
    pub subjects: Vec<String>,
}

impl ArtifactVerifier {
    /// Reads a PEM of one public key, or of certificates whose first is the leaf.
    ///
    /// # Errors
    /// What is neither, and a key of an unknown kind.
    pub fn from_pem(text: &[u8]) -> Result<Self, ArtifactError> {
        let blocks = pem::read(text).ok_or(ArtifactError::Pem)?;
        let first = blocks.first().ok_or(ArtifactError::Pem)?;
        match (first.label.as_str(), blocks.len()) {
            (pem::PUBLIC_KEY, 1) => Self::from_spki(&first.der),
            (pem::CERTIFICATE, _) if blocks.iter().all(|block| block.label == pem::CERTIFICATE) => {
                let leaf = Self::from_certificate(&first.der)?;
                Ok(Self { pem: blocks.iter().map(PemBlock::to_string).collect(), ..leaf })
            }
            _ => Err(ArtifactError::PemType),
        }
    }

    /// Reads the DER of a certificate.
    ///
    /// # Errors
    /// Broken DER, and a key of an unknown kind.
    pub fn from_certificate(der: &[u8]) -> Result<Self, ArtifactError> {
        let certificate = Certificate::parse(der)?;
        Ok(Self {
            key: ArtifactKey::from_spki(certificate.spki)?,
            pem: PemBlock::of(pem::CERTIFICATE, der).to_string(),
            subjects: subjects::of(&certificate),
        })
    }

    /// Reads the DER of a `SubjectPublicKeyInfo`.
    ///
    /// # Errors
    /// Broken DER, and a key of an unknown kind.
    pub fn from_spki(der: &[u8]) -> Result<Self, ArtifactError> {
        Ok(Self {
            key: ArtifactKey::from_spki(der)?,
            pem: PemBlock::of(pem::PUBLIC_KEY, der).to_string(),
            subjects: Vec::new(),
        })
    }
}

/// The PEM of a public key's `SubjectPublicKeyInfo`.
#[must_use]
pub fn public_key_pem(spki: &[u8]) -> String {
    PemBlock::of(pem::PUBLIC_KEY, spki).to_string()
}

/// What is signed of an envelope: `DSSEv1`, and type and payload with their lengths (DSSE, "PAE").
#[must_use]
pub fn pre_authentication_encoding(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}
