//! An entry of the log: what is hashed, signed and stored.

pub(crate) mod bundle;
mod precert;

use std::sync::Arc;

use hammer_tlog::{
    keys::der::DerError,
    logs::merkle::{Hash, sha256},
};

use super::{
    chain::{ChainRefusal, Path, Validated, certificate::Certificate},
    signature::SignatureError,
};

/// A submission on its way into the tree.
#[derive(Debug)]
pub(crate) struct Entry {
    /// SHA-256 of what was submitted: the certificate, or the precertificate. Two submissions with the same identity
    /// are the same entry, whatever stands above them.
    pub(crate) identity: Hash,
    /// Certificate, or the TBSCertificate that the precertificate stands for.
    signed: Vec<u8>,
    /// The precertificate as submitted.
    precert: Option<Vec<u8>>,
    path: Arc<Path>,
    /// Path place of the authority whose key hash stands in a precert entry.
    issuer_place: usize,
}

impl Entry {
    pub(crate) fn new(validated: &Validated<'_>, precert: bool) -> Result<Self, EntryError> {
        let Validated { leaf, path } = validated;
        if leaf.der.len() > MAX_CERTIFICATE_BYTES || path.authorities.len() > MAX_FINGERPRINTS {
            return Err(EntryError::TooLong);
        }
        let identity = sha256(leaf.der);
        let path = Arc::clone(path);
        if !precert {
            return Ok(Self { identity, signed: leaf.der.to_vec(), precert: None, path, issuer_place: 0 });
        }
        let issuer = path.authorities.first().ok_or(EntryError::NoIssuer)?;
        let signing = issuer.signs_precerts.then_some(issuer);
        if signing.is_some() && path.authorities.len() < 2 {
            return Err(EntryError::NoFinalIssuer);
        }
        let signed =
            precert::defanged_tbs(leaf.tbs, signing.map(AsRef::as_ref)).map_err(EntryError::Poison)?;
        let issuer_place = usize::from(signing.is_some());
        Ok(Self { identity, signed, precert: Some(leaf.der.to_vec()), path, issuer_place })
    }

    /// The MerkleTreeLeaf (RFC 6962 section 3.4), which is also, byte for byte, what the SCT signs (section 3.2): both
    /// start with version 0 and a type of 0. With an index the extensions hold it (static-ct-api).
    pub(crate) fn leaf_input(&self, timestamp_ms: u64, index: Option<u64>) -> Vec<u8> {
        let mut leaf = Vec::with_capacity(self.signed.len() + 64);
        leaf.extend_from_slice(&[0, 0]);
        leaf.extend_from_slice(&timestamp_ms.to_be_bytes());
        match self.precert {
            None => leaf.extend_from_slice(&[0, 0]),
            Some(_) => {
                leaf.extend_from_slice(&[0, 1]);
                leaf.extend_from_slice(self.path.authorities[self.issuer_place].spki_hash.as_bytes());
            }
        }
        push_u24(&mut leaf, &self.signed);
        let extensions = extensions(index);
        leaf.extend_from_slice(&(extensions.len() as u16).to_be_bytes());
        leaf.extend_from_slice(&extensions);
        leaf
    }

    /// Why it is refused if its issuer did not sign it, where so many certificates were sent above it.
    pub(crate) fn unsigned(&self, sent: usize) -> ChainRefusal {
        let above = self.path.authorities.iter().take(sent).map(|authority| authority.fingerprint);
        ChainRefusal::of_path(&SignatureError::Ecdsa, std::iter::once(self.identity).chain(above))
    }

    /// The same entry of a certificate that nobody submitted: its last byte differs.
    pub(crate) fn altered(&self) -> Self {
        let Self { identity, precert, path, issuer_place, .. } = self;
        let mut signed = self.signed.clone();
        if let Some(last) = signed.last_mut() {
            *last ^= 1;
        }
        let (precert, path) = (precert.clone(), Arc::clone(path));
        Self { identity: *identity, signed, precert, path, issuer_place: *issuer_place }
    }

