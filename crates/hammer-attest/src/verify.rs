//! Verification: sessions with their evidence, one flow after another.

mod draw;
mod flow;
mod op;
mod series;
mod session;

use std::sync::Arc;

use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_exchange::ServiceConfig;
use hammer_measure::Nanos;
use hammer_net::ClientConfig;
use hammer_synth::Seed;

use crate::device_class::DeviceClass;
use crate::devices::{DeviceScratch, Devices, TokenNumber};
use crate::error::AttestError;
use crate::flow_waits::FlowWaits;
use crate::judge::Judge;
use crate::plan::{NonceSource, VerifyPlan};
use crate::provision::{Endorser, SubmitConfig};
use crate::provisioned::ProvisionedDevices;
use crate::target::{AttestRun, AttestTarget};

use draw::DeviceDraws;
pub use op::VerifyOp;
use series::VerifySeries;
pub use session::VerifySession;

/// Verifies devices. Each result is a promise of its class of devices, judged beside the load.
pub struct VerifyWorkload {
    plan: VerifyPlan,
    devices: Arc<Devices>,
    draws: DeviceDraws,
    provisioned: Arc<ProvisionedDevices>,
    provisioning_delay: Nanos,
    nonces: SessionNonces,
    /// Of its tokens.
    stream: u64,
    verification: ServiceConfig,
    new_session: String,
    /// Of users who provision a device as they enter.
    submit: Option<(Endorser, SubmitConfig)>,
    series: VerifySeries,
    judge: Judge,
    waits: Arc<FlowWaits>,
}

/// The nonces by which a workload asks for its sessions, where it chooses them.
#[derive(Clone, Debug)]
pub struct SessionNonces(Seed);

impl SessionNonces {
    /// Those of a seed, for the workload at that place of the plan.
    pub fn of(seed: u64, workload: u64) -> Self {
        Self(Seed::from_u64(seed).child("attestation sessions", workload))
    }

    /// The nonce of an operation: 32 bytes, which every profile of tokens has room for.
    pub fn nonce(&self, seq: u64) -> [u8; 32] {
        self.0.derive("nonce", seq)
    }
}

impl VerifyWorkload {
    /// Flows of `plan`, by a client of verification, and of provisioning where users provision as they enter; their connections are those of
    /// the whole run and are split over the shards.
    ///
    /// # Errors
    /// When a service does not say what flows live by.
    pub fn new(
        plan: &VerifyPlan,
        target: &AttestTarget,
        run: &AttestRun,
        (verification, provisioning): (ClientConfig, Option<ClientConfig>),
    ) -> Result<Self, AttestError> {
        let devices = Devices::new(run.seed, plan.devices.stream, plan.devices.models());
        let new_session = target.session_path()?.to_owned();
        if !target.verification.documents.iter().any(|document| document.takes(&plan.evidence_type)) {
            return Err(AttestError::EvidenceType(plan.evidence_type.clone()));
        }
        let provisioned = target.provisioned.of(run.seed, &plan.devices);
        let submit = provisioning.map(|client| -> Result<_, AttestError> {
            let endorser = Endorser::new(devices.clone(), None, target)?;
            let submit = SubmitConfig::new(&endorser, target, provisioned.clone(), client)?;
            Ok((endorser, submit))
        });
        Ok(Self {
            draws: DeviceDraws::new(plan, provisioned.clone(), run),
            provisioned,
            provisioning_delay: target.provisioning_delay.into(),
            nonces: SessionNonces::of(run.seed, run.workload),
            stream: run.workload,
            verification: ServiceConfig::new(VERIFICATION, verification),
            new_session,
            submit: submit.transpose()?,
            series: VerifySeries::of(plan),
            waits: target.waits.clone(),
            judge: Judge::new(target, devices.clone(), run, plan.nonce),
            plan: plan.clone(),
            devices: Arc::new(devices),
        })
    }

