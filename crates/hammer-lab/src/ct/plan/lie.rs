//! Lies as a plan writes them.

use hammer_values::{Count, KeyConflict, TimeSpan};
use serde::{Deserialize, Serialize};

use super::{CtLabPlan, Flavour};
use crate::told_lie::LieKind;

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
    pub at: Option<TimeSpan>,
    /// Every n-th from the start on, the first included; for checkpoints 1.
    #[serde(default = "Lie::each")]
    pub every: Count,
    /// Most often; without it once for `shrinking-tree`, `future-checkpoint` and `backdated-checkpoint`, and without end for entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// For `mmd-missed`: how long after the maximum merge delay the entry is published all the same; never without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<TimeSpan>,
}

impl Lie {
    /// A lie of this kind about everything from the start on.
    #[must_use]
    pub const fn of(kind: LieKind) -> Self {
        Self { kind, after: 0, at: None, every: Count::ONE, times: None, late: None }
    }

    const fn each() -> Count {
        Count::ONE
    }

    /// Why the lie has no meaning in this plan.
    pub(crate) fn conflict(&self, plan: &CtLabPlan) -> Option<KeyConflict> {
        let indexed = plan.flavour == Flavour::StaticCt;
        let (key, reason) = match self.kind {
            LieKind::MmdMissed | LieKind::RolledBackCheckpoint
                if indexed && plan.enable_publication_awaiter =>
            {
                ("kind", "it needs enable_publication_awaiter: false, or nothing is answered in time")
            }
            kind if self.late.is_some() && kind != LieKind::MmdMissed => {
                ("late", "it is for mmd-missed alone")
            }
            LieKind::WrongIndex
            | LieKind::FarIndex
            | LieKind::TamperedTile
            | LieKind::RolledBackCheckpoint
                if !indexed =>
            {
                ("kind", "it needs flavour: static-ct")
            }
            LieKind::ForkedCheckpoint | LieKind::RolledBackCheckpoint if self.times.is_some() => {
                ("times", "it is for good, and takes none")
            }
            kind if kind.is_of_checkpoints() && self.every != Count::ONE => {
                ("every", "it is for lies about entries")
            }
            _ => return None,
        };
        Some(KeyConflict::at(key, reason))
    }
}