    /// The last eight bytes of the serial number, where it has as many.
    pub(crate) fn seq(&self) -> Option<u64> {
        let submitted = self.precert.as_ref().unwrap_or(&self.signed);
        let serial = Certificate::parse(submitted).ok()?.serial;
        serial.last_chunk().map(|last| u64::from_be_bytes(*last))
    }

    /// The TileLeaf of static-ct-api: the leaf without its first two bytes, the precertificate, the fingerprints.
    pub(crate) fn tile_leaf(&self, leaf_input: &[u8]) -> Vec<u8> {
        self.tile_leaf_of(leaf_input, self.precert.as_deref(), self.fingerprints())
    }

    /// The same with another precertificate, of which a bit of the signature differs; none of a certificate.
    pub(crate) fn with_another_precertificate(&self, leaf_input: &[u8]) -> Option<Vec<u8>> {
        let mut precert = self.precert.clone()?;
        *precert.last_mut()? ^= 1;
        Some(self.tile_leaf_of(leaf_input, Some(&precert), self.fingerprints()))
    }

    /// The same without the root.
    pub(crate) fn without_root(&self, leaf_input: &[u8]) -> Vec<u8> {
        let above = self.path.authorities.len().saturating_sub(1);
        self.tile_leaf_of(leaf_input, self.precert.as_deref(), self.fingerprints().take(above))
    }

    /// The same with the certificates above it in the other order; none where they are fewer than two.
    pub(crate) fn with_reversed_chain(&self, leaf_input: &[u8]) -> Option<Vec<u8>> {
        let reversed = self.fingerprints().rev();
        (self.path.authorities.len() > 1)
            .then(|| self.tile_leaf_of(leaf_input, self.precert.as_deref(), reversed))
    }

    fn fingerprints(&self) -> impl DoubleEndedIterator<Item = &Hash> {
        self.path.authorities.iter().map(|authority| &authority.fingerprint)
    }

    fn tile_leaf_of<'a>(
        &self,
        leaf_input: &[u8],
        precert: Option<&[u8]>,
        fingerprints: impl Iterator<Item = &'a Hash>,
    ) -> Vec<u8> {
        let room = precert.map_or(0, <[u8]>::len) + 3 + 2 + self.path.authorities.len() * 32;
        let mut tile_leaf = Vec::with_capacity(leaf_input.len() + room);
        tile_leaf.extend_from_slice(&leaf_input[2..]);
        if let Some(precert) = precert {
            push_u24(&mut tile_leaf, precert);
        }
        let start = tile_leaf.len();
        tile_leaf.extend_from_slice(&[0; 2]);
        fingerprints.for_each(|fingerprint| tile_leaf.extend_from_slice(fingerprint.as_bytes()));
        let length = (tile_leaf.len() - start - 2) as u16;
        tile_leaf[start..start + 2].copy_from_slice(&length.to_be_bytes());
        tile_leaf
    }
}

/// Why a valid chain makes no entry, in TesseraCT's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EntryError {
    #[error("no issuer cert available for precert leaf building")]
    NoIssuer,
    #[error("no issuer cert available for pre-issuer")]
    NoFinalIssuer,
    #[error("the certificate or its chain is too long")]
    TooLong,
    #[error("failed to remove poison extension: {0}")]
    Poison(DerError),
}

/// CtExtensions with the leaf_index extension (static-ct-api: type 0, length 5, 40-bit index), or none.
pub(crate) fn extensions(index: Option<u64>) -> Vec<u8> {
    index.map_or_else(Vec::new, |index| [&[0, 0, 5], &index.to_be_bytes()[3..]].concat())
}

/// Appends bytes after their length in three bytes.
pub(crate) fn push_u24(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(bytes);
}

/// What a length of three bytes can say.
const MAX_CERTIFICATE_BYTES: usize = (1 << 24) - 1;
/// What a length of two bytes can say, in hashes of 32 bytes.
const MAX_FINGERPRINTS: usize = ((1 << 16) - 1) / 32;
