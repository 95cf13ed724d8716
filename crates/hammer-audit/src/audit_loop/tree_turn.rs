//! What becomes of a log's trees as its heads name them.

use hammer_tlog::logs::follow::Head;

use super::head_watch::HeadWatch;
use super::voice::AuditVoice;
use crate::messages::SHRINKING_TREE;
use crate::source::{HeadId, Shards};

/// What the shards that a head came with have shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TreeTurn {
    /// They are seen for the first time.
    Known {
        /// The trees before the active one.
        inactive: Vec<HeadId>,
    },
    /// Entries are added to another tree, and the one before is there for ever.
    Ended {
        /// The one before.
        tree: u64,
        /// The active one.
        next: u64,
        /// The leaves of the one before.
        size: u64,
    },
    /// A server that lags behind still says that entries are added to a tree which has ended.
    Behind,
    /// Entries are added to another tree, and the log does not know the one before any more.
    Gone {
        /// The one before.
        tree: u64,
        /// The active one.
        next: u64,
        /// What was trusted of it.
        trusted: Head,
    },
}

impl TreeTurn {
    /// Tells what `head` has shown, which came with these shards; says whether it is of the tree that entries are added to.
    pub(super) fn tell(
        self,
        head: &Head,
        shards: &Shards,
        heads: &mut HeadWatch,
        voice: &AuditVoice,
    ) -> bool {
        match self {
            Self::Known { inactive } => {
                voice.observed("inactive_shards", inactive.len() as f64);
                if !inactive.is_empty() {
                    let shown =
                        inactive.iter().map(|shard| format!("{} of {} entries", shard.tree, shard.size));
                    let shown = shown.collect::<Vec<_>>().join(", ");
                    voice.note(&format!("{} inactive shards: {shown}", inactive.len()));
                }
                for shard in &shards.inactive {
                    let Some(why) = &shard.unverified else { continue };
                    let tree = shard.head.tree;
                    voice.note(&format!(
                        "nothing is held against the inactive shard {tree}: failed to verify its checkpoint: {why}"
                    ));
                }
            }
            Self::Ended { tree, next, size } => {
                voice.note(&format!(
                    "entries go to the tree {next} from now on; tree {tree} ended with {size}"
                ));
            }
            Self::Behind => return false,
            Self::Gone { tree, next, trusted } => {
                let detail = format!(
                    "its tree {tree} is gone: it had {trusted}, and now there is tree {next} with {head}"
                );
                heads.contradicted(SHRINKING_TREE, None, &detail, &[trusted, head.clone()], voice);
            }
        }
        true
    }
}
