//! The audit of accepted submissions: each whose SCT was verified is pending until its leaf is found in the log's tree.

use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use futures::future::{Either, select};
use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_net::ClientConfig;
use hammer_tlog::audit::Receipt;

use crate::LogTarget;

mod entries;
mod evidence;
mod figures;
mod follow;
mod link;
mod look;
mod prove;
mod reader;
mod spill;
mod sweep;
mod tiles;
mod unnamed;
mod words;

pub use follow::{Followed, LogFollower, save_heads};
pub use link::AuditLink;
use link::Judged;
use look::Look;
pub use reader::Trouble;
pub use sweep::{LogSweep, MOST_FLAWS, Swept};
pub(crate) use words::SHRINKING_TREE;

/// Follows a log with connections of its own and looks for the leaf of every receipt that it is handed: in the bundles and
/// tiles of static-ct-api, in the entries of RFC 6962. Promises are judged by the workloads' verifiers, to which it hands
/// its verdicts; what the log serves wrong to everyone is a breach of its own.
///
/// Observes `tree_size`, `audited` (receipts with a verdict), `audit_pending` (those without), `audit_requests` and `audit_bytes` (its own traffic, which stands in no
/// series), `publication_delay_p50`, `_p99` and `_max` (seconds from an answer received to the first head fetched that
/// covers its leaf, to the precision of a poll; 0 when that head came before the answer) and `merge_delay_max` (seconds from SCT timestamp to that
/// head's). [`LOG_FORKED`] becomes 1 when the log forked or shrank.
#[derive(Debug)]
pub struct Auditor {
    name: String,
    log: Arc<LogTarget>,
    client: ClientConfig,
    epoch_unix_ms: u64,
    every: Duration,
    folder: PathBuf,
    sender: mpsc::SyncSender<Receipt>,
    receipts: mpsc::Receiver<Receipt>,
    lanes: Vec<mpsc::Sender<Judged>>,
}

impl Auditor {
    /// An auditor of `log` in a run that began at `epoch_unix_ms`; it polls the tree head every [`DEFAULT_AUDIT_INTERVAL`].
    /// `name` is the target's, as it stands in what is found broken.
    pub fn new(
        name: impl Into<String>,
        log: Arc<LogTarget>,
        client: ClientConfig,
        epoch_unix_ms: u64,
    ) -> Self {
        let (sender, receipts) = mpsc::sync_channel(RECEIPTS);
        let (every, folder) = (DEFAULT_AUDIT_INTERVAL, std::env::temp_dir());
        let lanes = Vec::new();
        Self { name: name.into(), log, client, epoch_unix_ms, every, folder, sender, receipts, lanes }
    }

    /// How often it polls; [`LEAST_AUDIT_INTERVAL`] at least.
    #[must_use]
    pub fn every(self, every: Duration) -> Self {
        Self { every: every.max(LEAST_AUDIT_INTERVAL), ..self }
    }

    /// The folder for the heads of a log that forked or shrank, and for receipts beyond a million; the system's folder for temporary files otherwise.
    #[must_use]
    pub fn folder(self, folder: PathBuf) -> Self {
        Self { folder, ..self }
    }

    /// The end of one more workload, whose submissions are audited; of 256 at most.
    pub fn link(&mut self) -> AuditLink {
        let (verdicts, lane) = mpsc::channel();
        self.lanes.push(verdicts);
        AuditLink::new(self.lanes.len() as u64 - 1, self.sender.clone(), lane)
    }

    async fn audit(self, sink: ObservationSink, clock: Rc<dyn Clock>, mut ending: LocalFuture<()>) {
        let every = self.every;
        let mut look = match Look::new(self, sink.clone(), clock.clone()) {
            Ok(look) => look,
            Err(why) => return sink.note(clock.now(), format!("nothing is audited: failed to {why}")),
        };
        let mut is_last = false;
        loop {
            let begun = clock.now();
            look.look().await;
            if is_last {
                return look.end();
            }
            let next = clock.sleep_until(begun.saturating_add(every.into()).max(clock.now()));
            is_last = matches!(select(&mut ending, pin!(next)).await, Either::Left(_));
        }
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

/// How often an auditor polls unless its plan says otherwise.
pub const DEFAULT_AUDIT_INTERVAL: Duration = Duration::from_millis(250);
/// An auditor polls no more often.
pub const LEAST_AUDIT_INTERVAL: Duration = Duration::from_millis(50);
/// The observation that becomes 1 when the log forked or shrank, for a rule that stops the run.
pub const LOG_FORKED: &str = "log_forked";

/// Receipts on their way. A verifier waits for room, and its ring spills meanwhile.
const RECEIPTS: usize = 1 << 16;
