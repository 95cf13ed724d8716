//! Lies as a log owns up to them.

use hammer_tlog::logs::merkle::Hash;
use serde::{Deserialize, Serialize};

/// What a lie is. A lie about an entry sticks to it: each of its SCTs tells it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LieKind {
    /// The SCT's signature does not verify.
    BadSctSignature,
    /// The SCT has another log's id, and that log's good signature.
    SctOfAnotherLog,
    /// The answer is 200, and holds no SCT that can be read: each of seven forms in turn. The entry is in the tree.
    UnreadableSct,
    /// The SCT promises the index that follows the entry's own; `static-ct` only.
    WrongIndex,
    /// The SCT promises an index that the tree is far from having: 2^30 after the entry's own; `static-ct` only.
    FarIndex,
    /// Another leaf stands where the promised one should, in the tree and in its bundle.
    LostLeaf,
    /// The tree has the promised leaf; bundle and get-entries have another certificate, and a
    /// folder with it is refused at the next start.
    AlteredLeaf,
    /// The tree has the promised leaf; what bundle and get-entries have above it lacks the root.
    AlteredChain,
    /// The same; what they have above it is in the other order. Of an entry with one certificate above it, no lie.
    ReversedChain,
    /// The same; they have another precertificate than was submitted. Of an entry that is none, no lie.
    AlteredPrecertificate,
    /// From some checkpoint on the log signs and serves another tree, in which the first leaf is another.
    ForkedCheckpoint,
    /// A checkpoint of half the entries of the last one; the next is honest again.
    ShrinkingTree,
    /// A checkpoint that is dated an hour ahead; the next is honest again.
    FutureCheckpoint,
    /// A checkpoint that is dated an hour back; the next is honest again.
    BackdatedCheckpoint,
    /// No checkpoint covers the entry nor those that follow it, and once all before it are covered, the checkpoint before that is served
    /// for ever. Told of each such entry as `mmd-missed`, when its merge delay is over; `static-ct` only.
    RolledBackCheckpoint,
    /// The leaf's hash in its tile of level 0 is altered, as served over HTTP; `static-ct` only.
    TamperedTile,
    /// A duplicate becomes a new entry, with a new timestamp and index.
    DuplicateNewIndex,
    /// The entry is published only after the maximum merge delay, or never. In `static-ct`, where an index is promised,
    /// all that follows the entry waits with it, and the publication awaiter must be off.
    MmdMissed,
}

/// A lie that the log told. What it is of can be found out by whoever was lied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldLie {
    /// What the lie was.
    pub kind: LieKind,
    /// The last eight bytes of the certificate's serial number, in big-endian order; none where it has fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The promised leaf index, or the entry's own where none was promised; none for a checkpoint,
    /// and where nobody can read what was promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// The entry's own index, where another was promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<u64>,
    /// The hash of the promised leaf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf_hash: Option<Hash>,
    /// Tree size of a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_size: Option<u64>,
    /// Root of a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_hash: Option<Hash>,
}

impl LieKind {
    pub(crate) const fn is_of_checkpoints(self) -> bool {
        matches!(
            self,
            Self::ForkedCheckpoint | Self::ShrinkingTree | Self::FutureCheckpoint | Self::BackdatedCheckpoint
        )
    }
}

impl ToldLie {
    pub(crate) const fn of(kind: LieKind) -> Self {
        Self { kind, seq: None, index: None, holds: None, leaf_hash: None, tree_size: None, root_hash: None }
    }
}
