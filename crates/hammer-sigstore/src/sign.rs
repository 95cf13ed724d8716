//! Sign flows: a certificate of Fulcio, an entry in Rekor, a timestamp, each step a series of its own.

mod exchange;
mod op;
mod series;
mod services;
mod session;

use std::sync::Arc;

use hammer_audit::AuditLink;
use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_exchange::stock::ShardTokens;
use hammer_exchange::{ServiceConfig, WallTime};
use hammer_net::ClientConfig;

use crate::bundle::files::BundleFiles;
use crate::corpus::entry::CorpusLog;
use crate::corpus::{Corpus, CorpusSink};
use crate::error::SigstoreError;
use crate::followed_heads::FollowedHeads;
use crate::judge::Judge;
use crate::judge::rekor_log::follow_link::FollowLink;
use crate::material::{FixedArtifact, FlowMaterials, FlowScratch};
use crate::plan::{FulcioInterface, RekorVersion, SignPlan, TimestampFormat};
use crate::promise::SigstorePromise;
use crate::run::SigstoreRun;
use crate::target::{SigstoreService, SigstoreTarget};
use crate::tokens::FlowTokens;

pub use op::SignOp;
pub use session::SignSession;

use series::SignSeries;
use services::SignServices;

/// Signs: each operation is a flow of [`SignPlan`]. What it is answered with are promises, judged by a [`Judge`].
pub struct SignWorkload {
    plan: SignPlan,
    materials: FlowMaterials,
    tokens: Option<Arc<FlowTokens>>,
    wall: WallTime,
    /// By whom certificates have to say that their token was issued; empty where it is not known.
    certified_issuer: String,
    /// What certificates have to name, where the plan states it.
    certified_subject: Option<String>,
    workload: u64,
    series: SignSeries,
    services: SignServices,
    judge: Judge,
    /// The corpus that it fills, where it does.
    corpus: Option<CorpusSink>,
    /// Whether verify flows of this run read what it gets logged in Rekor v2.
    is_read: bool,
    epoch_unix_ms: u64,
    /// Where the bundles of the first flows go.
    bundles: Option<Arc<BundleFiles>>,
}

/// What a thread that prepares flows holds on to; what is prepared does not depend on it.
#[derive(Debug, Default)]
pub struct SignScratch {
    flow: FlowScratch,
    tokens: hammer_oauth::jwt::MintScratch,
}

impl SignWorkload {
    /// Flows of `plan`. `client` makes the client of a service from its endpoints; its connections are those of the whole run, and are
    /// split over the shards.
    ///
    /// # Errors
    /// When a service is missing, or what its answers would be held against; when `client` fails.
    pub fn new<E: From<SigstoreError>>(
        plan: &SignPlan,
        target: &SigstoreTarget,
        run: &SigstoreRun,
        mut client: impl FnMut(SigstoreService) -> Result<ClientConfig, E>,
    ) -> Result<Self, E> {
        target.can_judge(plan)?;
        let mut service = |service: Option<SigstoreService>| -> Result<Option<ServiceConfig>, E> {
            let Some(service) = service else { return Ok(None) };
            Ok(Some(ServiceConfig::new(service.name(), client(service)?)))
        };
        let services = SignServices {
            fulcio: service(SigstoreService::of_fulcio(plan.fulcio))?,
            rekor: service(SigstoreService::of_rekor(plan.rekor))?,
            timestamp: service(plan.timestamp.then_some(SigstoreService::Timestamp))?,
        };
        let count = |pool: Option<hammer_values::Count>| pool.map(|pool| pool.get() as u64);
        let stream = plan.stream.unwrap_or(run.workload);
        Ok(Self {
            plan: plan.clone(),
            materials: FlowMaterials::new(run.seed, stream, count(plan.identities), count(plan.artifacts))
                .signing(plan.artifact_file.as_deref().map(FixedArtifact::read).transpose()?)
                .of_form(plan.request, plan.entry)
                .for_steps(plan.fulcio != FulcioInterface::None, plan.timestamp),
            tokens: match plan.fulcio {
                FulcioInterface::None => None,
                _ => Some(target.tokens.clone().ok_or(SigstoreError::NO_TOKENS)?),
            },
            wall: WallTime { epoch_unix_ms: run.epoch_unix_ms },
            certified_issuer: target.certified_issuer.clone().unwrap_or_default(),
            certified_subject: target.certified_subject.clone(),
            workload: run.workload,
            series: SignSeries::of(plan),
            services,
            judge: Judge::new(target.trust.clone(), run.epoch_unix_ms),
            corpus: None,
            is_read: false,
            epoch_unix_ms: run.epoch_unix_ms,
            bundles: None,
        })
    }

    /// How many connections of the whole run to each service are established before the first arrival, where that many can be in
    /// flight; all of them unless this is called.
    #[must_use]
    pub fn warm_up(mut self, connections: usize) -> Self {
        let SignServices { fulcio, rekor, timestamp } = &mut self.services;
        let services = fulcio.iter_mut().chain(rekor).chain(timestamp);
        services.for_each(|service| service.warm_up = connections);
        self
    }

