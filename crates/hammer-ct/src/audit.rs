//! The audit of accepted submissions: each whose SCT was verified is pending until its leaf is found in the log's tree.

use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use futures::future::{Either, select};
use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;
use hammer_net::ClientConfig;
use hammer_tlog::logs::audit::Receipt;

use crate::log::LogTarget;
use crate::plan::AuditInterval;

mod backoff;
mod entries;
mod evidence;
mod figures;
mod follow;
mod lane_seq;
pub(crate) mod link;
mod look;
mod lookup;
mod prove;
mod readable;
mod reader;
mod receipts;
pub(crate) mod sct_evidence;
mod spill;
mod stale;
mod sweep;
mod tiles;
mod trouble;
mod unnamed;
mod words;
mod written;

use backoff::Backoff;
pub use follow::{Followed, LogFollower, save_heads};
pub use link::AuditLink;
use link::Lane;
use look::Look;
pub use lookup::{LookedUp, ReceiptLookup, Signed, Standing};
use reader::Reader;
use receipts::ReceiptFile;
pub(crate) use stale::Stale;
pub use sweep::{LogSweep, MOST_FLAWS, Swept};
pub use trouble::Trouble;
pub(crate) use words::SHRINKING_TREE;
pub use written::{ReceiptError, WrittenReceipt};

/// Follows a log with connections of its own and looks for the leaf of every receipt that it is handed: in the bundles and
/// tiles of static-ct-api, in the entries of RFC 6962. Promises are judged by the workloads' verifiers, to which it hands
/// its verdicts; what the log serves wrong to everyone is a breach of its own.
///
/// Observes `tree_size`, `audited` (receipts with a verdict), `audit_pending` (those without), `audit_spilled_max` (the
/// most that lay in files), `overdue` (those whose merge delay was over), `audit_requests` and `audit_bytes` (its own traffic, which stands in no series), and `audit_repeated` (how many of its requests repeat one that was refused for then). In seconds, to the
/// precision of a poll: `publication_delay_p50`, `_p99` and `_max` (from an answer received to the first head fetched that
/// covers its leaf; 0 when that head came before the answer), `time_to_integrate_min`, `_avg`, `_max` (from sent to that head,
/// of the last 30 s) and `time_to_integrate_from_intended_min`, `_avg`, `_max` (the same from the instant that the plan named),
/// and `merge_delay_max` (from SCT timestamp to that head's). `answers_before_publication` and `answers_after_publication`
/// count answers by whether a head that was fetched before them covers their leaf; of those between two heads
/// `answers_by_timestamp` came after the second one's timestamp, and `answers_undecided` before it. `cosignatures` is how many more signatures a checkpoint
/// carries, `stale_heads` how many heads were of an earlier state of the tree than was seen before. [`LOG_FORKED`] becomes 1 when the log forked or shrank.
#[derive(Debug)]
pub struct Auditor {
    name: String,
    log: Arc<LogTarget>,
    client: ClientConfig,
    epoch_unix_ms: u64,
    every: Duration,
    folder: PathBuf,
    in_memory: usize,
    file: Arc<ReceiptFile>,
    sender: mpsc::SyncSender<Receipt>,
    receipts: mpsc::Receiver<Receipt>,
    lanes: Vec<Lane>,
}

impl Auditor {
    /// An auditor of `log` in a run that began at `epoch_unix_ms`; it polls the tree head every 250 ms.
    /// `name` is the target's, as it stands in what is found broken.
    pub fn new(
        name: impl Into<String>,
        log: Arc<LogTarget>,
        client: ClientConfig,
        epoch_unix_ms: u64,
    ) -> Self {
        let (sender, receipts) = mpsc::sync_channel(RECEIPTS);
        let (every, folder) = (AuditInterval::default().duration(), std::env::temp_dir());
        let file = Arc::new(ReceiptFile::new(&log, epoch_unix_ms, folder.clone()));
        Self {
            name: name.into(),
            log,
            client,
            epoch_unix_ms,
            every,
            folder,
            in_memory: DEFAULT_RECEIPTS,
            file,
            sender,
            receipts,
            lanes: Vec::new(),
        }
    }

    /// How often it polls.
    #[must_use]
    pub fn every(self, every: AuditInterval) -> Self {
        Self { every: every.duration(), ..self }
    }

    /// The folder for what has to be shown to the log's operator: the heads of a log that forked or shrank, and the receipts of
    /// promises that were broken, or are pending or unchecked at the end; the system's folder for temporary files otherwise.
    #[must_use]
    pub fn folder(self, folder: PathBuf) -> Self {
        self.file.folder(folder.clone());
        Self { folder, ..self }
    }

    /// How many receipts are held in memory, of 208 bytes each; [`DEFAULT_RECEIPTS`] otherwise. Those beyond are spilled to the
    /// system's folder for temporary files.
    #[must_use]
    pub fn in_memory(self, receipts: usize) -> Self {
        Self { in_memory: receipts, ..self }
    }

    /// The end of the workload of that name, whose submissions are audited; of 256 at most.
    pub fn link(&mut self, workload: &str) -> AuditLink {
        let (lane, inbox) = Lane::new(workload);
        let number = self.lanes.len() as u64;
        let link = AuditLink::new(number, &lane, self.sender.clone(), inbox, self.file.clone());
        self.lanes.push(lane);
        link
    }

    async fn audit(self, sink: ObservationSink, clock: Rc<dyn Clock>, mut ending: LocalFuture<()>) {
        let every = self.every;
        let reader = match Reader::new(self.log.clone(), self.client.clone(), clock.clone()) {
            Ok(reader) => reader.patient(Backoff::new(every)),
            Err(why) => {
                self.lanes.iter().for_each(|lane| lane.unchecked_but(0));
                return sink.note(clock.now(), format!("nothing is audited: failed to {why}"));
            }
        };
        let mut look = Look::new(self, reader, sink, clock.clone());
        loop {
            let begun = clock.now();
            if let Either::Left(_) = select(&mut ending, pin!(look.look())).await {
                break;
            }
            let next = clock.sleep_until(begun.saturating_add(every.into()).max(clock.now()));
            if let Either::Left(_) = select(&mut ending, pin!(next)).await {
                break;
            }
        }
        // Once more, since drain is over; a log that does not answer must not keep what is known from being told.
        let deadline = clock.now().saturating_add(LAST_LOOK);
        look.ends(clock.now().saturating_add(LAST_TRIES));
        let in_time = {
            let last = pin!(look.look());
            matches!(select(last, clock.sleep_until(deadline)).await, Either::Left(_))
        };
        look.end(in_time);
    }
}

impl Observer for Auditor {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(self.audit(sink, clock, ending))
    }
}

/// The observation that becomes 1 when the log forked or shrank, for a rule that stops the run.
pub const LOG_FORKED: &str = "log_forked";

/// Receipts in memory unless it is said otherwise: about 50 MB of them.
pub const DEFAULT_RECEIPTS: usize = 250_000;

/// An observer has two seconds to end.
const LAST_LOOK: Nanos = Nanos::from_millis(1_200);

/// What is refused in the last look is tried again for so long.
const LAST_TRIES: Nanos = Nanos::from_millis(800);

/// Receipts on their way. A verifier waits for room, and its ring spills meanwhile.
const RECEIPTS: usize = 1 << 16;
