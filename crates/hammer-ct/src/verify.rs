//! Whether an SCT is what the log promised: its own id and signature over what was sent, a plausible time, an index.

mod duplicate;
mod index_set;
mod invalid;
mod rules;

use std::sync::Arc;

use hammer_audit::AuditLink;
use hammer_core::promise::{Records, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_tlog::keys::key::SignatureBatch;

use self::rules::{Opened, Rules};
use crate::audit::Accepted;
use crate::log::LogTarget;
use crate::promise::LogPromise;

/// Checks SCTs; one for each verifier thread, made from the same workload.
#[derive(Clone, Debug)]
pub struct SctVerifier {
    rules: Rules,
    batch: SignatureBatch,
}

impl SctVerifier {
    /// A verifier of what `log` promises in a run that started at `epoch_unix_ms`. `distinct`: no leaf was sent before, so that
    /// every timestamp is recent and no index is promised twice.
    pub fn new(log: Arc<LogTarget>, epoch_unix_ms: u64, roots: Vec<Vec<u8>>, distinct: bool) -> Self {
        let (roots, indices) = (Arc::new(roots), distinct.then(Arc::default));
        let rules =
            Rules { log, epoch_unix_ms, roots, indices, deduplicates: true, audit: None, accepted: None };
        Self { rules, batch: SignatureBatch::new() }
    }

    /// Whether the log answers a duplicate with timestamp and index of the first answer; it does unless this is called.
    #[must_use]
    pub fn deduplicates(mut self, deduplicates: bool) -> Self {
        self.rules.deduplicates = deduplicates;
        self
    }

    /// Hands every promise that holds so far to an [`Auditor`](crate::Auditor), and passes its verdicts on.
    #[must_use]
    pub fn audited(mut self, audit: AuditLink) -> Self {
        self.rules.audit = Some(audit);
        self
    }

    /// Notes there that an SCT holds.
    #[must_use]
    pub fn noting(mut self, accepted: Accepted) -> Self {
        self.rules.accepted = Some(accepted);
        self
    }

    /// Judges records in their order, all of their signatures at once.
    fn check_each<'a>(&mut self, records: impl Iterator<Item = (u64, &'a [u8])>, verdicts: &mut Verdicts) {
        let Self { rules, batch } = self;
        batch.clear();
        let opened: Vec<_> = records.map(|(seq, record)| (seq, record, rules.open(record, batch))).collect();
        let mut signatures = rules.log.key.verify_batch(batch).iter();
        for (seq, bytes, opened) in opened {
            match opened {
                Opened::Sct(record, entry) => {
                    let judged = entry.and_then(|entry| rules.judge(&record, entry, signatures.next()));
                    rules.tell(seq, (&record, bytes), judged, verdicts);
                }
                Opened::Judged(judged) => match invalid::judge(judged) {
                    Ok(()) => verdicts.kept(LogPromise::Policy.into()),
                    Err(fault) => verdicts.broken(LogPromise::Policy.into(), seq, fault, Some(bytes)),
                },
                Opened::NoSct(record) => rules.tell_unreadable(seq, (&record, bytes), verdicts),
                Opened::NoRecord => verdicts.unchecked(LogPromise::Sct.into()),
            }
        }
    }
}

impl Verifier for SctVerifier {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        self.check_each(std::iter::once((seq, record)), verdicts);
    }

    fn check_all(&mut self, records: &Records, _now: Nanos, verdicts: &mut Verdicts) {
        self.check_each(records.iter().map(|record| (record.seq, record.bytes)), verdicts);
    }

    fn tick(&mut self, _now: Nanos, verdicts: &mut Verdicts) {
        if let Some(audit) = &self.rules.audit {
            audit.pass_on(verdicts);
        }
    }
}

#[cfg(test)]
mod tests;