    /// Adds every entry that is accepted to a corpus.
    #[must_use]
    pub fn filling(self, corpus: CorpusSink) -> Self {
        Self { corpus: Some(corpus), ..self }
    }

    /// Keeps what it gets logged in Rekor v2 for verify flows of this run; what is logged in Rekor v1 always is.
    #[must_use]
    pub fn read_back(self) -> Self {
        Self { is_read: true, ..self }
    }

    /// Has the first flows leave bundles there.
    #[must_use]
    pub fn bundles(self, files: Arc<BundleFiles>) -> Self {
        Self { judge: self.judge.with_bundles(files.clone()), bundles: Some(files), ..self }
    }

    /// Has every accepted entry of Rekor v2 audited: its promise is pending until it was found in its bundle.
    #[must_use]
    pub fn audited(self, audit: AuditLink) -> Self {
        Self { judge: self.judge.audited(audit), ..self }
    }
}

impl SignWorkload {
    /// Has what Rekor v1 answers followed: the promise of an entry is pending until its checkpoint was joined to the log's tree.
    #[must_use]
    pub fn followed(self, follow: FollowLink) -> Self {
        Self { judge: self.judge.followed(follow), ..self }
    }

    /// Hands the heads that it is shown to whoever follows the logs, without a promise that waits for them.
    #[must_use]
    pub fn heads(self, followed: FollowedHeads) -> Self {
        Self { judge: self.judge.showing(followed), ..self }
    }
}

impl Workload for SignWorkload {
    type Op = Box<SignOp>;
    type Session = SignSession;
    type User = ();
    type Scratch = SignScratch;

    fn series(&self) -> Vec<SeriesSpec> {
        self.series.specs()
    }

    fn preparation(&self) -> Preparation {
        Preparation::Ahead
    }

    fn scratch(&self, shards: usize) -> SignScratch {
        SignScratch { flow: FlowScratch::of_one_among(shards), ..SignScratch::default() }
    }

    fn prepare(&self, scratch: &mut SignScratch, seq: u64, reuse: Option<Box<SignOp>>) -> Box<SignOp> {
        let mut op = reuse.unwrap_or_default();
        let subject = self.tokens.as_ref().and_then(|tokens| tokens.subject());
        op.seq = seq;
        self.materials.write(seq, subject, &mut scratch.flow, &mut op.material);
        let has_token = self.tokens.as_ref().is_some_and(|tokens| {
            tokens.write((self.workload, seq), &op.material, &mut scratch.tokens, &mut op.token)
        });
        op.prepare(&self.plan, TimestampFormat::Der, has_token);
        op
    }

    fn weight(&self, op: &Box<SignOp>) -> usize {
        op.weight()
    }

    async fn open(&self, context: ShardContext) -> Result<SignSession, FatalError> {
        let stock = self.tokens.as_ref().and_then(|tokens| tokens.stock());
        let tokens = stock.map(|stock| ShardTokens::new(stock.clone(), context.clock.clone(), self.wall));
        SignSession::open(&self.plan, &self.services, tokens, self.corpus.as_ref(), &context).await
    }

    async fn execute(
        &self,
        session: &SignSession,
        (): &(),
        op: &mut Box<SignOp>,
        record: &OperationRecord,
    ) -> Ended {
        record.is_of("signature", || op.seq);
        let rotating = self.tokens.as_ref().and_then(|tokens| tokens.rotating());
        let rotating = rotating.map(|issuer| exchange::RotatingTokens { issuer, wall: self.wall });
        let Self { plan, series, materials, certified_issuer, certified_subject, .. } = self;
        let certified_subject = certified_subject.as_deref();
        let flow = exchange::SignFlow {
            plan,
            series,
            materials,
            session,
            record,
            certified_issuer,
            certified_subject,
            rotating: rotating.as_ref(),
        };
        let bundles = self.bundles.as_deref();
        op.keeps_answers = bundles.is_some_and(BundleFiles::is_wanted);
        op.keeps_place = !self.plan.rekor.is_on_tiles() || self.is_read || session.lines.is_some();
        match flow.carry_out(op).await {
            Ok(ended) => {
                if let Some(files) = bundles.filter(|_| op.keeps_answers) {
                    flow.leave_bundle(op, files);
                }
                let is_logged = self.plan.rekor != RekorVersion::None;
                if let (true, None, Some(lines)) = (is_logged, op.place(0), &session.lines) {
                    let lines = lines.borrow();
                    if op.is_known { lines.known() } else { lines.unplaced() }
                }
                if let Some(logged) = op.place(self.epoch_unix_ms) {
                    if logged.log == CorpusLog::RekorV1 || self.is_read {
                        Corpus::offer(&session.corpus, &logged);
                    }
                    if let Some(lines) = &session.lines {
                        let now = op.answer.wire.done.unwrap_or_default();
                        lines.borrow_mut().add(now, record.seq(), &logged);
                    }
                }
                ended
            }
            Err(ended) => ended,
        }
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &SigstorePromise::NAMES
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(self.judge.verifier())
    }
}
