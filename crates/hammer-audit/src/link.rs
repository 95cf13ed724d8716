//! Between a workload's verifiers and its auditor.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, OnceLock};

use hammer_core::promise::{Fault, PromiseKind, Verdicts};
use hammer_measure::Nanos;
use hammer_tlog::logs::audit::{Receipt, Verdict};
use serde::Serialize;

use crate::answered_heads::AnsweredHeads;
use crate::lane_seq::{SEQ_BITS, seq};
use crate::receipt_file::ReceiptFile;
use crate::source::{HeadId, LogSource};

/// A workload's end of a [`LogAuditor`](crate::LogAuditor): its verifiers hand receipts in, and take verdicts out.
#[derive(Clone, Debug)]
pub struct AuditLink {
    lane: u64,
    workload: Arc<str>,
    promise: PromiseKind,
    /// The target, where the workload has several: what is found starts with its name.
    target: Arc<OnceLock<Arc<str>>>,
    receipts: SyncSender<Receipt>,
    inbox: Arc<Mutex<Inbox>>,
    /// Receipts handed over.
    held: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    pending: Arc<AtomicU64>,
    file: Arc<ReceiptFile>,
    heads: Arc<AnsweredHeads>,
}

/// A promise that needs no audit to be broken.
#[derive(Clone, Copy, Debug)]
pub struct RefusedPromise<'a> {
    /// The operation that it was made to.
    pub seq: u64,
    /// How it is broken, as reports have it.
    pub kind: &'a str,
    /// What was found.
    pub detail: &'a str,
    /// The promised index, where one is.
    pub index: Option<u64>,
    /// When the operation was intended and sent, and its answer was received, since the run's epoch.
    pub instants: [Nanos; 3],
}

/// The auditor's end of an [`AuditLink`].
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) workload: String,
    target: Arc<OnceLock<Arc<str>>>,
    verdicts: Sender<Judged>,
    /// Whether no receipt gets a verdict any more.
    is_over: Arc<AtomicBool>,
    /// How many receipts without a verdict are pending at most: those beyond are unchecked.
    pending: Arc<AtomicU64>,
}

/// Verdicts on their way.
#[derive(Debug)]
pub(crate) struct Inbox {
    verdicts: Receiver<Judged>,
    judged: u64,
    /// Receipts that were said to get none.
    beyond: u64,
}

impl Lane {
    pub(crate) fn new(workload: &str) -> (Self, Inbox) {
        let (verdicts, receiver) = channel();
        let (target, is_over) = Default::default();
        let pending = Arc::new(AtomicU64::new(ALL));
        let lane = Self { workload: workload.to_owned(), target, verdicts, is_over, pending };
        (lane, Inbox { verdicts: receiver, judged: 0, beyond: 0 })
    }

    /// Says, when all verdicts were sent, that of the receipts without one only so many are pending.
    pub(crate) fn unchecked_but(&self, pending: u64) {
        self.pending.store(pending, Ordering::Release);
    }

    /// Says whether any verdict will come yet.
    pub(crate) fn over(&self, is_over: bool) {
        self.is_over.store(is_over, Ordering::Release);
    }
}

/// What became of the promise to one operation.
#[derive(Debug)]
pub(crate) enum Judged {
    Kept,
    Broken(u64, Fault),
}

impl AuditLink {
    pub(crate) fn new(
        (number, promise): (u64, PromiseKind),
        lane: &Lane,
        receipts: SyncSender<Receipt>,
        inbox: Inbox,
        (file, heads): (Arc<ReceiptFile>, Arc<AnsweredHeads>),
    ) -> Self {
        Self {
            lane: number,
            workload: lane.workload.as_str().into(),
            promise,
            target: lane.target.clone(),
            receipts,
            inbox: Arc::new(Mutex::new(inbox)),
            held: Arc::default(),
            is_over: lane.is_over.clone(),
            pending: lane.pending.clone(),
            file,
            heads,
        }
    }

    /// Keeps what shows a promise that needs no audit to be broken; `target` is as in [`AuditLink::hold`].
    pub fn refused<E: Serialize>(
        &self,
        refused: &RefusedPromise<'_>,
        evidence: &E,
        target: Option<&Arc<str>>,
    ) {
        self.file.refused(&self.workload, refused, &of_target(target, refused.detail), evidence);
    }

    /// Hands over the head that an answer came with, as the log signed it, before the receipt that names it; each is taken once.
    pub fn answered_with(&self, head: HeadId, raw: &[u8], received: Nanos) {
        self.heads.offer(head, raw, received.0);
    }

