//! The certificates that are sent after a leaf.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The certificates after the leaf, which many chains share, with their base64.
#[derive(Debug, Default)]
pub struct Above {
    certificates: Vec<Vec<u8>>,
    base64: Vec<String>,
}

impl Above {
    pub(crate) fn new(certificates: Vec<Vec<u8>>) -> Self {
        Self { base64: certificates.iter().map(|der| STANDARD.encode(der)).collect(), certificates }
    }

    /// The certificates in DER, the leaf's issuer first.
    pub fn certificates(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.certificates.iter().map(Vec::as_slice)
    }

    /// The same in standard, padded base64 (RFC 4648 section 4), as `add-chain` takes them (RFC 6962 section 4.1).
    pub fn base64(&self) -> impl ExactSizeIterator<Item = &str> {
        self.base64.iter().map(String::as_str)
    }
}
