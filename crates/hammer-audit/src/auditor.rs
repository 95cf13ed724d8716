//! The observer that audits a log beside the load.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::promise::PromiseKind;
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_tlog::logs::audit::{LeafFormat, Receipt};

use crate::answer_reading::AnswerReading;
use crate::answered_heads::AnsweredHeads;
use crate::audit_loop::{self, AuditSetup};
use crate::entry_reading::EntryReading;
use crate::head_memory::HeadMemory;
use crate::head_reading::HeadReading;
use crate::joined_reading::JoinedReading;
use crate::lane_seq::SEQ_BITS;
use crate::link::{AuditLink, Lane};
use crate::place::LogPlace;
use crate::receipt_file::ReceiptFile;
use crate::source::{AnsweredSource, EntrySource, HeadedSource, LogSource};
use crate::tile_reading::TileReading;
use crate::tree_reading::TreeReading;

/// Follows a log with connections of its own and looks for the leaf of every receipt that it is handed: in its bundles and
/// tiles, or in its entries. Promises are judged by the workloads' verifiers, to which it hands
/// its verdicts; what the log serves wrong to everyone is a breach of its own.
///
/// Observes `tree_size`, `audited` (receipts with a verdict), `audit_pending` (those without), `audit_spilled_max` (the
/// most that lay in files), `overdue` (those whose deadline had passed), `audit_requests` and `audit_bytes` (its own traffic, which stands in no series), and `audit_repeated` (how many of its requests repeat one that was refused for then, or whose answer did not hold). In seconds, to the
/// precision of a poll: `publication_delay_p50`, `_p99` and `_max` (from an answer received to the first head fetched that
/// covers its leaf; 0 when that head came before the answer), `time_to_integrate_min`, `_avg`, `_max` (from sent to that head,
/// of the last 30 s) and `time_to_integrate_from_intended_min`, `_avg`, `_max` (the same from the instant that the plan named),
/// and, where heads have a time, `merge_delay_max` (from the promise's time to that head's). `answers_before_publication` and `answers_after_publication`
/// count answers by whether a head that was fetched before them covers their leaf; of those between two heads
/// `answers_by_timestamp` came after the second one's timestamp, and `answers_undecided` before it. `cosignatures` is how many more signatures a checkpoint
/// carries, `stale_heads` how many heads were of an earlier state of the tree than was seen before. `heads_joined` counts heads that
/// answers came with and that were proved to be of the followed tree, `heads_unjoined` those that were not held against it, `heads_unproved` those of them that had waited for ten seconds when the run ended and were asked for, `entries_read_back` entries that were asked for again and found as they were or not, and
/// `inactive_shards` the trees that no entry is added to any more. [`LOG_FORKED`](crate::LOG_FORKED) becomes 1 when the log forked or shrank.
pub struct LogAuditor {
    setup: AuditSetup,
    sender: mpsc::SyncSender<Receipt>,
    promise: PromiseKind,
    start: StartAudit,
}

/// Starts an audit of the log that it was made with.
type StartAudit =
    Box<dyn FnOnce(AuditSetup, ObservationSink, Rc<dyn Clock>, LocalFuture<()>) -> LocalFuture<()> + Send>;

impl LogAuditor {
    /// An auditor of a log with tiles, whose entries are in the format `F`, in a run that started at `epoch_unix_ms`; it polls
    /// the head every 250 ms. `name` is the target's, as it stands in what is found broken.
    pub fn by_tiles<F: LeafFormat, L: LogSource>(
        name: impl Into<String>,
        log: L,
        place: LogPlace,
        epoch_unix_ms: u64,
    ) -> Self {
        Self::reading::<L, TileReading<F>>(name.into(), log, place, epoch_unix_ms)
    }

    /// The same of a log whose answers come with heads: a promise is kept once its leaf was found and the head that it came with was joined
    /// to the followed tree, and one by a head alone once that was.
    pub fn by_tiles_and_heads<F: LeafFormat, L: HeadedSource>(
        name: impl Into<String>,
        log: L,
        place: LogPlace,
        epoch_unix_ms: u64,
    ) -> Self {
        Self::reading::<L, JoinedReading<TileReading<F>>>(name.into(), log, place, epoch_unix_ms)
    }

    /// The same of a log without tiles.
    pub fn by_entries<F: LeafFormat, L: EntrySource>(
        name: impl Into<String>,
        log: L,
        place: LogPlace,
        epoch_unix_ms: u64,
    ) -> Self {
        Self::reading::<L, EntryReading<F>>(name.into(), log, place, epoch_unix_ms)
    }

    /// The same of a log whose answers prove what they promise: their heads are joined to the followed tree, and the entries of which that
    /// was wanted are read back once the load is over. It asks for the head every 500 ms.
    pub fn by_answers<L: AnsweredSource>(
        name: impl Into<String>,
        log: L,
        place: LogPlace,
        epoch_unix_ms: u64,
    ) -> Self {
        let auditor = Self::reading::<L, AnswerReading>(name.into(), log, place, epoch_unix_ms);
        auditor.every(EVERY_OF_ANSWERS)
    }

