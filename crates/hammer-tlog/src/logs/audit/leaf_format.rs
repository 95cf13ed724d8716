//! What an audit has to know of the entries of a log.

use std::fmt;

use super::beside::Beside;
use super::receipt::Receipt;
use crate::hash::Hash;
use crate::logs::follow::Bundles;
use crate::logs::tile::Level;

/// How a log writes its entries, and what leaf each of them has. One format is static-ct-api's, whose entries lie in
/// `tile/data/`, another that of RFC 6962, whose entries come with get-entries; each protocol of tlog-tiles has its own.
pub trait LeafFormat: fmt::Debug + 'static {
    /// An entry, read.
    type Entry<'a>;

    /// Where the bundles of entries lie; those of tlog-tiles unless it is said otherwise.
    const LEVEL: Level = Level::Entries;

    /// Whether entries say when they were promised ([`LeafFormat::time`]), by which a leaf is recognised that stands elsewhere than at its
    /// promised index.
    const HAS_TIMES: bool = false;

    /// The entries in what the log serves at once, in order: a bundle that is not compressed, or one answer. It ends after
    /// the first that cannot be read.
    fn entries(bytes: &[u8]) -> impl Iterator<Item = Result<Self::Entry<'_>, EntryFault>>;

    /// The hash of the entry's leaf.
    ///
    /// # Errors
    /// When the entry has no leaf.
    fn leaf_hash(entry: &Self::Entry<'_>) -> Result<Hash, EntryFault>;

    /// Whether the entry is what the receipt promises, but for the index: a leaf that holds its index has another hash
    /// elsewhere.
    fn is_promised(entry: &Self::Entry<'_>, receipt: &Receipt) -> bool {
        Self::leaf_hash(entry) == Ok(receipt.leaf)
    }

    /// When the entry was promised, as its receipt has it, in milliseconds since 1970; none where the format does not say.
    fn time(_entry: &Self::Entry<'_>) -> Option<u64> {
        None
    }

    /// Holds the index that an entry says it has against the one that it has, where the format has entries say one.
    ///
    /// # Errors
    /// The index that it says, or none where it does not say it.
    fn check_index(_entry: &Self::Entry<'_>, _index: u64) -> Result<(), Option<u64>> {
        Ok(())
    }

    /// What the entry has beside its leaf, which that does not commit to; none where the format has nothing there.
    fn beside(_entry: &Self::Entry<'_>) -> Option<Beside> {
        None
    }

    /// What the log must serve beside the entry, by SHA-256, as the issuers of static-ct-api.
    fn references<'a>(_entry: &Self::Entry<'a>) -> &'a [[u8; 32]] {
        &[]
    }

    /// The leaf hashes of the first `most` entries, up to the first that cannot be read.
    fn leaf_hashes(bytes: &[u8], most: u16) -> Vec<Hash> {
        Self::entries(bytes).take(most.into()).map_while(|entry| Self::leaf_hash(&entry.ok()?).ok()).collect()
    }
}

/// The bundles of a format, as a follower reads them.
pub fn bundles<F: LeafFormat>() -> Bundles {
    Bundles { level: F::LEVEL, leaf_hashes: F::leaf_hashes }
}

/// Why an entry cannot be read, or has no leaf, in its format's words.
#[derive(Clone, PartialEq, Eq)]
pub struct EntryFault(String);

impl EntryFault {
    /// A fault, in words.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Debug for EntryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for EntryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
