//! Which workloads a log is followed for: how many there may be, and how long what is served may lag.

use std::time::Duration;

use hammer_audit::MOST_LINKS;
use hammer_sigstore::{RekorVersion, ServiceReadKind, ServiceReadPlan};
use hammer_values::TimeSpan;

use super::sections::{read, signs, verifies};
use crate::plan::{Plan, WorkloadPlan};

/// The workloads of a plan that an auditor has to tell apart: those of Rekor v1, and of Rekor v2.
#[derive(Debug)]
pub(super) struct FollowingLinks {
    /// Whether that log is followed at all.
    is_followed: [bool; 2],
    links: [usize; 2],
}

impl FollowingLinks {
    /// None yet.
    pub(super) fn of(plan: &Plan) -> Self {
        let is_followed = [false, true].map(|on_tiles| lags_at_most(plan, on_tiles).is_some());
        Self { is_followed, links: [0; 2] }
    }

    /// Counts one in; whether all that were have room.
    pub(super) fn has_room_for(&mut self, workload: &WorkloadPlan) -> bool {
        for on_tiles in [false, true] {
            let place = usize::from(on_tiles);
            let writes = signs(workload).is_some_and(|plan| plan.audit && is_on(plan.rekor, on_tiles));
            let reads = verifies(workload).is_some_and(|plan| plan.audit && plan.is_on_tiles() == on_tiles);
            let reads = reads && self.is_followed[place];
            // Of Rekor v2 artifacts and checkpoints are promises of their own.
            let of_reads = if on_tiles { 2 } else { 1 };
            self.links[place] += usize::from(writes) + of_reads * usize::from(reads);
        }
        self.links.iter().all(|links| *links <= MOST_LINKS)
    }
}

/// Whether that is the Rekor on tiles, or the other one.
fn is_on(rekor: RekorVersion, on_tiles: bool) -> bool {
    if on_tiles { rekor.is_on_tiles() } else { rekor == RekorVersion::V1 }
}

/// How long what is served of either log may lag behind what was answered; none where a run does not follow that log. It follows those whose
/// heads it is shown, by flows or by reads.
pub(super) fn lags_at_most(plan: &Plan, on_tiles: bool) -> Option<Duration> {
    let of_reads = plan.workloads.iter().filter_map(read).filter(|plan| reads_heads(plan, on_tiles));
    let of_flows = flows(plan, on_tiles).map(|(_, missing_after)| missing_after);
    of_flows.chain(of_reads.map(|plan| plan.missing_after)).map(TimeSpan::duration).max()
}

/// Whether that log is to be read: flows are audited by it, or its heads are read.
pub(super) fn is_read(plan: &Plan, on_tiles: bool) -> bool {
    let mut reads = plan.workloads.iter().filter_map(read);
    is_audited(plan, on_tiles) || reads.any(|plan| reads_heads(plan, on_tiles))
}

/// Whether entries of that log are looked for, and not its heads alone.
pub(super) fn is_audited(plan: &Plan, on_tiles: bool) -> bool {
    flows(plan, on_tiles).any(|(is_audited, _)| is_audited)
}

/// The workloads whose flows are on that log: whether they are audited, and how long each waits for entries.
fn flows(plan: &Plan, on_tiles: bool) -> impl Iterator<Item = (bool, TimeSpan)> {
    let signs = plan.workloads.iter().filter_map(signs).filter(move |plan| is_on(plan.rekor, on_tiles));
    let verifies =
        plan.workloads.iter().filter_map(verifies).filter(move |plan| plan.is_on_tiles() == on_tiles);
    let signs = signs.map(|plan| (plan.audit, plan.missing_after));
    signs.chain(verifies.map(|plan| (plan.audit, plan.missing_after)))
}

fn reads_heads(plan: &ServiceReadPlan, on_tiles: bool) -> bool {
    use ServiceReadKind::{Bundle, Checkpoint, LogInfo, LogProof, Tile};
    plan.mix.drawn().any(|(kind, _)| match kind {
        LogInfo | LogProof => !on_tiles,
        Checkpoint | Tile | Bundle => on_tiles,
        _ => false,
    })
}
