//! Roots, intermediates and Precertificate Signing Certificates; derived from the seed, or the user's own.

mod derived;
pub(crate) mod files;

use std::sync::Arc;

use crate::pem::write_pem;
use crate::profile::ChainLength;
use crate::signer::{Algorithm, Signer};
use crate::validity::Validity;

/// What a derived hierarchy is made of. The same seed and specification give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HierarchySpec {
    /// The algorithm of every key of the hierarchy.
    pub algorithm: Algorithm,
    /// How many intermediates lie below the root, from 0 to 8; chains of three need 2.
    pub depth: usize,
    /// When all certificates of the hierarchy are valid.
    pub validity: Validity,
}

/// The authorities over the leaves: what a log must accept, and who issues.
#[derive(Debug)]
pub struct Hierarchy {
    roots: Vec<Vec<u8>>,
    /// From the highest to the lowest. A derived hierarchy has its root as the first, one from files a single issuer.
    issuers: Vec<Issuer>,
    from_files: bool,
}

/// An authority that issues leaves.
#[derive(Debug)]
pub struct Issuer {
    identity: Arc<SignerIdentity>,
    chain: Vec<Vec<u8>>,
    precert_signer: Option<PrecertSigner>,
}

/// A Precertificate Signing Certificate and its key (RFC 6962 section 3.1).
#[derive(Debug)]
pub struct PrecertSigner {
    certificate: Vec<u8>,
    identity: Arc<SignerIdentity>,
}

/// The signing side of an authority, as it stands in what it signs.
#[derive(Debug)]
pub(crate) struct SignerIdentity {
    /// A `Name` in DER.
    pub(crate) name: Vec<u8>,
    pub(crate) key_id: Option<Vec<u8>>,
    /// Signs safely, whoever's key it is.
    pub(crate) key: Box<dyn Signer>,
    /// The same key where it is a throwaway one on P-256: the only type that signs by walking nonces. A key from a file is
    /// never of it.
    pub(crate) walking: Option<hammer_p256::ThrowawayKey>,
}

impl Hierarchy {
    /// The certificates in DER that a log must accept as roots.
    pub fn roots(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.roots.iter().map(Vec::as_slice)
    }

    /// The same as PEM.
    pub fn roots_pem(&self) -> String {
        let mut text = String::new();
        self.roots().for_each(|root| write_pem(&mut text, "CERTIFICATE", root));
        text
    }

    /// Who issues leaves of this chain length; a hierarchy from files has one issuer for all. `None` where the hierarchy
    /// is not deep enough.
    pub fn issuer(&self, chain: ChainLength) -> Option<&Issuer> {
        let position = if self.from_files { 0 } else { chain.intermediates() };
        self.issuers.get(position)
    }

    /// All who can issue, from the highest to the lowest.
    pub fn issuers(&self) -> &[Issuer] {
        &self.issuers
    }
}

impl Issuer {
    /// Its certificate and those above it in DER, lowest first, without the root; empty for a root.
    pub fn chain(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.chain.iter().map(Vec::as_slice)
    }

    /// Its subject, a `Name` in DER.
    pub fn name(&self) -> &[u8] {
        &self.identity.name
    }

    /// The key that signs.
    pub fn key(&self) -> &dyn Signer {
        self.identity.key.as_ref()
    }

    /// Its Precertificate Signing Certificate, which only derived authorities have: a public key must never be certified
    /// by a CA that somebody keeps.
    pub fn precert_signer(&self) -> Option<&PrecertSigner> {
        self.precert_signer.as_ref()
    }

    pub(crate) fn identity(&self) -> &Arc<SignerIdentity> {
        &self.identity
    }
}

impl PrecertSigner {
    /// The certificate in DER.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    pub(crate) fn identity(&self) -> &Arc<SignerIdentity> {
        &self.identity
    }
}
