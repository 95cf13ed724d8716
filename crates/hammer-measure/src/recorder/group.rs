//! Operations by group of users.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::outcome::{Fate, Outcome};
use crate::timing::{Nanos, Timing};

/// A group of the users of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserGroup {
    /// Which, from 0.
    pub place: usize,
    /// How many groups there are.
    pub of: usize,
}

/// What the users of a group did that ended by an answer, a failure or its deadline. Records add up: over shards and over intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupRecord {
    /// Operations.
    pub completed: u64,
    /// Those that were accepted.
    pub accepted: u64,
    /// Done − intended, added up over them.
    pub time: Nanos,
    /// The longest of these.
    pub longest: Nanos,
    /// When the longest was done, of equal ones the first.
    pub longest_done: Nanos,
}

impl GroupRecord {
    pub(super) fn ended(&mut self, timing: &Timing, outcome: Outcome) {
        if !Fate::from(outcome).timed() {
            return;
        }
        let time = timing.response_time();
        self.add(&Self {
            completed: 1,
            accepted: u64::from(outcome == Outcome::Accepted),
            time,
            longest: time,
            longest_done: timing.done(),
        });
    }

    /// Adds what another group, another shard or a later interval recorded.
    pub fn add(&mut self, other: &Self) {
        let rank = |of: &Self| (of.completed > 0).then_some((of.longest, Reverse(of.longest_done)));
        if rank(other) > rank(self) {
            (self.longest, self.longest_done) = (other.longest, other.longest_done);
        }
        self.completed += other.completed;
        self.accepted += other.accepted;
        self.time = self.time.saturating_add(other.time);
    }

    /// Whether a recorder could have written it.
    fn is_whole(&self) -> bool {
        let is_empty = *self == Self::default();
        let is_of_some = self.completed > 0 && self.longest <= self.time;
        self.accepted <= self.completed && (is_empty || is_of_some)
    }
}

/// The record of `group` among `groups`, of which there are as many as it says from then on.
pub(super) fn record_of(groups: &mut Vec<GroupRecord>, group: UserGroup) -> &mut GroupRecord {
    // They were as many in the intervals before, and their room was kept.
    groups.resize(group.of.max(group.place + 1), GroupRecord::default());
    &mut groups[group.place]
}

/// Adds what another shard, or a later interval, recorded of the same groups.
pub(super) fn merge(ours: &mut Vec<GroupRecord>, theirs: &[GroupRecord]) {
    if ours.len() < theirs.len() {
        ours.resize(theirs.len(), GroupRecord::default());
    }
    ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| ours.add(theirs));
}

/// Whether recorders could have written them.
pub(super) fn are_whole(groups: &[GroupRecord]) -> bool {
    groups.len() <= MOST_GROUPS && groups.iter().all(GroupRecord::is_whole)
}

/// Groups that the users of a workload may be divided into.
pub const MOST_GROUPS: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn record(completed: u64, time: u64, longest: u64, longest_done: u64) -> GroupRecord {
        let [time, longest, longest_done] = [time, longest, longest_done].map(Nanos);
        GroupRecord { completed, accepted: 0, time, longest, longest_done }
    }

    #[test]
    fn the_order_in_which_records_are_merged_leaves_no_trace() {
        let parts = [record(2, 9, 7, 50), record(0, 0, 0, 0), record(1, 7, 7, 40), record(3, 6, 3, 10)];
        let merged = |order: [usize; 4]| {
            let mut all = Vec::new();
            order.iter().for_each(|place| merge(&mut all, &[GroupRecord::default(), parts[*place]]));
            all
        };
        assert_eq!(merged([0, 1, 2, 3]), [GroupRecord::default(), record(6, 22, 7, 40)]);
        assert_eq!(merged([3, 2, 1, 0]), merged([0, 1, 2, 3]));
    }

    #[test]
    fn what_no_recorder_wrote_is_not_whole() {
        assert!(are_whole(&[record(2, 9, 7, 50), GroupRecord::default()]));
        assert!(!are_whole(&[record(2, 6, 7, 50)]), "the longest is longer than all of them");
        assert!(!are_whole(&[record(0, 6, 5, 50)]), "there is a time of none");
        assert!(!are_whole(&[GroupRecord { accepted: 3, ..record(2, 9, 7, 50) }]));
        assert!(!are_whole(&vec![GroupRecord::default(); MOST_GROUPS + 1]));
    }
}
