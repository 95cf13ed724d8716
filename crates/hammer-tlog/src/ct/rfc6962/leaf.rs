//! Leaves of the Merkle tree.

use super::V1;
use super::entry::{EntryType, SignedEntryRef};
use crate::hash::{Hash, Sha256Writer};
use crate::tls::{TlsError, TlsReader, length16, length24, put_vector16};

/// `MerkleLeafType.timestamped_entry` (RFC 6962 section 3.4), and as it happens `SignatureType.certificate_timestamp`.
const TIMESTAMPED_ENTRY: u8 = 0;

/// `MerkleTreeLeaf` with its `TimestampedEntry` (RFC 6962 section 3.4): the bytes of a leaf, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MerkleTreeLeaf<'a> {
    /// When the log took the entry, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// What the log took.
    pub entry: SignedEntryRef<'a>,
    /// `CtExtensions`, without their length.
    pub extensions: &'a [u8],
}

impl<'a> MerkleTreeLeaf<'a> {
    /// Reads a whole `MerkleTreeLeaf`, such as a `leaf_input`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, TlsError> {
        let mut reader = TlsReader::new(bytes);
        known("version", reader.u8("version")?, V1)?;
        known("leaf_type", reader.u8("leaf_type")?, TIMESTAMPED_ENTRY)?;
        let timestamp_ms = reader.u64("timestamp")?;
        let entry_type = EntryType::read(&mut reader)?;
        let entry = SignedEntryRef::read(entry_type, &mut reader)?;
        let extensions = reader.vector16("extensions")?;
        reader.finish("MerkleTreeLeaf")?;
        Ok(Self { timestamp_ms, entry, extensions })
    }

    /// Its bytes.
    pub fn encode(&self) -> Result<Vec<u8>, TlsError> {
        let mut out = Vec::new();
        encode_merkle_tree_leaf(&mut out, self.timestamp_ms, self.entry, self.extensions)?;
        Ok(out)
    }

    /// The leaf's hash in the tree.
    pub fn leaf_hash(&self) -> Result<Hash, TlsError> {
        leaf_hash_of(self.timestamp_ms, self.entry, self.extensions)
    }
}

pub(super) fn known(field: &'static str, value: u8, expected: u8) -> Result<(), TlsError> {
    if value == expected { Ok(()) } else { Err(TlsError::UnknownValue { field, value: value.into() }) }
}

/// Appends the `MerkleTreeLeaf` of an entry (RFC 6962 section 3.4).
pub fn encode_merkle_tree_leaf(
    out: &mut Vec<u8>,
    timestamp_ms: u64,
    entry: SignedEntryRef<'_>,
    extensions: &[u8],
) -> Result<(), TlsError> {
    out.reserve(12 + entry.encoded_length() + 2 + extensions.len());
    out.extend_from_slice(&[V1, TIMESTAMPED_ENTRY]);
    out.extend_from_slice(&timestamp_ms.to_be_bytes());
    out.extend_from_slice(&(entry.entry_type() as u16).to_be_bytes());
    entry.put(out)?;
    put_vector16(out, extensions, "extensions")
}

/// Appends the bytes that the signature of an SCT covers (RFC 6962 section 3.2). They are those of the entry's
/// `MerkleTreeLeaf`: both structures start with two zero bytes and go on alike, so that their
/// [`leaf_hash`](crate::logs::merkle::leaf_hash) is the leaf's.
pub fn sct_signature_input(
    out: &mut Vec<u8>,
    timestamp_ms: u64,
    entry: SignedEntryRef<'_>,
    extensions: &[u8],
) -> Result<(), TlsError> {
    encode_merkle_tree_leaf(out, timestamp_ms, entry, extensions)
}

/// The hash of an entry's leaf (RFC 6962 sections 2.1 and 3.4), without assembling the leaf.
pub fn leaf_hash_of(
    timestamp_ms: u64,
    entry: SignedEntryRef<'_>,
    extensions: &[u8],
) -> Result<Hash, TlsError> {
    let mut writer = Sha256Writer::new();
    // 0x00 of the leaf hash, version, leaf_type.
    writer.write(&[0, V1, TIMESTAMPED_ENTRY]);
    writer.write(&timestamp_ms.to_be_bytes());
    writer.write(&(entry.entry_type() as u16).to_be_bytes());
    match entry {
        SignedEntryRef::X509 { certificate } => {
            writer.write(&length24(certificate, "ASN.1Cert")?);
            writer.write(certificate);
        }
        SignedEntryRef::Precert { issuer_key_hash, tbs_certificate } => {
            writer.write(issuer_key_hash);
            writer.write(&length24(tbs_certificate, "tbs_certificate")?);
            writer.write(tbs_certificate);
        }
    }
    writer.write(&length16(extensions, "extensions")?);
    writer.write(extensions);
    Ok(writer.finish())
}
