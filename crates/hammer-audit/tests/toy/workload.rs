//! Submissions to the toy log, and a verifier that hands what was promised to the auditor.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use hammer_audit::AuditLink;
use hammer_core::promise::{Verdicts, Verifier};
use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_measure::Nanos;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{Receipt, ReceiptEvidence};

use crate::protocol::PLEDGE;
use crate::server::ToyServer;

pub(crate) struct ToyWorkload {
    pub(crate) server: Arc<Mutex<ToyServer>>,
    pub(crate) link: AuditLink,
    pub(crate) epoch_unix_ms: u64,
    /// What the log has to publish a leaf.
    pub(crate) delay_ms: u64,
}

impl Workload for ToyWorkload {
    type Op = u64;
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("submit", true)]
    }

    fn prepare(&self, (): &mut (), seq: u64, _reuse: Option<u64>) -> u64 {
        seq
    }

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn execute(&self, clock: &Self::Session, (): &(), op: &mut u64, record: &OperationRecord) -> Ended {
        let (mut exchange, sent) = (record.exchange(), clock.now());
        let pledge = self.server.lock().unwrap().submit(entry(*op));
        let done = clock.now();
        (exchange.wire().sent, exchange.wire().done) = (Some(sent), Some(done));
        exchange.end(Ended::accepted(200));
        let numbers = [pledge.index, done.0].map(u64::to_be_bytes).concat();
        record.promise(PLEDGE, &[&numbers[..], &pledge.leaf.0].concat());
        Ended::accepted(200)
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &["pledge"]
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        let Self { link, epoch_unix_ms, delay_ms, .. } = self;
        Some(Box::new(ToyVerifier { link: link.clone(), epoch_unix_ms: *epoch_unix_ms, delay_ms: *delay_ms }))
    }
}

/// The first entry has a length that starts as gzip does.
fn entry(seq: u64) -> Vec<u8> {
    let length = if seq == 0 { 0x1f8b } else { 12 };
    format!("{seq:>length$}").into_bytes()
}

struct ToyVerifier {
    link: AuditLink,
    epoch_unix_ms: u64,
    delay_ms: u64,
}

impl Verifier for ToyVerifier {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        let number = |at: usize| u64::from_be_bytes(record[at..at + 8].try_into().unwrap());
        let (index, received_ns) = (number(0), number(8));
        let leaf = Hash::from_slice(&record[16..]).unwrap();
        let promised_ms = self.epoch_unix_ms + received_ns / 1_000_000;
        let receipt = Receipt::new(seq, leaf, Some(index), received_ns, promised_ms).within(self.delay_ms);
        let evidence = ReceiptEvidence::of(&[b"pledged ", index.to_string().as_bytes()]).unwrap();
        if !self.link.hold(receipt.with_evidence(evidence), verdicts.part()) {
            verdicts.unchecked(PLEDGE);
        }
    }

    fn tick(&mut self, _now: Nanos, verdicts: &mut Verdicts) {
        self.link.pass_on(verdicts);
    }
}
