//! Provisioning: endorsements of one device after another.

use std::fmt;

use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_net::{Answer, Body, BodyBuffer, ClientConfig, Request};

use crate::devices::{DeviceMaterial, DeviceScratch, Devices};
use crate::error::AttestError;
use crate::plan::{DevicesPlan, ProvisionPlan};
use crate::target::{AttestRun, AttestTarget};

mod endorser;
mod submit;
mod submitted;

pub(crate) use endorser::Endorser;
pub use submit::ProvisionSession;
pub(crate) use submit::SubmitConfig;
pub use submitted::{KNOWN, submitted};

/// Submits the endorsements of devices.
pub struct ProvisionWorkload {
    plan: DevicesPlan,
    /// The first device that no earlier run provisioned, nor the fill.
    next: u64,
    endorser: Endorser,
    submit: SubmitConfig,
}

/// The endorsements of a device, and the room for the answer.
#[derive(Default)]
pub struct ProvisionOp {
    index: u64,
    material: DeviceMaterial,
    corim: BodyBuffer,
    request: Option<Request>,
    answer: Answer,
}

impl ProvisionWorkload {
    /// Submissions of `plan`, by a client whose connections are those of the whole run and are split over the shards.
    ///
    /// # Errors
    /// When the service takes no such endorsements, or who signs them cannot be read.
    pub fn new(
        plan: &ProvisionPlan,
        target: &AttestTarget,
        run: &AttestRun,
        client: ClientConfig,
    ) -> Result<Self, AttestError> {
        let devices = Devices::new(run.seed, plan.devices.stream, plan.devices.models());
        let endorser = Endorser::new(devices, plan.signer.as_ref(), target)?;
        let provisioned = target.provisioned.of(run.seed, &plan.devices);
        let next = provisioned.end();
        let submit = SubmitConfig::new(&endorser, target, provisioned, client)?;
        Ok(Self { plan: plan.devices.clone(), next, endorser, submit })
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight; all of them
    /// unless this is called.
    #[must_use]
    pub fn warm_up(mut self, connections: usize) -> Self {
        self.submit.service.warm_up = connections;
        self
    }
}

impl Workload for ProvisionWorkload {
    type Op = Box<ProvisionOp>;
    type Session = ProvisionSession;
    type User = ();
    type Scratch = DeviceScratch;

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("provision", true)]
    }

    fn preparation(&self) -> Preparation {
        Preparation::Ahead
    }

    fn scratch(&self, shards: usize) -> DeviceScratch {
        DeviceScratch::striding(self.plan.step() * shards as u64, shards as u64)
    }

    fn prepare(
        &self,
        scratch: &mut DeviceScratch,
        seq: u64,
        reuse: Option<Box<ProvisionOp>>,
    ) -> Box<ProvisionOp> {
        let mut op = reuse.unwrap_or_default();
        let ProvisionOp { index, material, corim, request, .. } = &mut *op;
        *index = self.plan.index(seq, self.next);
        // The body of the last one borrows the buffer.
        if let Some(request) = request {
            request.body = Body::empty();
        }
        corim.rewrite(|out| self.endorser.write(*index, material, scratch, out));
        op
    }

    fn weight(&self, op: &Box<ProvisionOp>) -> usize {
        size_of::<ProvisionOp>() + op.corim.capacity()
    }

    async fn open(&self, context: ShardContext) -> Result<ProvisionSession, FatalError> {
        Ok(self.submit.open(&context).await?)
    }

    async fn execute(
        &self,
        session: &ProvisionSession,
        (): &(),
        op: &mut Box<ProvisionOp>,
        record: &OperationRecord,
    ) -> Ended {
        let ProvisionOp { index, corim, request, answer, .. } = &mut **op;
        record.is_of("device", || *index);
        let request = request.get_or_insert_with(|| session.request());
        request.body = corim.body();
        session.submit(*index, request, answer, record.exchange()).await.unwrap_or_else(|ended| ended)
    }
}

impl fmt::Debug for ProvisionOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProvisionOp").field("index", &self.index).finish_non_exhaustive()
    }
}