    /// A follower of a log whose leaves nobody looks for: its heads, and those that are seen beside it, are held against each other, by the
    /// fewest tiles. Of the observations above it has those of heads, and counts its own requests in `observer_requests`; it looks once a
    /// second.
    pub fn of_heads_by_tiles<F: LeafFormat, L: LogSource>(
        name: impl Into<String>,
        log: L,
        place: LogPlace,
        epoch_unix_ms: u64,
    ) -> Self {
        let auditor = Self::reading::<L, HeadReading<F, true>>(name.into(), log, place, epoch_unix_ms);
        auditor.every(EVERY_OF_HEADS)
    }

    /// The same of a log whose answers prove what they promise.
    pub fn of_heads_by_answers<L: AnsweredSource>(
        name: impl Into<String>,
        log: L,
        place: LogPlace,
        epoch_unix_ms: u64,
    ) -> Self {
        Self::by_answers(name, log, place, epoch_unix_ms).every(EVERY_OF_HEADS)
    }

    /// The same of a log without tiles, by consistency proofs.
    pub fn of_heads_by_proofs<F: LeafFormat, L: LogSource>(
        name: impl Into<String>,
        log: L,
        place: LogPlace,
        epoch_unix_ms: u64,
    ) -> Self {
        let auditor = Self::reading::<L, HeadReading<F, false>>(name.into(), log, place, epoch_unix_ms);
        auditor.every(EVERY_OF_HEADS)
    }

    fn reading<L: LogSource, T: TreeReading<L> + 'static>(
        name: String,
        log: L,
        place: LogPlace,
        epoch_unix_ms: u64,
    ) -> Self {
        let (url, promise) = (log.url(), log.promise());
        let start: StartAudit = Box::new(move |setup, sink, clock, ending| {
            Box::pin(audit_loop::run::<L, T>(log, place, setup, sink, clock, ending))
        });
        let (sender, receipts) = mpsc::sync_channel(RECEIPTS);
        let folder = std::env::temp_dir();
        let file = Arc::new(ReceiptFile::new(url, epoch_unix_ms, folder.clone()));
        let (every, in_memory, lanes) = (EVERY, DEFAULT_RECEIPTS, Vec::new());
        let heads = Arc::new(AnsweredHeads::new());
        let is_tolerant = false;
        let setup = AuditSetup {
            name,
            epoch_unix_ms,
            every,
            folder,
            in_memory,
            file,
            heads,
            receipts,
            lanes,
            is_tolerant,
        };
        Self { setup, sender, promise, start }
    }

    /// Expects nothing of the log: what it does not prove is noted, and neither is the log to blame nor the run not to be believed. A log that
    /// contradicts itself is told all the same, and the run goes on.
    #[must_use]
    pub fn tolerant(mut self, is_tolerant: bool) -> Self {
        self.setup.is_tolerant = is_tolerant;
        self
    }

    /// How often it polls.
    #[must_use]
    pub fn every(mut self, every: Duration) -> Self {
        self.setup.every = every;
        self
    }

    /// The folder for what has to be shown to the log's operator: the heads of a log that forked or shrank, and the receipts of
    /// promises that were broken, or are pending or unchecked at the end; the system's folder for temporary files otherwise.
    #[must_use]
    pub fn folder(mut self, folder: PathBuf) -> Self {
        self.setup.file.folder(folder.clone());
        self.setup.folder = folder;
        self
    }

    /// How many receipts are held in memory, of 192 bytes each; [`DEFAULT_RECEIPTS`] otherwise. Those beyond are spilled to the
    /// system's folder for temporary files.
    #[must_use]
    pub fn in_memory(mut self, receipts: usize) -> Self {
        self.setup.in_memory = receipts;
        self
    }

    /// Where heads of the log go that whoever reads it verified.
    pub fn heads(&self) -> HeadMemory {
        HeadMemory::of(self.setup.heads.clone())
    }

    /// The end of the workload of that name, whose submissions are audited.
    ///
    /// # Panics
    /// When [`MOST_LINKS`] workloads have theirs already: a receipt has no room for the number of another.
    pub fn link(&mut self, workload: &str) -> AuditLink {
        self.link_of(workload, self.promise)
    }

    /// The same of another kind of promise than that of the log.
    ///
    /// # Panics
    /// As [`LogAuditor::link`].
    pub fn link_of(&mut self, workload: &str, promise: PromiseKind) -> AuditLink {
        assert!(self.setup.lanes.len() < MOST_LINKS, "an auditor has {MOST_LINKS} workloads at most");
        let (lane, inbox) = Lane::new(workload);
        let number = self.setup.lanes.len() as u64;
        let kept = (self.setup.file.clone(), self.setup.heads.clone());
        let link = AuditLink::new((number, promise), &lane, self.sender.clone(), inbox, kept);
        self.setup.lanes.push(lane);
        link
    }
}

impl Observer for LogAuditor {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        (self.start)(self.setup, sink, clock, ending)
    }
}

/// Workloads whose promises an auditor looks for.
pub const MOST_LINKS: usize = 1 << (u64::BITS - SEQ_BITS);

/// Receipts in memory unless it is said otherwise: about 65 MB of them, with the index of their times.
pub const DEFAULT_RECEIPTS: usize = 250_000;

const EVERY: Duration = Duration::from_millis(250);
/// Nothing waits for what a head covers.
const EVERY_OF_HEADS: Duration = Duration::from_secs(1);
/// A head costs such a log more than a file does.
const EVERY_OF_ANSWERS: Duration = Duration::from_millis(500);

/// Receipts on their way. A verifier waits for room, and its ring spills meanwhile.
const RECEIPTS: usize = 1 << 16;
