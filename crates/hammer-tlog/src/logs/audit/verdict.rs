//! What an audit finds.

use std::fmt;

use super::beside::BesideFault;
use super::earlier_heads::EarlierHeads;
use super::leaf_format::EntryFault;
use super::receipt::Receipt;
use crate::hash::Hash;
use crate::logs::tile::TileId;

/// What became of one promise. A receipt gets exactly one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The leaf is where it was promised, up to the root.
    Kept(Kept),
    /// It is not.
    Broken(Breach),
}

/// A promise that was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// What was promised.
    pub receipt: Receipt,
    /// The leaf's index in the tree.
    pub index: u64,
    /// The first head that covers it; none where that was before the audit.
    pub published: Option<Published>,
}

impl Kept {
    /// Response received until a served head covers the index, in nanoseconds; 0 when the log answers after publication.
    pub fn publication_delay_ns(&self) -> Option<u64> {
        Some(self.published?.fetched_ns.saturating_sub(self.receipt.received_ns))
    }

    /// Whether the answer came before or after publication, as far as the times tell at which heads were fetched.
    pub fn answered(&self) -> Option<Answered> {
        let (published, received_ns) = (self.published?, self.receipt.received_ns);
        Some(match () {
            () if received_ns >= published.fetched_ns => Answered::After,
            () if received_ns <= published.earlier.fetched_ns => Answered::Before,
            () => Answered::Between,
        })
    }

    /// The promise until publication, in milliseconds, both by the log's clock; none where its heads have no time.
    pub fn merge_delay_ms(&self) -> Option<u64> {
        let signed_ms = self.published?.timestamp_ms;
        (signed_ms > 0).then(|| signed_ms.saturating_sub(self.receipt.promised_ms))
    }
}

/// When a log answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// Before it publishes: a head that was fetched after the answer does not cover the leaf.
    Before,
    /// After it has published: a head that was fetched before the answer covers the leaf.
    After,
    /// The answer came between the last head that does not cover the leaf and the first that does.
    Between,
}

/// The first followed head that covers a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Its leaves.
    pub size: u64,
    /// When it was fetched, in nanoseconds since the caller's instant.
    pub fetched_ns: u64,
    /// The heads before it, which cover less.
    pub earlier: EarlierHeads,
    /// When the log signed it, in milliseconds since 1970; 0 where its heads do not say.
    pub timestamp_ms: u64,
}

/// A promise that was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breach {
    /// What was promised.
    pub receipt: Receipt,
    /// How it was broken.
    pub kind: Kind,
}

/// How a promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The tree has another leaf at the promised index.
    LostLeaf {
        /// That leaf's hash.
        found: Hash,
    },
    /// The tree has the submission at another index than the promised one, as far as the bundle around it tells.
    WrongIndex {
        /// The index that it has.
        holds: u64,
    },
    /// The tree has the leaf; the entry in its bundle is another, or cannot be read.
    AlteredLeaf {
        /// The hash of the entry's leaf; none where it cannot be read.
        found: Option<Hash>,
    },
    /// The tree has the leaf; its tile has another hash in its place.
    TamperedTile {
        /// That hash.
        got: Hash,
    },
    /// The same index, or in a log without tiles the same leaf, was promised to another submission.
    PromisedTwice {
        /// That submission's sequence number; none where it is no longer known.
        first: Option<u64>,
    },
    /// The promise has no index, which the leaves of a log with tiles are looked for by.
    NoIndex,
    /// The tree has the leaf; what its entry has beside it is not what was sent.
    AlteredBeside(BesideFault),
    /// The deadline had passed before a head covered the leaf.
    Overdue {
        /// The first head that did; none while none does.
        published: Option<Published>,
    },
}

impl Kind {
    /// The kind as reports have it, unless the protocol has a word of its own.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::LostLeaf { .. } => "lost-leaf",
            Self::WrongIndex { .. } => "wrong-index",
            Self::AlteredLeaf { .. } => "altered-leaf",
            Self::TamperedTile { .. } => "tampered-tile",
            Self::PromisedTwice { .. } => "index-promised-twice",
            Self::NoIndex => "no-leaf-index",
            Self::AlteredBeside(BesideFault::Chain) => "altered-chain",
            Self::AlteredBeside(BesideFault::Precertificate) => "altered-precertificate",
            Self::Overdue { .. } => "overdue",
        }
    }
}

/// What is wrong with what the log serves, whether or not a receipt is touched by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// An entry of a bundle is not the leaf that the tree has at its index.
    TamperedBundle {
        /// The bundle.
        tile: TileId,
        /// The index of its first such entry; of a bundle that does not end with its last entry, the index after that.
        index: u64,
        /// What is wrong with it.
        fault: BundleFault,
    },
    /// Neither the tile nor, where it is partial, the full one in its place is served.
    MissingTile {
        /// The tile as the tree has it.
        tile: TileId,
    },
    /// The hash tiles of a leaf do not lead to the followed root: receipts that rest on them stay without a verdict.
    TamperedTile {
        /// The tile of the leaf, or the one whose bytes are not hashes.
        tile: TileId,
        /// Receipts without a verdict.
        receipts: u64,
    },
    /// The entries from get-entries do not hash to the followed root.
    TamperedEntries {
        /// The first entry that no head had covered before.
        start: u64,
        /// Leaves of the head.
        size: u64,
        /// The root that the entries lead to.
        computed: Hash,
        /// The head's.
        expected: Hash,
    },
    /// Receipts could not be spilled or taken back: those are unchecked, by our own fault.
    Unspilled {
        /// Receipts that are lost; 0 where they stayed in memory.
        receipts: u64,
        /// What the spill said.
        error: String,
    },
}

/// What is wrong with a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BundleFault {
    /// The entry's leaf has another hash than the tree's.
    Leaf {
        /// The hash found.
        got: Hash,
        /// The tree's.
        expected: Hash,
    },
    /// The entry cannot be read.
    Entry(EntryFault),
    /// The entry's leaf cannot be hashed.
    Leafless(EntryFault),
    /// The bundle has this many entries: neither as many as it should have nor, full, 256.
    Entries(usize),
    /// After this many entries, as many as it should have, the bundle has bytes that are no entry.
    Trailing(usize),
}

impl fmt::Display for BundleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf { got, expected } => write!(f, "its leaf is {got}, not {expected}"),
            Self::Entry(why) => write!(f, "it cannot be read: {why}"),
            Self::Leafless(why) => write!(f, "it has no leaf: {why}"),
            Self::Entries(entries) => write!(f, "it has {entries} entries"),
            Self::Trailing(entries) => write!(f, "bytes that are no entry follow its {entries} entries"),
        }
    }
}
