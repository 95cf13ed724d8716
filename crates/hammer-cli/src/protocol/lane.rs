//! What a protocol needs to make a lane of one of its workloads.

use std::sync::Arc;

use hammer_core::dispatch::{LanePlan, Load, LoadedWorkload};
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::Workload;
use hammer_net::ClientConfig;
use http::Uri;

use super::RunPlan;
use super::service::OpenService;
use crate::plan::WorkloadPlan;
use crate::plan::client_fault::unusable;
use crate::plan::error::PlanError;
use crate::plan::path::PlanPath;

/// A workload of a plan, with its load and all services of the run.
pub(crate) struct LaneRequest<'a> {
    /// The run.
    pub(crate) planned: RunPlan<'a>,
    /// The workload.
    pub(crate) workload: &'a WorkloadPlan,
    /// Its place in the plan.
    pub(crate) place: usize,
    /// When it sends.
    pub(crate) load: Load,
    /// Most operations in flight; in a closed loop the most users.
    pub(crate) in_flight: usize,
    /// Connections that are dialled before the first arrival.
    pub(crate) warm_up: usize,
    /// The services of all protocols.
    pub(crate) services: &'a [OpenService],
}

impl LaneRequest<'_> {
    /// Where the plan has the section `key` of the workload.
    pub(crate) fn at(&self, key: &str) -> PlanPath {
        PlanPath::workload(self.place).key(key)
    }

    /// The client of `endpoints`, as the plan reaches the service of that name.
    ///
    /// # Errors
    /// When there can be no such client.
    pub(crate) fn client(&self, service: Option<&str>, endpoints: &[Uri]) -> Result<ClientConfig, PlanError> {
        let plan = self.planned.plan;
        let config =
            plan.target.client(service, endpoints.to_vec(), self.in_flight, plan.seed ^ self.place as u64)?;
        config.check().map_err(|error| unusable(&plan.target, service, error))?;
        Ok(config)
    }

    /// The workload as the protocol made it, with its load.
    pub(crate) fn with<W: Workload>(self, workload: W) -> Arc<dyn LanePlan<ThreadedRuntime>> {
        Arc::new(LoadedWorkload {
            name: self.workload.name.to_string(),
            workload: Arc::new(workload),
            load: self.load,
            timeout: self.workload.timeout.duration().into(),
            supply: SupplyBounds::default(),
        })
    }
}
