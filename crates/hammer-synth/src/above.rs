//! The certificates that are sent after a leaf.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::spki::sha256;

/// The certificates after the leaf, which many chains share.
#[derive(Debug)]
pub(crate) struct Above {
    certificates: Vec<Vec<u8>>,
    /// How the body of a submission ends behind the base64 of its leaf (RFC 6962 section 4.1).
    end_of_body: Vec<u8>,
    /// Of the chain up to its root, whether that is sent or not; none where that is not known.
    digest: Option<[u8; 32]>,
}

impl Above {
    pub(crate) fn new(certificates: Vec<Vec<u8>>) -> Self {
        let certificate = |der: &Vec<u8>| format!("\",\"{}", STANDARD.encode(der));
        let end_of_body = certificates.iter().map(certificate).chain(["\"]}".to_owned()]).collect::<String>();
        Self { certificates, end_of_body: end_of_body.into_bytes(), digest: None }
    }

    /// The same whose chain ends in that root, which comes behind the last certificate where it was not sent.
    pub(crate) fn up_to(mut self, root: &[u8]) -> Self {
        let unsent = Some(root).filter(|root| self.certificates().all(|sent| sent != *root));
        let fingerprints: Vec<u8> = self.certificates().chain(unsent).flat_map(sha256).collect();
        self.digest = Some(sha256(&fingerprints));
        self
    }

    /// SHA-256 over the fingerprints (SHA-256) of the chain above the leaf, up to its root; none where that is not known.
    pub(crate) fn digest(&self) -> Option<[u8; 32]> {
        self.digest
    }

    /// The certificates in DER, the leaf's issuer first.
    pub(crate) fn certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.certificates.iter().map(Vec::as_slice)
    }

    pub(crate) fn end_of_body(&self) -> &[u8] {
        &self.end_of_body
    }
}
