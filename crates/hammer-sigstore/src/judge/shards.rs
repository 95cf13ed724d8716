//! Where the shards of Rekor v1 begin.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hammer_audit::Shards;

/// How many entries of older shards stand before each shard of a log: the difference between the index of an entry over all shards and
/// its index in the tree of its own, which is the same of every entry of a shard (sigstore/rekor, `pkg/sharding`). The log signs both
/// indexes; that of the entry alone is in no proof. Where the log is followed, its log information says how long the shards before are,
/// and all entries are held to that; else, and where a key signed one of those that nobody knows, what the first entry of a shard said is
/// what the others are held to.
#[derive(Debug, Default)]
pub(crate) struct ShardOffsets {
    /// By the origin of the shard's checkpoints, which ends with the id of its tree.
    of: Mutex<BTreeMap<String, u64>>,
    /// As log information has them. None where the log is not followed.
    stated: Option<Mutex<Shards>>,
}

impl ShardOffsets {
    /// Of a log that is followed.
    pub(crate) fn followed() -> Self {
        Self { stated: Some(Mutex::default()), ..Self::default() }
    }

    /// Takes the shards of the log as its information has them now.
    pub(crate) fn state(&self, shards: &Shards) {
        let Some(stated) = &self.stated else { return };
        let mut stated = stated.lock().unwrap_or_else(PoisonError::into_inner);
        if *stated != *shards {
            *stated = shards.clone();
        }
    }

    /// Whether an entry of the shard that has `index` over all shards can be that of `tree_index` in its tree.
    ///
    /// # Errors
    /// What contradicts it.
    pub(super) fn check(&self, origin: &str, index: u64, tree_index: u64) -> Result<(), String> {
        let offset = index.checked_sub(tree_index);
        let offset = offset.ok_or_else(|| format!("the entry says {index}, its proof {tree_index}"))?;
        if let Some(stated) = &self.stated {
            let stated = stated.lock().unwrap_or_else(PoisonError::into_inner);
            // What is not known yet is held against what is known when its checkpoint has joined the chain.
            let Some(tree) = tree_of(origin).filter(|_| stated.active != 0) else { return Ok(()) };
            if stated.offset(tree).is_some() {
                return check_stated(&stated, tree, (index, tree_index));
            }
        }
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

/// Whether an entry of a tree can have that index over all shards and in its tree, by the shards that log information has. A tree that
/// it does not name, or before which there is one that a known key did not sign, is none that anything could be said of.
pub(crate) fn check_stated(
    shards: &Shards,
    tree: u64,
    (index, tree_index): (u64, u64),
) -> Result<(), String> {
    let Some(offset) = shards.offset(tree) else { return Ok(()) };
    let expected = tree_index.saturating_add(offset);
    match expected == index {
        true => Ok(()),
        false => Err(format!("the entry says {index}, and by the log's shards it is {expected}")),
    }
}

/// The id of the tree in the origin of a checkpoint: `<hostname> - <tree id>`.
pub(crate) fn tree_of(origin: &str) -> Option<u64> {
    origin.rsplit_once(" - ")?.1.parse().ok()
}

/// A log of more shards than that is not held to them.
const MOST_SHARDS: usize = 1024;

#[cfg(test)]
mod tests {
    use hammer_audit::{HeadId, InactiveShard};
    use hammer_tlog::hash::Hash;

    use super::*;

    #[test]
    fn a_log_that_is_followed_is_held_to_its_own_shards_from_the_first_entry_on() {
        let shards = ShardOffsets::followed();
        assert_eq!(shards.check("log - 9", 3, 2), Ok(()), "nothing is known yet");
        let of = |tree, size| HeadId { tree, size, root: Hash([0; 32]) };
        let inactive = [of(7, 40), of(8, 2)].map(|head| InactiveShard {
            head,
            raw: Vec::new().into(),
            unverified: None,
        });
        shards.state(&Shards { active: 9, inactive: inactive.into() });
        for (origin, index, tree_index, is_kept) in [
            ("log - 9", 42, 0, true),
            ("log - 9", 43, 0, false),
            ("log - 9", 45, 3, true),
            ("log - 8", 41, 1, true),
            ("log - 8", 1, 1, false),
            ("log - 7", 5, 5, true),
            ("log - 6", 5, 1, true),
            ("a log", 5, 1, true),
        ] {
            assert_eq!(shards.check(origin, index, tree_index).is_ok(), is_kept, "{origin} {index}");
        }
    }

    #[test]
    fn a_shard_behind_one_of_an_unknown_key_is_held_to_its_first_entry() {
        let shards = ShardOffsets::followed();
        let inactive = InactiveShard {
            head: HeadId { tree: 7, size: 40, root: Hash([0; 32]) },
            raw: Vec::new().into(),
            unverified: Some("no key".into()),
        };
        shards.state(&Shards { active: 9, inactive: vec![inactive] });
        for (origin, index, tree_index, is_kept) in [
            ("log - 9", 43, 3, true),
            ("log - 9", 44, 4, true),
            ("log - 9", 46, 5, false),
            // Nothing stands before it.
            ("log - 7", 6, 5, false),
            ("log - 7", 5, 5, true),
            // It is not named yet.
            ("log - 10", 100, 2, true),
            ("log - 10", 101, 2, false),
        ] {
            assert_eq!(shards.check(origin, index, tree_index).is_ok(), is_kept, "{origin} {index}");
        }
    }

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
