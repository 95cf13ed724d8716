//! Timestamps of hashes, in JSON.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use hammer_cms::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampVerifier};
use hammer_core::draw::Draws;
use hammer_core::promise::{Fault, PromiseKind, Verdicts, Verifier};
use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{ServiceClient, ServiceConfig};
use hammer_measure::Nanos;
use hammer_net::{Answer, ConfigError};
use hammer_tlog::keys::chain::TrustedAuthorities;
use http::uri::PathAndQuery;
use ring::digest::{SHA256, digest};

use crate::dialect::Dialect;
use crate::json_request::{none, post, send};
use crate::{dss, rest_pki};

/// What judges timestamps.
#[derive(Clone, Debug)]
pub struct TimestampJudge {
    /// Who is trusted with them.
    pub authorities: TrustedAuthorities,
    /// The wall clock at the start of the run, in milliseconds since 1970.
    pub epoch_unix_ms: u64,
    /// By how much the service's clock may differ from ours, in milliseconds.
    pub skew_ms: u64,
}

/// Asks for timestamps. Each token is a promise, judged beside the load.
pub struct TimestampWorkload {
    dialect: Dialect,
    /// The plan of timestamps that Rest PKI is asked by.
    plan: String,
    hashes: Draws,
    judge: TimestampJudge,
    service: ServiceConfig,
}

/// A timestamp, and the room for what it is answered with.
#[derive(Default)]
pub struct TimestampOp {
    hash: [u8; 32],
    answer: Answer,
}

/// A shard's client.
pub struct TimestampSession {
    client: ServiceClient,
    path: PathAndQuery,
    clock: Rc<dyn Clock>,
    promised: RefCell<Vec<u8>>,
}

/// Judges on a thread of its own.
struct TokenVerifier {
    judge: TimestampJudge,
    verifier: TimestampVerifier,
}

impl TimestampWorkload {
    /// Timestamps of hashes that follow from the seed and the workload's place.
    pub fn new(
        (dialect, plan): (Dialect, String),
        (seed, workload): (u64, u64),
        judge: TimestampJudge,
        service: ServiceConfig,
    ) -> Self {
        Self { dialect, plan, hashes: Draws::new(seed, HASHES ^ workload << 32), judge, service }
    }

    async fn token(
        &self,
        session: &TimestampSession,
        op: &mut TimestampOp,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        let body = rest_pki::hash(&op.hash);
        let mut step = record.exchange();
        send(&session.client, &mut step, &post(session.path.clone(), body), &mut op.answer).await?;
        let token = match self.dialect {
            Dialect::RestPki => rest_pki::timestamp_token(&op.answer.body),
            Dialect::Dss => dss::timestamp_token(&op.answer.body),
        };
        let token = token.map_err(|why| none(&mut step, &why))?;
        let now = session.clock.now();
        let wire = &op.answer.wire;
        let mut promised = session.promised.borrow_mut();
        promised.clear();
        promised.extend_from_slice(&op.hash);
        for at in [wire.sent.unwrap_or(now), wire.done.unwrap_or(now)] {
            promised.extend_from_slice(&at.0.to_be_bytes());
        }
        promised.extend_from_slice(&token);
        record.promise(PromiseKind(0), &promised);
        promised.shrink_to(KEPT_RECORD);
        Ok(Ended::accepted(200))
    }
}

impl Workload for TimestampWorkload {
    type Op = Box<TimestampOp>;
    type Session = TimestampSession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new(TIMESTAMP, true)]
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Box<TimestampOp>>) -> Box<TimestampOp> {
        let mut op = reuse.unwrap_or_default();
        op.hash.copy_from_slice(digest(&SHA256, &self.hashes.bits(seq).to_be_bytes()).as_ref());
        op
    }

    async fn open(&self, context: ShardContext) -> Result<TimestampSession, FatalError> {
        let client = self.service.open(&context).await?;
        let path: Result<PathAndQuery, ConfigError> = match self.dialect {
            Dialect::RestPki => client.path(&format!("/Api/TimestampPlans/{}/Issue", self.plan)),
            Dialect::Dss => client.path(&format!("/{}", dss::TIMESTAMP)),
        };
        Ok(TimestampSession {
            client,
            path: path?,
            clock: context.clock.clone(),
            promised: RefCell::default(),
        })
    }

    async fn execute(
        &self,
        session: &TimestampSession,
        (): &(),
        op: &mut Box<TimestampOp>,
        record: &OperationRecord,
    ) -> Ended {
        let ended = self.token(session, op, record).await;
        // They hold on to the buffer that the connection read them into.
        op.answer.headers.clear();
        ended.unwrap_or_else(|ended| ended)
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &[TIMESTAMP]
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        let verifier = TimestampVerifier::new(self.judge.authorities.clone());
        Some(Box::new(TokenVerifier { judge: self.judge.clone(), verifier }))
    }
}

impl Verifier for TokenVerifier {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        let parts = record.split_first_chunk::<32>().and_then(|(hash, rest)| {
            let (sent, rest) = rest.split_first_chunk::<8>()?;
            let (received, token) = rest.split_first_chunk::<8>()?;
            Some((hash, u64::from_be_bytes(*sent), u64::from_be_bytes(*received), token))
        });
        // Records are this file's own.
        let Some((hash, sent, received, token)) = parts else { return };
        let TimestampJudge { epoch_unix_ms, skew_ms, .. } = self.judge;
        let unix_ms = |at: u64| epoch_unix_ms.saturating_add(at / 1_000_000);
        let expected = ExpectedTimestamp {
            imprint: ExpectedImprint::Sha256(hash),
            nonce: None,
            not_before_ms: i64::try_from(unix_ms(sent).saturating_sub(skew_ms)).ok(),
            not_after_ms: i64::try_from(unix_ms(received).saturating_add(skew_ms)).ok(),
        };
        match self.verifier.verify_token(token, &expected) {
            Ok(_) => verdicts.kept(PromiseKind(0)),
            Err(why) if why.is_unverified() => {
                verdicts.unverified(PromiseKind(0), &format!("failed to {why}"));
            }
            Err(why) => {
                let fault = Fault::new(why.kind(), format!("failed to {why}"));
                verdicts.broken(PromiseKind(0), seq, fault, Some(record));
            }
        }
    }
}

impl fmt::Debug for TimestampWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimestampWorkload").field("dialect", &self.dialect).finish_non_exhaustive()
    }
}

/// The series, and the kind of promises.
const TIMESTAMP: &str = "timestamp";
const HASHES: u64 = 0x504b_5473;
/// Tokens with their chains are of a few KiB.
const KEPT_RECORD: usize = 64 << 10;
