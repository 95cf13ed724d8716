//! Receipts in, verdicts out.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use hammer_core::promise::Fault;
use hammer_tlog::logs::audit::{Receipt, Verdict};

use super::voice::AuditVoice;
use crate::figures::AuditFigures;
use crate::link::{self, Lane};
use crate::reader::AuditReader;
use crate::receipt_file::{self, ReceiptFile};
use crate::source::LogSource;

/// Where receipts come in, and verdicts go out.
pub(super) struct ReceiptDesk {
    receipts: Receiver<Receipt>,
    lanes: Vec<Lane>,
    file: Arc<ReceiptFile>,
    epoch_unix_ms: u64,
    figures: AuditFigures,
    most_spilled: u64,
}

impl ReceiptDesk {
    pub(super) fn new(
        receipts: Receiver<Receipt>,
        lanes: Vec<Lane>,
        file: Arc<ReceiptFile>,
        epoch_unix_ms: u64,
    ) -> Self {
        Self { receipts, lanes, file, epoch_unix_ms, figures: AuditFigures::default(), most_spilled: 0 }
    }

    /// Whether any workload hands receipts in.
    pub(super) fn has_receipts(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// An instant of the run, in milliseconds since 1970.
    pub(super) fn unix_ms(&self, instant_ns: u64) -> u64 {
        self.epoch_unix_ms + instant_ns / 1_000_000
    }

    /// The receipts that came since the last call.
    pub(super) fn accepted(&self) -> Vec<Receipt> {
        self.receipts.try_iter().collect()
    }

    /// Hands out verdicts.
    pub(super) fn judged<L: LogSource>(&mut self, verdicts: &[Verdict], log: &L, voice: &mut AuditVoice) {
        let (now, words) = (voice.now(), log.words());
        for verdict in verdicts {
            self.figures.add(verdict, now, self.epoch_unix_ms);
            link::tell(&self.lanes, &self.file, log, verdict);
            if let Verdict::Broken(breach) = verdict {
                voice.named(words.kind(&breach.kind), breach.receipt.index());
            }
        }
    }

    /// Hands out what was found broken in the protocol's own words.
    pub(super) fn refused<L: LogSource>(&mut self, faults: &[(Receipt, Fault)], log: &L) {
        for fault in faults {
            self.figures.refused();
            link::tell_fault(&self.lanes, &self.file, log, fault);
        }
    }

    /// Observes how many receipts are without a verdict.
    pub(super) fn held(&mut self, spilled: u64, pending: u64, voice: &AuditVoice) {
        if self.lanes.is_empty() {
            return;
        }
        self.most_spilled = self.most_spilled.max(spilled);
        voice.observed("audit_spilled_max", self.most_spilled as f64);
        voice.observed("audit_pending", pending as f64);
    }

    /// Tells the workloads whether any verdict will come yet.
    pub(super) fn over(&self, is_over: bool) {
        self.lanes.iter().for_each(|lane| lane.over(is_over));
    }

    pub(super) fn observe<L: LogSource>(&mut self, reader: &AuditReader<L>, voice: &AuditVoice) {
        match self.lanes.is_empty() {
            true => voice.observed("observer_requests", reader.requests() as f64),
            false => self.figures.observe(reader, voice.now(), voice.sink()),
        }
    }

    /// Writes the receipts that have no verdict: those that were looked for, those that were not, and there are `all` with those that are
    /// not in memory. Where not all were looked for, `why` is that, and those are unchecked, and those that are not in memory, which are
    /// not told apart.
    pub(super) fn without_verdict<L: LogSource>(
        &self,
        pending: Vec<&Receipt>,
        (unchecked, all): (Vec<&Receipt>, u64),
        why: Option<String>,
        log: &L,
        voice: &AuditVoice,
    ) {
        let unheld = all.saturating_sub((pending.len() + unchecked.len()) as u64);
        let Some(why) = why else {
            let held = [pending, unchecked].concat();
            return self.write(log, &held, unheld, receipt_file::PENDING);
        };
        let mut by_lane = vec![0; self.lanes.len()];
        for receipt in &pending {
            by_lane[link::number(receipt)] += 1;
        }
        self.lanes.iter().zip(by_lane).for_each(|(lane, pending)| lane.unchecked_but(pending));
        self.write(log, &pending, 0, receipt_file::PENDING);
        self.write(log, &unchecked, unheld, receipt_file::UNCHECKED);
        let count = unchecked.len() as u64 + unheld;
        if count > 0 {
            voice.note(&format!("{count} promises are unchecked, {why}"));
        }
    }

    /// Writes so many as are written of a reason; `unheld` are not in memory.
    fn write<L: LogSource>(&self, log: &L, receipts: &[&Receipt], unheld: u64, reason: &str) {
        let most = receipts.len().min(receipt_file::MOST as usize);
        for receipt in &receipts[..most] {
            let workload = link::workload(&self.lanes, receipt);
            self.file.receipt(workload, (reason, ""), receipt, &log.evidence(receipt));
        }
        self.file.left_out(reason, unheld + (receipts.len() - most) as u64);
    }

    /// Tells what is known at the end of a run.
    pub(super) fn ended(&self, voice: &AuditVoice) {
        [self.figures.answers(), self.file.told()].into_iter().flatten().for_each(|text| voice.note(&text));
    }
}