    /// Hands a receipt over, once there is room; says whether the auditor is still there. `target` is the part of the workload
    /// that it is of, as [`Verdicts::part`] has it.
    pub fn hold(&self, mut receipt: Receipt, target: Option<&Arc<str>>) -> bool {
        if let (Some(target), None) = (target, self.target.get()) {
            let _ = self.target.set(target.clone());
        }
        receipt.seq = self.lane << SEQ_BITS | seq(receipt.seq);
        let is_held = self.receipts.send(receipt).is_ok();
        self.held.fetch_add(is_held.into(), Ordering::Relaxed);
        is_held
    }

    /// Passes on the verdicts that have come, and how many will not, unless another thread is at it.
    pub fn pass_on(&self, verdicts: &mut Verdicts) {
        let Ok(mut inbox) = self.inbox.try_lock() else { return };
        // Read before the verdicts, all of which came before it.
        let pending = self.pending.load(Ordering::Acquire);
        while let Ok(judged) = inbox.verdicts.try_recv() {
            inbox.judged += 1;
            match judged {
                Judged::Kept => verdicts.kept(self.promise),
                // The receipts file keeps what shows it.
                Judged::Broken(seq, fault) => verdicts.broken(self.promise, seq, fault, None),
            }
        }
        let without = self.held.load(Ordering::Relaxed).saturating_sub(inbox.judged);
        let unchecked = without.saturating_sub(pending);
        (0..unchecked).for_each(|_| verdicts.unchecked(self.promise));
        inbox.judged += unchecked;
        let beyond = match self.is_over.load(Ordering::Acquire) {
            true => self.held.load(Ordering::Relaxed).saturating_sub(inbox.judged),
            false => 0,
        };
        verdicts.beyond_judgement(inbox.beyond, beyond);
        inbox.beyond = beyond;
    }
}

/// Sends a verdict to the workload that the receipt is of. One whose verifiers are gone needs none.
pub(crate) fn tell<L: LogSource>(lanes: &[Lane], file: &ReceiptFile, log: &L, verdict: &Verdict) {
    let (receipt, judged) = match verdict {
        Verdict::Kept(kept) => (&kept.receipt, Judged::Kept),
        Verdict::Broken(breach) => {
            let words = log.words();
            let (receipt, kind) = (&breach.receipt, words.kind(&breach.kind));
            let (index, detail) = (receipt.index(), words.breach(breach));
            let target = lane(lanes, receipt).and_then(|lane| lane.target.get());
            let told = of_target(target, &detail);
            file.receipt(workload(lanes, receipt), (kind, &told), receipt, &log.evidence(receipt));
            let fault = Fault { kind, place: index, detail };
            (receipt, Judged::Broken(seq(receipt.seq), fault))
        }
    };
    if let Some(lane) = lane(lanes, receipt) {
        let _ = lane.verdicts.send(judged);
    }
}

/// Sends the workload of a receipt what was found broken about it.
pub(crate) fn tell_fault<L: LogSource>(
    lanes: &[Lane],
    file: &ReceiptFile,
    log: &L,
    (receipt, fault): &(Receipt, Fault),
) {
    let Some(lane) = lane(lanes, receipt) else { return };
    let told = of_target(lane.target.get(), &fault.detail);
    file.receipt(&lane.workload, (fault.kind, &told), receipt, &log.evidence(receipt));
    let _ = lane.verdicts.send(Judged::Broken(seq(receipt.seq), fault.clone()));
}

/// As a breach has it (see [`Verdicts::of_part`]).
fn of_target<'a>(target: Option<&Arc<str>>, detail: &'a str) -> Cow<'a, str> {
    target.map_or(detail.into(), |target| format!("{target}: {detail}").into())
}

/// The workload that the receipt is of.
pub(crate) fn workload<'a>(lanes: &'a [Lane], receipt: &Receipt) -> &'a str {
    lane(lanes, receipt).map_or("", |lane| &lane.workload)
}

fn lane<'a>(lanes: &'a [Lane], receipt: &Receipt) -> Option<&'a Lane> {
    lanes.get(number(receipt))
}

/// The number of the workload that the receipt is of.
pub(crate) fn number(receipt: &Receipt) -> usize {
    (receipt.seq >> SEQ_BITS) as usize
}

/// All receipts without a verdict are pending.
const ALL: u64 = u64::MAX;
