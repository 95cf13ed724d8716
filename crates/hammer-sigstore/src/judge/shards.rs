//! Where the shards of Rekor v1 begin.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many entries of older shards stand before each shard of a log: the difference between the index of an entry over all shards and
/// its index in the tree of its own, which is the same of every entry of a shard (sigstore/rekor, `pkg/sharding`). The log signs both
/// indexes; that of the entry alone is in no proof. What the first entry of a shard said is what the others are held to.
#[derive(Debug, Default)]
pub(super) struct ShardOffsets {
    /// By the origin of the shard's checkpoints, which ends with the id of its tree.
    of: Mutex<BTreeMap<String, u64>>,
}

impl ShardOffsets {
    /// Whether an entry of the shard that has `index` over all shards can be that of `tree_index` in its tree.
    ///
    /// # Errors
    /// What contradicts it.
    pub(super) fn check(&self, origin: &str, index: u64, tree_index: u64) -> Result<(), String> {
        let offset = index.checked_sub(tree_index);
        let offset = offset.ok_or_else(|| format!("the entry says {index}, its proof {tree_index}"))?;
        let mut offsets = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = offsets.get(origin) else {
            if offsets.len() < MOST_SHARDS {
                offsets.insert(origin.to_owned(), offset);
            }
            return Ok(());
        };
        if *known == offset {
            return Ok(());
        }
        let before = tree_index.saturating_add(*known);
        Err(format!("the entry says {index}, and by an earlier entry of its shard it is {before}"))
    }
}

/// A log of more shards than that is not held to them.
const MOST_SHARDS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_a_shard_has_the_offset_of_its_first_and_shards_have_their_own() {
        let shards = ShardOffsets::default();
        assert_eq!(shards.check("log - 1", 7, 7), Ok(()));
        assert_eq!(shards.check("log - 2", 507, 7), Ok(()));
        for (origin, index, tree_index, is_kept) in [
            ("log - 1", 9, 9, true),
            ("log - 1", 10, 9, false),
            ("log - 1", 9, 9, true),
            ("log - 2", 510, 10, true),
            ("log - 2", 10, 10, false),
            ("log - 2", u64::MAX, 10, false),
            ("log - 3", 4, 5, false),
        ] {
            assert_eq!(
                shards.check(origin, index, tree_index).is_ok(),
                is_kept,
                "{origin} {index} {tree_index}"
            );
        }
    }

    #[test]
    fn no_more_shards_are_kept_than_any_log_has() {
        let shards = ShardOffsets::default();
        for shard in 0..=MOST_SHARDS {
            assert_eq!(shards.check(&shard.to_string(), 1, 1), Ok(()));
        }
        assert_eq!(shards.of.lock().unwrap().len(), MOST_SHARDS);
        assert!(shards.check("0", 2, 1).is_err());
    }
}
