//! Submission: `add-chain` and `add-pre-chain` of chains that were minted, or come from files.

pub(crate) mod chains;
mod class;
mod class_draw;
mod invalid;
mod op;
mod reservoir;

use std::cell::RefCell;
use std::sync::Arc;

use hammer_audit::AuditLink;
use hammer_core::promise::Verifier;
use hammer_core::record::{Exchange, OperationRecord};
use hammer_core::sample::Reservoir;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{SentSecrets, ServiceClient, ServiceConfig};
use hammer_measure::{Detail, Outcome};
use hammer_net::{ClientConfig, FailureKind};
use hammer_synth::{Kind, MintScratch};
use http::uri::PathAndQuery;

use crate::audit::Accepted;
use crate::error::CtError;
use crate::log::{ADD_CHAIN, ADD_PRE_CHAIN, LogTarget, SERVICE};
use crate::plan::SubmitPlan;
use crate::promise::LogPromise;
use crate::record::{Instants, NoSct, Stamp};
use crate::run::CtRun;
use crate::verify::SctVerifier;

pub use chains::Chains;
use class::{Class, Invalid};
use class_draw::ClassDraw;
pub use op::SubmitOp;
use reservoir::{Answered, reservoir};

/// Submits chains to a log. Every SCT is a promise, checked by an [`SctVerifier`].
#[derive(Debug)]
pub struct SubmitWorkload {
    chains: Arc<Chains>,
    classes: ClassDraw,
    service: ServiceConfig,
    /// Most bytes of an answer.
    largest_answer: usize,
    verifier: SctVerifier,
}

/// A shard's client, the two paths, and what the log has answered.
pub struct SubmitSession {
    service: ServiceClient,
    add_chain: PathAndQuery,
    add_pre_chain: PathAndQuery,
    answered: RefCell<Reservoir<Answered>>,
    /// Of the chains that take the place of duplicates.
    scratch: RefCell<MintScratch>,
}

impl SubmitWorkload {
    /// Sets up authorities and templates, or reads the chains. The endpoints of `client` are replaced by the log's; its
    /// connections are those of the whole run and are split over the shards.
    ///
    /// # Errors
    /// A plan that contradicts itself, or a file that cannot be read.
    pub fn new(
        plan: &SubmitPlan,
        log: Arc<LogTarget>,
        client: ClientConfig,
        run: &CtRun,
    ) -> Result<Self, CtError> {
        let chains = Arc::new(Chains::new(plan, run)?);
        Self::of_chains(plan, chains, log, client, run)
    }

