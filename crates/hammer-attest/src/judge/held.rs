//! Results that no known key signed: verification may have changed its key, which its discovery documents show.

use std::collections::VecDeque;
use std::sync::Arc;

use hammer_core::promise::{Fault, Verdicts};
use hammer_measure::Nanos;
use hammer_rats::EarVerifier;

use super::{BAD_SIGNATURE, Judge, ParsedResult, parsed};
use crate::keys::KnownKeys;
use crate::record::ResultRecord;

/// Results that wait until the documents were read again.
#[derive(Debug, Default)]
pub(super) struct HeldRecords {
    waiting: VecDeque<HeldRecord>,
    bytes: usize,
    /// The newest key that they were held against.
    newest: Option<Arc<EarVerifier>>,
}

#[derive(Debug)]
struct HeldRecord {
    seq: u64,
    received: Nanos,
    bytes: Box<[u8]>,
}

impl HeldRecords {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Keeps a result until then, and has the documents read; without room it is left unchecked.
    pub(super) fn hold(&mut self, judge: &Judge, result: &ParsedResult<'_>, verdicts: &mut Verdicts) {
        judge.keys.ask();
        if self.bytes + result.bytes.len() > MOST_BYTES {
            return verdicts.unverified(result.record.class.into(), NO_ROOM);
        }
        self.bytes += result.bytes.len();
        let (seq, received, bytes) = (result.seq, result.record.received, result.bytes.into());
        self.waiting.push_back(HeldRecord { seq, received, bytes });
    }

    /// Leaves those unchecked that still wait at the end: no document was read that settles them.
    pub(super) fn give_up(&mut self, verdicts: &mut Verdicts) {
        self.bytes = 0;
        for held in self.waiting.drain(..) {
            let class = ResultRecord::read(&held.bytes).map(|record| record.class).unwrap_or_default();
            verdicts.unverified(class.into(), UNSETTLED);
        }
    }

    /// Judges those that were received a while before the documents were last read, and those that a new key signed: which need not wait for a
    /// document that cannot be read. Of the others, asks for that again.
    pub(super) fn judge(&mut self, judge: &Judge, known: &KnownKeys, verdicts: &mut Verdicts) {
        let is_same = |(one, other): (&Arc<_>, &Arc<_>)| Arc::ptr_eq(one, other);
        let newest = known.keys.last().cloned();
        let has_new_key = !newest.iter().zip(&self.newest).any(is_same);
        self.newest = newest;
        let is_due = |held: &HeldRecord| {
            known.read_at.is_some_and(|read_at| held.received.saturating_add(PATIENCE) < read_at)
                || (has_new_key && held.is_signed_by(known))
        };
        for _ in 0..self.waiting.len() {
            let Some(held) = self.waiting.pop_front() else { break };
            if !is_due(&held) {
                judge.keys.ask();
                self.waiting.push_back(held);
                continue;
            }
            self.bytes -= held.bytes.len();
            held.judged(judge, known, verdicts);
        }
    }
}

impl HeldRecord {
    fn is_signed_by(&self, known: &KnownKeys) -> bool {
        let signed = ResultRecord::read(&self.bytes).and_then(|record| parsed(record.jwt).ok());
        signed.is_some_and(|signed| known.keys.iter().any(|key| key.is_signer_of(&signed)))
    }

    fn judged(&self, judge: &Judge, known: &KnownKeys, verdicts: &mut Verdicts) {
        // Records are this crate's own, and this one was read before.
        let Some(record) = ResultRecord::read(&self.bytes) else { return };
        let result = ParsedResult { seq: self.seq, bytes: &self.bytes, record, parsed: parsed(record.jwt) };
        let signed = match &result.parsed {
            Ok(signed) => *signed,
            // No document shows a key of its algorithm.
            Err(why) => return judge.unreadable(&result, why, verdicts),
        };
        if known.keys.iter().any(|key| key.is_signer_of(&signed)) {
            return judge.signed(&result, &signed, verdicts);
        }
        let device = record.device;
        let told = format!(
            "the result of device {device} is signed by no key that a discovery document showed, before or behind it"
        );
        verdicts.broken(
            record.class.into(),
            self.seq,
            Fault::at(BAD_SIGNATURE, device, told),
            Some(&self.bytes),
        );
    }
}

/// So long documents are read again and again, on connections of their own, before a result is told as signed by nobody: who answers may be another
/// one of those behind a balancer, or lag behind who signed.
const PATIENCE: Nanos = Nanos::from_secs(3);
const UNSETTLED: &str = "results are signed by a key that no discovery document had shown by the end of the run, or by an algorithm that is not verified here, and not all documents that could show it were read behind them";
/// Some 4,000 results of a verifier thread.
const MOST_BYTES: usize = 8 << 20;
const NO_ROOM: &str = "too many results are signed by a key that no discovery document has shown yet";
