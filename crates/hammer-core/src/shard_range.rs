//! Which of a run's shards are carried out here.

use std::ops::Range;

/// The shards `first..first + count` of `total`: all of a run, or the part of it that falls to this process.
///
/// What is sent, when, and within which bounds follows from a shard's number and the total alone. So processes whose ranges make up
/// the total share one plan: arrivals, users, shared operations, limits and connections are those of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardRange {
    first: usize,
    count: usize,
    total: usize,
}

/// Shards that a run does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("take {count} shards from {first} on of {total}: expected one at least, and none beyond the total")]
pub struct NoSuchShards {
    first: usize,
    count: usize,
    total: usize,
}

impl ShardRange {
    /// All of `total` shards, of which there is one at least.
    pub const fn whole(total: usize) -> Self {
        let total = if total == 0 { 1 } else { total };
        Self { first: 0, count: total, total }
    }

    /// `count` shards from `first` on, which counts from 0, of `total`.
    ///
    /// # Errors
    /// When there is none among them, or one beyond the total.
    pub fn part(first: usize, count: usize, total: usize) -> Result<Self, NoSuchShards> {
        let is_within = first.checked_add(count).is_some_and(|end| end <= total);
        if count > 0 && is_within {
            Ok(Self { first, count, total })
        } else {
            Err(NoSuchShards { first, count, total })
        }
    }

    /// How many are carried out here.
    pub const fn count(self) -> usize {
        self.count
    }

    /// How many the whole run has.
    pub const fn total(self) -> usize {
        self.total
    }

    /// Their numbers within the whole run.
    pub const fn numbers(self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

/// The whole of a run of one shard.
impl Default for ShardRange {
    fn default() -> Self {
        Self::whole(1)
    }
}

/// The whole of a run of so many shards.
impl From<usize> for ShardRange {
    fn from(total: usize) -> Self {
        Self::whole(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_numbers_within_the_whole() {
        let part = ShardRange::part(2, 2, 5).unwrap();
        assert_eq!((part.numbers(), part.count(), part.total()), (2..4, 2, 5));
        assert_eq!(ShardRange::whole(5), ShardRange::part(0, 5, 5).unwrap());
        assert_eq!(ShardRange::default().numbers(), 0..1);
        assert_eq!(ShardRange::whole(0), ShardRange::whole(1));
    }

    #[test]
    fn shards_that_a_run_does_not_have_are_refused() {
        for (first, count, total) in [(0, 0, 4), (3, 2, 4), (4, 1, 4), (usize::MAX, 1, 4), (0, 0, 0)] {
            let refused = ShardRange::part(first, count, total).unwrap_err();
            assert!(refused.to_string().starts_with("take "), "{refused}");
        }
    }
}
