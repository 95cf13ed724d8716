//! A log with its server, on threads of its own.

use std::{sync::Arc, time::Duration};

use hammer_lab::{
    Clock, FaultScript, LabError, LabHandle, LabStats,
    handle::{LabConfig, LabTarget},
    serve::ServePlan,
};

use super::{endpoint::RekorTilesTarget, log::TilesLog, plan::RekorTilesLabPlan};

/// A Rekor v2 that runs; its URL has no path.
pub type RekorTilesLabHandle = LabHandle<RekorTilesTarget>;

impl LabConfig for RekorTilesLabPlan {
    type Target = RekorTilesTarget;

    const THREAD: &'static str = "lab-rekor-tiles";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<RekorTilesTarget, LabError> {
        Ok(RekorTilesTarget { log: TilesLog::new(self, Arc::clone(clock))? })
    }
}

impl LabTarget for RekorTilesTarget {
    const CAN_LOSE_DATA: bool = true;

    fn with_own_stats(&self, stats: LabStats) -> LabStats {
        self.log.with_own_stats(stats)
    }

    fn restart(&self, now: Duration) {
        self.log.lies.restart(now);
    }
}
