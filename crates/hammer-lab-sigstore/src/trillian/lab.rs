//! A log with its server, on threads of its own.

use std::{sync::Arc, time::Duration};

use hammer_lab::{
    Clock, FaultScript, LabError, LabHandle, LabStats,
    handle::{LabConfig, LabTarget},
    serve::ServePlan,
};

use super::{endpoint::TrillianTarget, log::TrillianLog, plan::TrillianLabPlan};

/// A Trillian that runs; its URL has no path.
pub type TrillianLabHandle = LabHandle<TrillianTarget>;

impl LabConfig for TrillianLabPlan {
    type Target = TrillianTarget;

    const THREAD: &'static str = "lab-trillian";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<TrillianTarget, LabError> {
        Ok(TrillianTarget { log: TrillianLog::new(self, Arc::clone(clock)) })
    }
}

impl LabTarget for TrillianTarget {
    fn with_own_stats(&self, stats: LabStats) -> LabStats {
        self.log.with_own_stats(stats)
    }

    fn restart(&self, now: Duration) {
        self.log.lies.restart(now);
    }
}
