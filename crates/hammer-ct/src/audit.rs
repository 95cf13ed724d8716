//! The audit of accepted submissions: each whose SCT was verified is pending until its leaf is found in the log's tree.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use hammer_audit::{AuditLink, HeadMemory, LogAuditor};
use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_net::ClientConfig;
use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::ct::rfc6962::Rfc6962Leaves;

use crate::log::{LogKind, LogTarget};
use crate::plan::AuditInterval;

mod chain_sweep;
mod ct_log;
mod entry_dates;
mod lookup;
mod roots_watch;
pub(crate) mod sct_evidence;
mod sweep;
mod written;

pub use ct_log::CtLog;
pub use lookup::{LookedUp, ReceiptLookup, Signed, Standing};
pub use roots_watch::{Accepted, RootsWatch};
pub use sweep::{LogSweep, MOST_FLAWS, Swept};
pub use written::{ReceiptError, WrittenReceipt};

/// The [`LogAuditor`] of a log of either kind: by the bundles and tiles of static-ct-api, or by the entries of RFC 6962.
pub struct Auditor(LogAuditor);

impl Auditor {
    /// An auditor of `log` in a run that started at `epoch_unix_ms`; it polls the tree head every 250 ms.
    /// `name` is the target's, as it stands in what is found broken. The endpoints of `client` are replaced by the log's.
    pub fn new(
        name: impl Into<String>,
        log: Arc<LogTarget>,
        client: ClientConfig,
        epoch_unix_ms: u64,
    ) -> Self {
        let (kind, place) = (log.kind, log.place(client));
        let log = CtLog::new(log);
        let auditor = match kind {
            LogKind::StaticCt => LogAuditor::by_tiles::<StaticCtLeaves, _>(name, log, place, epoch_unix_ms),
            LogKind::Rfc6962 => LogAuditor::by_entries::<Rfc6962Leaves, _>(name, log, place, epoch_unix_ms),
        };
        Self(auditor.every(AuditInterval::default().duration()))
    }

    /// The same of heads alone: of a log whose accepted submissions nobody looks for. It looks once a second.
    pub fn of_heads(
        name: impl Into<String>,
        log: Arc<LogTarget>,
        client: ClientConfig,
        epoch_unix_ms: u64,
    ) -> Self {
        let (kind, place) = (log.kind, log.place(client));
        let log = CtLog::new(log);
        Self(match kind {
            LogKind::StaticCt => {
                LogAuditor::of_heads_by_tiles::<StaticCtLeaves, _>(name, log, place, epoch_unix_ms)
            }
            LogKind::Rfc6962 => {
                LogAuditor::of_heads_by_proofs::<Rfc6962Leaves, _>(name, log, place, epoch_unix_ms)
            }
        })
    }

    /// Where heads of the log go that reads verified ([`LogAuditor::heads`]).
    pub fn heads(&self) -> HeadMemory {
        self.0.heads()
    }

    /// How often it polls.
    #[must_use]
    pub fn every(self, every: AuditInterval) -> Self {
        Self(self.0.every(every.duration()))
    }

    /// The folder for what has to be shown to the log's operator ([`LogAuditor::folder`]).
    #[must_use]
    pub fn folder(self, folder: PathBuf) -> Self {
        Self(self.0.folder(folder))
    }

    /// How many receipts are held in memory ([`LogAuditor::in_memory`]).
    #[must_use]
    pub fn in_memory(self, receipts: usize) -> Self {
        Self(self.0.in_memory(receipts))
    }

    /// The end of the workload of that name, whose submissions are audited; of 256 at most.
    pub fn link(&mut self, workload: &str) -> AuditLink {
        self.0.link(workload)
    }
}

impl Observer for Auditor {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::new(self.0).observe(sink, clock, ending)
    }
}
