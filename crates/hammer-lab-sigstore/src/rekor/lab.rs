//! A log with its server, on threads of its own.

use std::{sync::Arc, time::Duration};

use hammer_lab::fault::TimedFault;
use hammer_lab::{
    Clock, FaultScript, LabError, LabHandle, LabStats,
    handle::{LabConfig, LabTarget},
    serve::ServePlan,
};

use hammer_values::TimeSpan;

use super::{endpoint::RekorTarget, log::RekorLog, plan::RekorLabPlan};

/// A Rekor v1 that runs; its URL has no path.
pub type RekorLabHandle = LabHandle<RekorTarget>;

impl LabConfig for RekorLabPlan {
    type Target = RekorTarget;

    const THREAD: &'static str = "lab-rekor";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<RekorTarget, LabError> {
        Ok(RekorTarget { log: RekorLog::new(self, Arc::clone(clock))? })
    }
}

impl LabTarget for RekorTarget {
    const CAN_LOSE_DATA: bool = true;

    fn with_own_stats(&self, stats: LabStats) -> LabStats {
        self.log.with_own_stats(stats)
    }

    fn restart(&self, now: Duration) {
        self.log.restart(now);
    }

    fn timed_faults(&self) -> Vec<TimedFault> {
        let hang = self.log.plan.hang.iter();
        let hang = hang.filter(|hang| hang.at > TimeSpan::ZERO || hang.duration.is_some());
        hang.flat_map(|hang| TimedFault::lasting(hang.at, hang.duration, "create-entry hanging")).collect()
    }
}
