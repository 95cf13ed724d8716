//! Which workloads have no arrival left: a command reaches nothing there.

use std::collections::BTreeSet;

/// What the shards told of the ends of their lanes.
#[derive(Debug)]
pub(super) struct LaneEnds {
    shards: usize,
    /// The lanes whose load ends by itself, whatever becomes of it; none where any load waits for its answers.
    open: Vec<usize>,
    /// Lane and shard, by their places.
    ended: BTreeSet<(usize, usize)>,
}

impl LaneEnds {
    /// Of lanes on so many shards, which all have arrivals left.
    pub(super) fn on(shards: usize) -> Self {
        Self { shards, open: Vec::new(), ended: BTreeSet::new() }
    }

    /// The same, where the loads are those lanes and all of them are open.
    #[must_use]
    pub(super) fn of_open(self, open: Vec<usize>) -> Self {
        Self { open, ..self }
    }

    /// The lane has no arrival left on that shard.
    pub(super) fn ended(&mut self, lane: usize, shard: usize) {
        self.ended.insert((lane, shard));
    }

    /// Whether the lane has none left on any shard.
    pub(super) fn has_ended(&self, lane: usize) -> bool {
        self.ended.range((lane, 0)..(lane + 1, 0)).count() == self.shards
    }

    /// Whether every load is open and has none left: nothing more arrives, whatever is waiting or under way.
    pub(super) fn have_all_ended(&self) -> bool {
        !self.open.is_empty() && self.open.iter().all(|lane| self.has_ended(*lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_has_ended_once_it_has_on_every_shard() {
        let mut ends = LaneEnds::on(2);
        ends.ended(1, 0);
        ends.ended(1, 0);
        ends.ended(0, 1);
        assert!(!ends.has_ended(0) && !ends.has_ended(1));
        ends.ended(1, 1);
        assert!(!ends.has_ended(0) && ends.has_ended(1));
        assert!(!ends.have_all_ended(), "users who wait for their answers say themselves when they are done");
    }

    #[test]
    fn open_loads_have_ended_once_the_last_of_them_has() {
        // Between them stands what is kept up beside them, and ends with them.
        let mut ends = LaneEnds::on(1).of_open(vec![0, 2]);
        ends.ended(2, 0);
        assert!(!ends.have_all_ended());
        ends.ended(0, 0);
        assert!(ends.have_all_ended());
    }
}
