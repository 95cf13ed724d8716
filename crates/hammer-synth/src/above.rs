//! The certificates that are sent after a leaf.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The certificates after the leaf, which many chains share.
#[derive(Debug)]
pub(crate) struct Above {
    certificates: Vec<Vec<u8>>,
    /// How the body of a submission ends behind the base64 of its leaf (RFC 6962 section 4.1).
    end_of_body: Vec<u8>,
}

impl Above {
    pub(crate) fn new(certificates: Vec<Vec<u8>>) -> Self {
        let certificate = |der: &Vec<u8>| format!("\",\"{}", STANDARD.encode(der));
        let end_of_body = certificates.iter().map(certificate).chain(["\"]}".to_owned()]).collect::<String>();
        Self { certificates, end_of_body: end_of_body.into_bytes() }
    }

    /// The certificates in DER, the leaf's issuer first.
    pub(crate) fn certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.certificates.iter().map(Vec::as_slice)
    }

    pub(crate) fn end_of_body(&self) -> &[u8] {
        &self.end_of_body
    }
}
