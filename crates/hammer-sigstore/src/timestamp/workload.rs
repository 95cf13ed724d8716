//! Timestamps alone: one request of RFC 3161 after another, each over another hash.

use std::fmt;

use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{SentSecrets, ServiceClient, ServiceConfig};
use hammer_net::{Answer, Body, BodyBuffer, ClientConfig, Request};
use hammer_synth::Seed;
use hammer_tlog::hash::Hash;

use super::TIMESTAMP;
use crate::answer::{SentCall, stamped};
use crate::error::SigstoreError;
use crate::judge::Judge;
use crate::plan::{TimestampFormat, TimestampPlan};
use crate::promise::SigstorePromise;
use crate::record::{Instants, PromiseRecord, TimestampRecord};
use crate::run::SigstoreRun;
use crate::target::{SigstoreService, SigstoreTarget};

/// Asks for timestamps. Each is a promise, judged by a [`Judge`].
pub struct TimestampWorkload {
    format: TimestampFormat,
    seed: Seed,
    service: ServiceConfig,
    judge: Judge,
}

/// A request, and the room for its answer.
#[derive(Default)]
pub struct TimestampOp {
    imprint: Hash,
    nonce: u64,
    body: BodyBuffer,
    request: Option<Request>,
    answer: Answer,
    record: Vec<u8>,
}

/// A shard's client, and the request without its body.
pub struct TimestampSession {
    service: ServiceClient,
    request: Request,
}

impl TimestampWorkload {
    /// Requests of `plan`, by a client whose connections are those of the whole run and are split over the shards.
    ///
    /// # Errors
    /// When no chain of the authority is trusted.
    pub fn new(
        plan: &TimestampPlan,
        target: &SigstoreTarget,
        run: &SigstoreRun,
        client: ClientConfig,
    ) -> Result<Self, SigstoreError> {
        target.trust.expect_timestamp_chain()?;
        Ok(Self {
            format: plan.format,
            seed: Seed::from_u64(run.seed).child("timestamps", plan.stream.unwrap_or(run.workload)),
            service: ServiceConfig::new(SigstoreService::Timestamp.name(), client),
            judge: Judge::new(target.trust.clone(), run.epoch_unix_ms),
        })
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight; all of them
    /// unless this is called.
    #[must_use]
    pub fn warm_up(mut self, connections: usize) -> Self {
        self.service.warm_up = connections;
        self
    }
}

impl Workload for TimestampWorkload {
    type Op = Box<TimestampOp>;
    type Session = TimestampSession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("timestamp", true)]
    }

    fn preparation(&self) -> Preparation {
        Preparation::Ahead
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Box<TimestampOp>>) -> Box<TimestampOp> {
        let mut op = reuse.unwrap_or_default();
        let nonce = self.seed.derive("nonce", seq);
        op.imprint = Hash(self.seed.derive("imprint", seq));
        // As JSON has it, a number of 63 bits.
        op.nonce = nonce.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)) >> 1;
        let TimestampOp { imprint, nonce, body, request, .. } = &mut *op;
        // The body of the last one borrows the buffer.
        if let Some(request) = request {
            request.body = Body::empty();
        }
        body.rewrite(|out| self.format.write(imprint, *nonce, out));
        op
    }

    async fn open(&self, context: ShardContext) -> Result<TimestampSession, FatalError> {
        let service = self.service.open(&context).await?;
        let request = self.format.request(service.path(TIMESTAMP)?);
        Ok(TimestampSession { service, request })
    }

    async fn execute(
        &self,
        session: &TimestampSession,
        (): &(),
        op: &mut Box<TimestampOp>,
        record: &OperationRecord,
    ) -> Ended {
        let TimestampOp { imprint, nonce, body, request, answer, record: written } = &mut **op;
        let request = request.get_or_insert_with(|| session.request.clone());
        request.body = body.body();
        let mut exchange = record.exchange();
        if let Err(ended) = session.service.send(&mut exchange, request, answer).await {
            return ended;
        }
        let sent = SentCall { client: &session.service, request, secrets: SentSecrets::default() };
        match stamped(&mut exchange, answer, sent) {
            Ok(ended) => {
                let at = Instants::of(record, &answer.wire);
                let body = &answer.body;
                let told = TimestampRecord { at, imprint: *imprint, nonce: *nonce, body };
                PromiseRecord::Timestamp(told).write(written);
                record.promise(SigstorePromise::Timestamp.into(), written);
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

impl fmt::Debug for TimestampOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimestampOp").field("imprint", &self.imprint).finish_non_exhaustive()
    }
}
