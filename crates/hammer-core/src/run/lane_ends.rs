//! Which workloads have no arrival left: a command reaches nothing there.

use std::collections::BTreeSet;

/// What the shards told of the ends of their lanes.
#[derive(Debug)]
pub(super) struct LaneEnds {
    shards: usize,
    /// Lane and shard, by their places.
    ended: BTreeSet<(usize, usize)>,
}

impl LaneEnds {
    /// Of lanes on so many shards, which all have arrivals left.
    pub(super) fn on(shards: usize) -> Self {
        Self { shards, ended: BTreeSet::new() }
    }

    /// The lane has no arrival left on that shard.
    pub(super) fn ended(&mut self, lane: usize, shard: usize) {
        self.ended.insert((lane, shard));
    }

    /// Whether the lane has none left on any shard.
    pub(super) fn has_ended(&self, lane: usize) -> bool {
        self.ended.range((lane, 0)..(lane + 1, 0)).count() == self.shards
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
    }
}
