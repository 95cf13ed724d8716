//! Timestamps of hashes, in the services' JSON or by RFC 3161 over HTTP.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use hammer_core::draw::Draws;
use hammer_core::promise::{PromiseKind, Verifier};
use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{ServiceClient, ServiceConfig};
use hammer_net::Answer;
use http::uri::PathAndQuery;
use ring::digest::{SHA256, digest};

mod interface;
mod judge;

pub use interface::TimestampInterface;
pub use judge::TimestampJudge;
use judge::{StampVerifier, TimestampRecord};

/// Asks for timestamps. Each token is a promise, judged beside the load.
pub struct TimestampWorkload {
    interface: TimestampInterface,
    hashes: Draws,
    nonces: Draws,
    judge: TimestampJudge,
    service: ServiceConfig,
}

/// A timestamp, and the room for what it is answered with.
#[derive(Default)]
pub struct TimestampOp {
    hash: [u8; 32],
    nonce: Option<u64>,
    answer: Answer,
}

/// A shard's client.
pub struct TimestampSession {
    client: ServiceClient,
    path: PathAndQuery,
    clock: Rc<dyn Clock>,
    promised: RefCell<Vec<u8>>,
}

impl TimestampWorkload {
    /// Timestamps of hashes that follow, as nonces do, from the seed and the workload's place.
    pub fn new(
        interface: TimestampInterface,
        (seed, workload): (u64, u64),
        judge: TimestampJudge,
        service: ServiceConfig,
    ) -> Self {
        let [hashes, nonces] = [HASHES, NONCES].map(|label| Draws::new(seed, label ^ workload << 32));
        Self { interface, hashes, nonces, judge, service }
    }

    async fn token(
        &self,
        session: &TimestampSession,
        op: &mut TimestampOp,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        let TimestampOp { hash, nonce, answer } = op;
        let mut step = record.exchange();
        let service = (&session.client, &session.path);
        let stamp = self.interface.stamp(service, &mut step, (hash, *nonce), answer).await?;
        let now = session.clock.now();
        let (sent, received) = (stamp.wire.sent.unwrap_or(now), stamp.wire.done.unwrap_or(now));
        let mut promised = session.promised.borrow_mut();
        TimestampRecord { hash, nonce: *nonce, sent, received, body: &stamp.body }.write(&mut promised);
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
        op.nonce = self.interface.has_nonce().then(|| self.nonces.bits(seq));
        op.hash.copy_from_slice(digest(&SHA256, &self.hashes.bits(seq).to_be_bytes()).as_ref());
        op
    }

    async fn open(&self, context: ShardContext) -> Result<TimestampSession, FatalError> {
        let client = self.service.open(&context).await?;
        let path = self.interface.path(&client)?;
        Ok(TimestampSession { client, path, clock: context.clock.clone(), promised: RefCell::default() })
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
        Some(Box::new(StampVerifier::new(self.judge.clone())))
    }
}

impl fmt::Debug for TimestampWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimestampWorkload").field("interface", &self.interface).finish_non_exhaustive()
    }
}

/// The series, and the kind of promises.
const TIMESTAMP: &str = "timestamp";
const HASHES: u64 = 0x504b_5473;
const NONCES: u64 = 0x504b_546e;
/// Tokens with their chains are of a few KiB.
const KEPT_RECORD: usize = 64 << 10;