    /// Has flows draw those of `devices.count` alone that a service took in, since somebody of the plan provisions them.
    #[must_use]
    pub fn of_provisioned(mut self, is_known: bool) -> Self {
        self.draws.is_of_provisioned = is_known;
        self
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight; all of them
    /// unless this is called.
    #[must_use]
    pub fn warm_up(mut self, connections: usize) -> Self {
        self.verification.warm_up = connections;
        if let Some((_, submit)) = &mut self.submit {
            submit.service.warm_up = connections;
        }
        self
    }

    /// Waits for the first device that somebody provisions: users of a closed loop would else come back at once, and again.
    async fn drawn(&self, session: &VerifySession, op: &mut VerifyOp) -> Result<u64, Ended> {
        let settled = Nanos(2 * self.provisioning_delay.0);
        let came = session.clock.now();
        let deadline = came.saturating_add(settled.max(LONGEST_WAIT));
        loop {
            if let Some(device) = op.device.or_else(|| self.draws.device(op.seq, op.class)) {
                op.device = Some(device);
                self.waits.add(session.clock.now().since(came));
                return Ok(device);
            }
            let now = session.clock.now();
            if now >= deadline {
                return Err(session::NOTHING_PROVISIONED);
            }
            session.clock.sleep_until(now.saturating_add(LOOK_EVERY)).await;
        }
    }

    const fn token(&self, seq: u64) -> TokenNumber {
        TokenNumber { stream: self.stream, seq }
    }
}

impl Workload for VerifyWorkload {
    type Op = Box<VerifyOp>;
    type Session = VerifySession;
    type User = ();
    type Scratch = DeviceScratch;

    fn series(&self) -> Vec<SeriesSpec> {
        self.series.specs()
    }

    fn preparation(&self) -> Preparation {
        Preparation::Ahead
    }

    fn scratch(&self, shards: usize) -> DeviceScratch {
        DeviceScratch::striding(self.plan.devices.step(), shards as u64)
    }

    /// Signs evidence ahead, where device and nonce are known by then. Which devices were provisioned is known late: it is asked as the
    /// operation is prepared.
    fn prepare(&self, scratch: &mut DeviceScratch, seq: u64, reuse: Option<Box<VerifyOp>>) -> Box<VerifyOp> {
        let mut op = reuse.unwrap_or_default();
        let class = self.draws.class(seq);
        op.start(seq, class, self.draws.device(seq, class));
        let nonce = match (self.plan.nonce, op.device) {
            (NonceSource::Own, _) => Some(self.nonces.nonce(seq)),
            (NonceSource::Device, Some(device)) => Some(self.devices.nonce(device)),
            (NonceSource::Device, None) | (NonceSource::Service, _) => None,
        };
        if let Some(nonce) = nonce {
            op.nonce.extend_from_slice(&nonce);
        }
        if let (Some(device), Some(_)) = (op.device, nonce) {
            let token = match self.plan.nonce {
                // The same token each time.
                NonceSource::Device => TokenNumber { stream: OF_DEVICES, seq: device },
                _ => self.token(seq),
            };
            op.sign(&self.devices, self.plan.profile.into(), token, scratch);
        }
        op
    }

    fn weight(&self, op: &Box<VerifyOp>) -> usize {
        size_of::<VerifyOp>() + op.evidence.capacity()
    }

    async fn open(&self, context: ShardContext) -> Result<VerifySession, FatalError> {
        let verification = self.verification.open(&context).await?;
        // What a fill or an earlier run has just provisioned settles before the first arrival, and not at the expense of those that come first.
        if self.provisioned.has_fresh() {
            context.clock.sleep_until(context.clock.now().saturating_add(self.provisioning_delay)).await;
            self.provisioned.settle();
        }
        let submit = match &self.submit {
            Some((endorser, submit)) => Some((endorser.clone(), submit.open(&context).await?)),
            None => None,
        };
        Ok(VerifySession::new(verification, submit, (&self.plan, &self.new_session), &context)?)
    }

    async fn enter(&self, session: &VerifySession, user: u64, record: &OperationRecord) -> Result<(), Ended> {
        match self.series.provision {
            Some(series) => session.provision(self.plan.devices.index(user, 0), record.step(series)).await,
            None => Ok(()),
        }
    }

    async fn execute(
        &self,
        session: &VerifySession,
        (): &(),
        op: &mut Box<VerifyOp>,
        record: &OperationRecord,
    ) -> Ended {
        let ended = self.flow(session, op, record).await;
        // They hold on to the buffer that the connection read them into.
        op.answer.headers.clear();
        ended.unwrap_or_else(|ended| ended)
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &DeviceClass::NAMES
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(self.judge.verifier())
    }
}

/// The service by whose name the report tells of its connections.
const VERIFICATION: &str = "verification";
/// How long a flow waits for something to verify, and how often it looks.
const LONGEST_WAIT: Nanos = Nanos::from_secs(5);
const LOOK_EVERY: Nanos = Nanos::from_millis(10);
/// The stream of tokens that follow from their devices alone, which no workload has.
const OF_DEVICES: u64 = u64::MAX;