    /// Submits `chains`, which are the plan's and may be shared by workloads on several logs, as [`SubmitWorkload::new`] does.
    ///
    /// # Errors
    /// When what is to be invalid cannot be minted.
    pub fn of_chains(
        plan: &SubmitPlan,
        chains: Arc<Chains>,
        log: Arc<LogTarget>,
        client: ClientConfig,
        run: &CtRun,
    ) -> Result<Self, CtError> {
        let distinct = !plan.resubmitted && !plan.has_fixed_dates() && chains.are_minted();
        let classes = ClassDraw::new(plan, run, &chains, log.window)?;
        let service = ServiceConfig::new(SERVICE, log.submission_client(client));
        let verifier = SctVerifier::new(log, run.epoch_unix_ms, chains.roots(), distinct);
        let verifier = verifier.deduplicates(plan.deduplicates);
        let largest_answer = service.client.response_limit.min(LARGEST_ANSWER);
        Ok(Self { chains, classes, service, largest_answer, verifier })
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight;
    /// all of them unless this is called.
    #[must_use]
    pub fn warm_up(self, connections: usize) -> Self {
        Self { service: ServiceConfig { warm_up: connections, ..self.service }, ..self }
    }

    /// The service by whose name the report tells of its connections; `log` unless this is called.
    #[must_use]
    pub fn of_service(self, name: &str) -> Self {
        Self { service: ServiceConfig { name: name.to_owned(), ..self.service }, ..self }
    }

    /// Has every accepted submission audited: its promise is pending until its leaf was found.
    #[must_use]
    pub fn audited(self, audit: AuditLink) -> Self {
        Self { verifier: self.verifier.audited(audit), ..self }
    }

    /// Notes there that an SCT holds ([`SctVerifier::noting`]).
    #[must_use]
    pub fn noting(self, accepted: Accepted) -> Self {
        Self { verifier: self.verifier.noting(accepted), ..self }
    }

    /// Chooses what a duplicate repeats; while nothing was answered, that is a chain of its own.
    fn choose(&self, session: &SubmitSession, op: &mut SubmitOp) {
        if op.class != Class::Duplicate {
            return;
        }
        match session.answered.borrow().draw(op.seq) {
            Some(answered) => op.repeat(answered),
            None => {
                op.class = Class::NothingToRepeat;
                self.chains.write(op.seq, &mut session.scratch.borrow_mut(), &mut op.minted);
            }
        }
        op.encode();
    }

    /// What an answer says; a whole 200 is a promise, whether it holds an SCT or not, and so is the right answer to what is
    /// invalid.
    fn ended(
        &self,
        session: &SubmitSession,
        op: &mut SubmitOp,
        exchange: &Exchange,
        record: &OperationRecord,
    ) -> Ended {
        let at = instants(record, exchange);
        if op.judge() {
            record.promise(LogPromise::Policy.into(), &op.record);
        }
        match op.answer.status.as_u16() {
            200 => match op.promise(at) {
                Ok(stamp) => {
                    if op.has_chain() {
                        record.promise(LogPromise::Sct.into(), &op.record);
                    }
                    self.keep(session, op, &stamp);
                    Ended::accepted(200)
                }
                Err(why) => self.unreadable(session, op, why, at, record),
            },
            status => match Ended::of_status(status) {
                // RFC 6962 section 4 knows no success but 200.
                Ended { outcome: Outcome::Accepted, .. } => {
                    Ended::failed(Outcome::Malformed, no_promise(status))
                }
                ended => ended,
            },
        }
    }

    /// A log that answers 200 has taken the chain (RFC 6962 section 4.1), and owes what shows that it did.
    fn unreadable(
        &self,
        session: &SubmitSession,
        op: &mut SubmitOp,
        why: NoSct,
        at: Instants,
        record: &OperationRecord,
    ) -> Ended {
        let said = session.service.excerpt(&op.request, &op.answer.body);
        if op.has_chain() && op.unreadable(at, why, &said).is_ok() {
            record.promise(LogPromise::Sct.into(), &op.record);
        }
        Ended::failed(Outcome::Malformed, why)
    }

    /// Keeps a chain that was answered, in case that it is repeated.
    fn keep(&self, session: &SubmitSession, op: &mut SubmitOp, stamp: &Stamp) {
        let new = matches!(op.class, Class::Fresh | Class::NothingToRepeat);
        if new && self.classes.has_duplicates() {
            let extensions = &op.record[stamp.extensions.clone()];
            let keep = |kept: &mut Answered| kept.keep(&mut op.minted, stamp.timestamp_ms, extensions);
            session.answered.borrow_mut().offer(keep);
        }
    }
}

impl Workload for SubmitWorkload {
    type Op = Box<SubmitOp>;
    type Session = SubmitSession;
    type User = ();
    type Scratch = MintScratch;

    fn series(&self) -> Vec<SeriesSpec> {
        self.classes.series()
    }

    fn series_of(&self, seq: u64) -> usize {
        self.classes.series_of(self.classes.class_of(seq), || self.chains.kind_of(seq))
    }

    fn preparation(&self) -> Preparation {
        Preparation::Ahead
    }

    fn scratch(&self, shards: usize) -> MintScratch {
        MintScratch::of_one_among(shards)
    }

