//! What was signed of each tree, so that two roots of one size are found.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hammer_tlog::hash::Hash;

/// The roots that verified heads of a workload had, by origin and size. A smaller tree than before is none of its business: one
/// of several servers may be behind the others, and not every checkpoint says when it was signed.
#[derive(Debug, Default)]
pub struct LogHeads {
    of: Mutex<BTreeMap<String, BTreeMap<u64, Hash>>>,
}

impl LogHeads {
    /// Holds a root against that of the same size that was seen before.
    ///
    /// # Errors
    /// The other root.
    pub fn check(&self, origin: &str, size: u64, root: Hash) -> Result<(), Hash> {
        let mut logs = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        if !logs.contains_key(origin) {
            if logs.len() == MOST_LOGS {
                return Ok(());
            }
            logs.insert(origin.to_owned(), BTreeMap::new());
        }
        let Some(roots) = logs.get_mut(origin) else { return Ok(()) };
        match roots.get(&size) {
            Some(known) if *known == root => Ok(()),
            Some(known) => Err(*known),
            None => {
                if roots.len() == MOST_SIZES {
                    // The largest are what another server is likely to serve too.
                    roots.pop_first();
                }
                roots.insert(size, root);
                Ok(())
            }
        }
    }
}

const MOST_LOGS: usize = 64;
const MOST_SIZES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_size_has_one_root_and_another_log_or_size_its_own() {
        let (heads, one, other) = (LogHeads::default(), Hash([1; 32]), Hash([2; 32]));
        for (origin, size, root, is_kept) in [
            ("a", 5, one, true),
            ("a", 5, one, true),
            ("a", 4, other, true),
            ("b", 5, other, true),
            ("a", 5, other, false),
        ] {
            assert_eq!(heads.check(origin, size, root).is_ok(), is_kept, "{origin} {size}");
        }
    }

    #[test]
    fn what_is_kept_of_a_log_is_bounded() {
        let heads = LogHeads::default();
        for size in 0..2 * MOST_SIZES as u64 {
            heads.check("a", size, Hash([0; 32])).unwrap();
        }
        assert_eq!(heads.of.lock().unwrap()["a"].len(), MOST_SIZES);
    }
}
