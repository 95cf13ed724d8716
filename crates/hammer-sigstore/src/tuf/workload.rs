//! Refreshes of a TUF repository: each operation is one client's, from the root that it has to the target.

use std::cell::RefCell;
use std::sync::Arc;

use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{SentSecrets, ServiceClient, ServiceConfig, expect_ok};
use hammer_measure::Outcome;
use hammer_net::{Answer, ClientConfig, Request};
use hammer_tuf::{KnownFiles, Role, Trusted, TufError, Walk};

use super::judge::{METADATA, MetadataJudge, NAMES};
use super::record::{RefreshPart, RefreshRecord};
use crate::error::SigstoreError;
use crate::plan::{TufCache, TufPlan};
use crate::record::Instants;
use crate::run::SigstoreRun;
use crate::target::SigstoreService;
use crate::trust::Trust;

/// Refreshes. What each is answered with is one promise, judged as its client would have.
pub struct TufWorkload {
    service: ServiceConfig,
    cache: TufCache,
    first: KnownFiles,
    judge: MetadataJudge,
}

/// A refresh, and the room for what it is answered with.
pub struct TufOp {
    walk: Walk,
    answer: Answer,
    record: Vec<u8>,
    /// Roots that are new to the client, as parts of later records.
    roots: Vec<u8>,
}

/// What a client keeps from one refresh to the next.
#[derive(Default)]
pub struct TufUser(RefCell<ClientCache>);

#[derive(Default)]
struct ClientCache {
    /// None before the first refresh that came to its end.
    known: Option<KnownFiles>,
    /// The roots behind the one that it came with, as parts of a record.
    roots: Vec<u8>,
}

impl TufWorkload {
    /// Refreshes of `plan` of clients that come with the root `root`, by a client whose connections are those of the whole run.
    ///
    /// # Errors
    /// When the root is none.
    pub fn new(
        plan: &TufPlan,
        root: &[u8],
        trust: &Trust,
        run: &SigstoreRun,
        client: ClientConfig,
    ) -> Result<Self, SigstoreError> {
        let first = Trusted::from_root(root).map_err(SigstoreError::TufRoot)?;
        let known = KnownFiles {
            root: first.root().version(),
            is_consistent: first.root().is_consistent(),
            ..KnownFiles::default()
        };
        let judge = MetadataJudge {
            first,
            target: plan.target.as_str().into(),
            stale_for: plan.stale_for.duration().into(),
            skew: trust.skew,
            epoch_unix_ms: run.epoch_unix_ms,
            seen: Arc::default(),
        };
        let service = ServiceConfig::new(SigstoreService::Tuf.name(), client);
        Ok(Self { service, cache: plan.cache, first: known, judge })
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight; all of them
    /// unless this is called.
    #[must_use]
    pub fn warm_up(mut self, connections: usize) -> Self {
        self.service.warm_up = connections;
        self
    }

    async fn refreshed(
        service: &ServiceClient,
        op: &mut TufOp,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        let TufOp { walk, answer, record: written, roots } = op;
        while let Some(wanted) = walk.wanted() {
            let role = wanted.role;
            let path = service.path(&wanted.path).map_err(|_| NO_PATH)?;
            let mut step = record.step(1 + role as usize);
            let (request, secrets) = (Request::get(path), SentSecrets::default());
            // That there is no newer root is what a client hopes for. Stores of objects that may not be listed say 403.
            let says_absent = |status| role == Role::Root && matches!(status, 403 | 404);
            service.send_judged(&mut step, (&request, secrets), says_absent, answer).await?;
            let is_absent = says_absent(answer.status.as_u16());
            if is_absent {
                step.ends(Ended::accepted(answer.status.as_u16()));
            } else {
                expect_ok(&mut step, answer)?;
            }
            let body = (!is_absent).then_some(answer.body.as_slice());
            let Instants { sent, received, .. } = Instants::of(record, &answer.wire);
            RefreshPart { role, is_known: false, sent, received, body }.write(written);
            if role == Role::Root && body.is_some() {
                RefreshPart { role, is_known: true, sent, received, body }.write(roots);
            }
            if let Err(why) = walk.answer(body) {
                let ended = Ended::failed(Outcome::Malformed, said(&why));
                step.ends(ended);
                service.tell(&mut step, ended, &why);
                return Err(ended);
            }
        }
        Ok(Ended::accepted(200))
    }
}

impl Workload for TufWorkload {
    type Op = Box<TufOp>;
    type Session = ServiceClient;
    type User = TufUser;
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let step = |role: Role| SeriesSpec::new(format!("tuf-{role}"), false);
        let refresh = SeriesSpec::new("tuf", true);
        std::iter::once(refresh).chain(Role::ALL.map(step)).collect()
    }

    fn prepare(&self, (): &mut (), _: u64, reuse: Option<Box<TufOp>>) -> Box<TufOp> {
        reuse.unwrap_or_else(|| {
            let walk = Walk::new(self.first.clone(), &self.judge.target);
            Box::new(TufOp { walk, answer: Answer::default(), record: Vec::new(), roots: Vec::new() })
        })
    }

    async fn open(&self, context: ShardContext) -> Result<ServiceClient, FatalError> {
        Ok(self.service.open(&context).await?)
    }

    async fn execute(
        &self,
        session: &ServiceClient,
        user: &TufUser,
        op: &mut Box<TufOp>,
        record: &OperationRecord,
    ) -> Ended {
        RefreshRecord::start(&mut op.record);
        op.roots.clear();
        {
            let cache = user.0.borrow();
            op.walk.restart(cache.known.as_ref().unwrap_or(&self.first));
            op.record.extend_from_slice(&cache.roots);
        }
        let known = op.record.len();
        let ended = Self::refreshed(session, op, record).await;
        // They hold on to the buffer that the connection read them into.
        op.answer.headers.clear();
        if ended.is_ok() {
            RefreshRecord::complete(&mut op.record);
        }
        if op.record.len() > known {
            record.promise(METADATA, &op.record);
        }
        if ended.is_ok() && self.cache != TufCache::None {
            let cache = &mut *user.0.borrow_mut();
            let found = op.walk.known();
            cache.known = Some(match self.cache {
                TufCache::Warm => found.clone(),
                _ => KnownFiles {
                    root: found.root,
                    is_consistent: found.is_consistent,
                    ..KnownFiles::default()
                },
            });
            cache.roots.extend_from_slice(&op.roots);
        }
        ended.unwrap_or_else(|ended| ended)
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &NAMES
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(Box::new(self.judge.clone()))
    }
}

/// Why a client has no way on, in words that a report counts by.
const fn said(error: &TufError) -> &'static str {
    match error {
        TufError::Unnamed { within: Role::Targets, .. } => "targets do not name it",
        TufError::Unnamed { .. } => "metadata without what is below it",
        TufError::TooLong { .. } => "longer than any client reads",
        TufError::Version { .. } => "root of another version",
        TufError::Roots(_) => "roots without an end",
        _ => "no such metadata",
    }
}

const NO_PATH: Ended = Ended::failed(Outcome::Malformed, "no path");
