//! Lies as a plan writes them, and as the log owns up to them.

use hammer_tlog::merkle::Hash;
use serde::{Deserialize, Serialize};

use super::plan::{CtLabPlan, Flavour};
use crate::duration::Span;

/// One rule by which the log breaks its promises on purpose: what, from when on, and how often. Deterministic: entries
/// are counted in the order in which they are accepted, and the first rule that is due for an entry has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lie {
    /// What the lie is.
    pub kind: LieKind,
    /// Starts after this many new entries (duplicates, for `duplicate-new-index`), or once this many entries are
    /// published, for checkpoints.
    #[serde(default)]
    pub after: u64,
    /// Starts this long after the start of the log (or the last restart of its faults); at once without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Span>,
    /// Every n-th from the start on, the first included; for checkpoints 1.
    #[serde(default = "Lie::each")]
    pub every: u64,
    /// Most often; without it once for `shrinking-tree`, and without end for entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// For `mmd-missed`: how long after the maximum merge delay the entry is published all the same; never without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Span>,
}

/// What a lie is. A lie about an entry sticks to it: each of its SCTs tells it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LieKind {
    /// The SCT's signature does not verify.
    BadSctSignature,
    /// The SCT has another log's id, and that log's good signature.
    SctOfAnotherLog,
    /// The SCT promises the index that follows the entry's own; `static-ct` only.
    WrongIndex,
    /// Another leaf stands where the promised one should, in the tree and in its bundle.
    LostLeaf,
    /// The tree has the promised leaf; bundle and get-entries have another certificate, and a
    /// folder with it is refused at the next start.
    AlteredLeaf,
    /// From some checkpoint on the log signs and serves another tree, in which the first leaf is another.
    ForkedCheckpoint,
    /// A checkpoint of half the entries of the last one; the next is honest again.
    ShrinkingTree,
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
    /// The promised leaf index, or the entry's own where none was promised; none for a checkpoint.
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

impl Lie {
    /// A lie of this kind about everything from the start on.
    #[must_use]
    pub const fn of(kind: LieKind) -> Self {
        Self { kind, after: 0, at: None, every: 1, times: None, late: None }
    }

    const fn each() -> u64 {
        1
    }

    /// Why the lie has no meaning in this plan.
    pub(crate) fn check(&self, plan: &CtLabPlan) -> Result<(), String> {
        let indexed = plan.flavour == Flavour::StaticCt;
        let reason = match self.kind {
            _ if self.every == 0 => "every is at least 1",
            LieKind::MmdMissed if indexed && plan.enable_publication_awaiter => {
                "mmd-missed needs enable_publication_awaiter: false, or nothing is answered in time"
            }
            kind if self.late.is_some() && kind != LieKind::MmdMissed => "late is for mmd-missed alone",
            LieKind::WrongIndex | LieKind::TamperedTile if !indexed => {
                "wrong-index and tampered-tile need flavour: static-ct"
            }
            LieKind::ForkedCheckpoint if self.times.is_some() => "a fork is for good: it takes no times",
            kind if kind.is_of_checkpoints() && self.every != 1 => "every is for lies about entries",
            _ => return Ok(()),
        };
        Err(reason.to_owned())
    }
}

impl LieKind {
    pub(crate) const fn is_of_checkpoints(self) -> bool {
        matches!(self, Self::ForkedCheckpoint | Self::ShrinkingTree)
    }
}

impl ToldLie {
    pub(crate) const fn of(kind: LieKind) -> Self {
        Self { kind, seq: None, index: None, holds: None, leaf_hash: None, tree_size: None, root_hash: None }
    }
}