    fn prepare(&self, scratch: &mut MintScratch, seq: u64, reuse: Option<Box<SubmitOp>>) -> Box<SubmitOp> {
        // What an oversized chain took is given back, or all would come to hold as much.
        let mut op = reuse.filter(|op| op.weight() <= LARGEST_KEPT).unwrap_or_default();
        (op.seq, op.class) = (seq, self.classes.class_of(seq));
        match op.class {
            // What it repeats is known once it is due.
            Class::Duplicate | Class::NothingToRepeat => op.clear(),
            Class::Fresh => {
                self.chains.write(seq, scratch, &mut op.minted);
                op.encode();
            }
            Class::Invalid(Invalid { kind, .. }) => {
                if let Some(invalid) = &self.classes.invalid {
                    invalid.write(kind, seq, &self.chains, scratch, &mut op);
                }
            }
        }
        op
    }

    /// Of any: the first that supply asks about stands for all.
    fn weight(&self, op: &Box<SubmitOp>) -> usize {
        op.weight().clamp(LEAST_WEIGHT, LARGEST_KEPT) + self.classes.oversized_bytes()
    }

    async fn open(&self, context: ShardContext) -> Result<SubmitSession, FatalError> {
        let service = self.service.open(&context).await?;
        let (add_chain, add_pre_chain) = (service.path(ADD_CHAIN)?, service.path(ADD_PRE_CHAIN)?);
        let answered = RefCell::new(reservoir(self.classes.of_shard(context.shard)));
        let scratch = RefCell::new(self.scratch(context.shards));
        Ok(SubmitSession { service, add_chain, add_pre_chain, answered, scratch })
    }

    async fn execute(
        &self,
        session: &SubmitSession,
        (): &(),
        op: &mut Box<SubmitOp>,
        record: &OperationRecord,
    ) -> Ended {
        self.choose(session, op);
        record.is_of("chain", || op.minted.seq());
        op.request.path = match op.endpoint {
            Kind::X509 => session.add_chain.clone(),
            Kind::Precert => session.add_pre_chain.clone(),
        };
        op.request.limit = Some(self.largest_answer);
        let mut step = match self.classes.step_of(op.class) {
            Some(series) => record.step(series),
            None => record.exchange(),
        };
        let ended = match session.service.send(&mut step, &op.request, &mut op.answer).await {
            Ok(()) => match self.ended(session, op, step.wire(), record) {
                ended @ Ended { outcome: Outcome::Malformed, .. } => {
                    let sent = (&op.request, SentSecrets::default());
                    session.service.ends_by(&mut step, ended, sent, &op.answer.body)
                }
                ended => ended,
            },
            // A 200 that is filled up beyond any SCT is as much of a promise as one of nothing; not so what a plan bounds more closely.
            Err(Ended { detail: Detail::Failure(TOO_LARGE), .. })
                if op.answer.status.as_u16() == 200 && self.largest_answer == LARGEST_ANSWER =>
            {
                let at = instants(record, step.wire());
                self.unreadable(session, op, TOO_LARGE, at, record)
            }
            Err(ended) => ended,
        };
        // They hold on to the buffer that the connection read them into.
        op.answer.headers.clear();
        step.end(ended);
        ended
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &LogPromise::NAMES
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(Box::new(self.verifier.clone()))
    }
}

fn instants(record: &OperationRecord, exchange: &Exchange) -> Instants {
    let received = exchange.done.or(exchange.sent).unwrap_or_default();
    Instants { intended: record.intended(), sent: exchange.sent.unwrap_or(received), received }
}

/// What a status says that is a success elsewhere: of those, 200 alone comes with an SCT.
const fn no_promise(status: u16) -> &'static str {
    match status {
        201 => "answered 201 where RFC 6962 says 200",
        202 => "answered 202 where RFC 6962 says 200",
        204 => "answered 204 where RFC 6962 says 200",
        206 => "answered 206 where RFC 6962 says 200",
        _ => "answered a success other than the 200 of RFC 6962",
    }
}

/// An SCT is of some 300 bytes; in each that is in flight a log may write as many as this.
const LARGEST_ANSWER: usize = 64 << 10;
const TOO_LARGE: NoSct = FailureKind::TooLarge.name();
/// Buffers of an operation that are used again: those of all usual chains.
const LARGEST_KEPT: usize = 128 << 10;
/// A duplicate has no chain before it is due.
const LEAST_WEIGHT: usize = 8 << 10;
