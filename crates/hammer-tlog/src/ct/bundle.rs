//! Entry bundles of static-ct-api: the content of `tile/data/`, entries one after another.

use crate::ct::rfc6962::{self, EntryType, SignedEntryRef, leaf_hash_of, leaf_index_extension};
use crate::hash::Hash;
use crate::logs::audit::{Beside, EntryFault, LeafFormat, Receipt};
use crate::logs::tile::Level;
use crate::tls::{TlsError, TlsReader, put_vector16, put_vector24};

/// Why a bundle cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// An entry is not a `TileLeaf`.
    #[error("read entry {position} of the bundle: {source}")]
    Entry {
        /// Its place in the bundle, from 0.
        position: usize,
        /// What is wrong with it.
        source: TlsError,
    },
    /// The fingerprints of an entry are not whole hashes.
    #[error("read entry {position} of the bundle: {length} bytes are not fingerprints")]
    Fingerprints {
        /// The entry's place in the bundle, from 0.
        position: usize,
        /// Bytes of its fingerprints.
        length: usize,
    },
}

/// One `TileLeaf`, borrowed (static-ct-api).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// When the log took the entry, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// What the log committed to.
    pub signed: SignedEntryRef<'a>,
    /// `CtExtensions`, without their length: the leaf index.
    pub extensions: &'a [u8],
    /// The precertificate as submitted; none for an X.509 entry.
    pub pre_certificate: Option<&'a [u8]>,
    /// SHA-256 of each certificate of the chain, from the issuer up to the root.
    pub fingerprints: &'a [[u8; 32]],
}

impl<'a> Entry<'a> {
    /// Appends the entry's bytes. Its `pre_certificate` must be there exactly if it is a precertificate.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TlsError> {
        out.extend_from_slice(&self.timestamp_ms.to_be_bytes());
        out.extend_from_slice(&(self.signed.entry_type() as u16).to_be_bytes());
        self.signed.put(out)?;
        put_vector16(out, self.extensions, "extensions")?;
        match (self.signed.entry_type(), self.pre_certificate) {
            (EntryType::X509, None) => {}
            (EntryType::Precert, Some(precert)) => put_vector24(out, precert, "pre_certificate")?,
            (EntryType::X509, Some(precert)) => {
                return Err(TlsError::Trailing { structure: "X.509 entry", count: precert.len() });
            }
            (EntryType::Precert, None) => return Err(TlsError::Truncated { field: "pre_certificate" }),
        }
        put_vector16(out, self.fingerprints.as_flattened(), "certificate_chain")
    }

    /// The hash of the entry's leaf: its hash in `tile/0/`.
    pub fn leaf_hash(&self) -> Result<Hash, TlsError> {
        leaf_hash_of(self.timestamp_ms, self.signed, self.extensions)
    }

    /// The index that the entry says it has; none where its extensions have none.
    pub fn leaf_index(&self) -> Result<Option<u64>, TlsError> {
        rfc6962::leaf_index(self.extensions)
    }

    /// The certificate or precertificate as submitted.
    pub fn submitted(&self) -> &'a [u8] {
        match (self.signed, self.pre_certificate) {
            (SignedEntryRef::X509 { certificate }, _) => certificate,
            (SignedEntryRef::Precert { tbs_certificate, .. }, precert) => precert.unwrap_or(tbs_certificate),
        }
    }

    fn read(reader: &mut TlsReader<'a>) -> Result<(Self, &'a [u8]), TlsError> {
        let timestamp_ms = reader.u64("timestamp")?;
        let entry_type = EntryType::read(reader)?;
        let signed = SignedEntryRef::read(entry_type, reader)?;
        let extensions = reader.vector16("extensions")?;
        let pre_certificate = match entry_type {
            EntryType::X509 => None,
            EntryType::Precert => Some(reader.vector24("pre_certificate")?),
        };
        let (fingerprints, rest) = reader.vector16("certificate_chain")?.as_chunks();
        Ok((Self { timestamp_ms, signed, extensions, pre_certificate, fingerprints }, rest))
    }
}

/// Reads the entries of a bundle (not compressed) in order. Ends after the first that cannot be read.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    reader: TlsReader<'a>,
    position: usize,
}

impl<'a> Entries<'a> {
    /// The entries of a whole bundle.
    pub fn new(bundle: &'a [u8]) -> Self {
        Self { reader: TlsReader::new(bundle), position: 0 }
    }
}

/// The leaves of static-ct-api.
#[derive(Debug, Clone, Copy)]
pub struct StaticCtLeaves;

impl LeafFormat for StaticCtLeaves {
    type Entry<'a> = Entry<'a>;

    const LEVEL: Level = Level::Data;

    const HAS_TIMES: bool = true;

    fn entries(bytes: &[u8]) -> impl Iterator<Item = Result<Entry<'_>, EntryFault>> {
        Entries::new(bytes).map(|entry| entry.map_err(|why| EntryFault::new(why.to_string())))
    }

    fn leaf_hash(entry: &Entry<'_>) -> Result<Hash, EntryFault> {
        entry.leaf_hash().map_err(|why| EntryFault::new(why.to_string()))
    }

    fn is_promised(entry: &Entry<'_>, receipt: &Receipt) -> bool {
        let Some(Ok(promised)) = receipt.index().map(leaf_index_extension) else { return false };
        entry.timestamp_ms == receipt.promised_ms
            && leaf_hash_of(entry.timestamp_ms, entry.signed, &promised) == Ok(receipt.leaf)
    }

    fn time(entry: &Entry<'_>) -> Option<u64> {
        Some(entry.timestamp_ms)
    }

    fn check_index(entry: &Entry<'_>, index: u64) -> Result<(), Option<u64>> {
        let says = entry.leaf_index().unwrap_or(None);
        if says == Some(index) { Ok(()) } else { Err(says) }
    }

    fn beside(entry: &Entry<'_>) -> Option<Beside> {
        Some(Beside::of(Beside::digest(entry.fingerprints), entry.pre_certificate))
    }

    fn references<'a>(entry: &Self::Entry<'a>) -> &'a [[u8; 32]] {
        entry.fingerprints
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, BundleError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.rest().is_empty() {
            return None;
        }
        let position = self.position;
        self.position += 1;
        let entry = match Entry::read(&mut self.reader) {
            Ok((entry, [])) => Ok(entry),
            Ok((entry, rest)) => {
                let length = entry.fingerprints.len() * 32 + rest.len();
                Err(BundleError::Fingerprints { position, length })
            }
            Err(source) => Err(BundleError::Entry { position, source }),
        };
        if entry.is_err() {
            self.reader = TlsReader::new(&[]);
        }
        Some(entry)
    }
}
