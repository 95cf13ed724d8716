//! A Veraison with its server, on threads of its own.

use std::{sync::Arc, time::Duration};

use hammer_lab::{
    FaultScript, LabError, LabHandle, LabStats,
    clock::Clock,
    fault::TimedFault,
    handle::{LabConfig, LabTarget},
    serve::ServePlan,
};

use crate::{endpoint::AttestTarget, plan::AttestLabPlan};

/// A Veraison that runs; its URL has no path, and is that of provisioning and verification alike.
pub type AttestLabHandle = LabHandle<AttestTarget>;

impl LabConfig for AttestLabPlan {
    type Target = AttestTarget;

    const THREAD: &'static str = "lab-attest";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<AttestTarget, LabError> {
        AttestTarget::new(&self, Arc::clone(clock))
    }
}

impl LabTarget for AttestTarget {
    const CAN_LOSE_DATA: bool = true;

    fn with_own_stats(&self, stats: LabStats) -> LabStats {
        self.with_own_stats(stats)
    }

    fn restart(&self, now: Duration) {
        self.restart(now);
    }

    fn timed_faults(&self) -> Vec<TimedFault> {
        self.timed_faults()
    }
}
