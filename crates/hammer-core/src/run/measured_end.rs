//! The end of measured time where nothing but the loads' own numbers of operations ends it.

use hammer_measure::{Nanos, Now as _};

use crate::run::spec::RunSpec;
use crate::shard::ShardCommand;

use super::{APPLY_IN, Run};

/// The places of the loads where all of them are open; none where users of any wait for their answers.
pub(super) fn open_loads(spec: &RunSpec) -> Vec<usize> {
    // What is kept up beside the loads has steps alone, and ends with them.
    let is_load = |place: &usize| spec.lanes[*place].series().iter().any(|series| series.operation);
    let loads: Vec<usize> = (0..spec.lanes.len()).filter(is_load).collect();
    if loads.iter().any(|place| spec.lanes[*place].closed_loop()) { Vec::new() } else { loads }
}

impl Run<'_, '_> {
    /// The workload in that place has no arrival left on that shard.
    pub(super) fn lane_ended(&mut self, lane: usize, shard: usize) {
        self.lane_ends.ended(lane, shard);
        let at = self.spec.clock.now() + APPLY_IN;
        if self.measured_until.is_none() && self.lane_ends.have_all_ended() && at < self.arrivals_end() {
            self.measured_until = Some(at);
            self.threads.tell_shards(|| ShardCommand::MeasuredUntil(at));
        }
    }

    /// From when drain has its time: the end of arrivals, or where they ended by themselves, which cuts off nothing, the end of the last
    /// operation, at `now`.
    pub(super) fn drain_start(&self, now: Nanos) -> Nanos {
        if self.measured_until.is_some() && self.ended_at.is_none() { now } else { self.arrivals_end() }
    }
}
