//! Corpora of entries: filled, and held against the log that a plan names before anything is sent.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use hammer_core::clock::MonotonicClock;
use hammer_net::ClientConfig;
use hammer_report::text::number::grouped;
use hammer_sigstore::{
    CorpusProbe, CorpusSink, CorpusWriter, CorpusWritten, ReadRekor, SigstoreError, expect_log,
};

use super::sections::{MIXED, VERIFY, mixed, verify};
use crate::before_run;
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::named_files::is_same_place;
use crate::plan::path::PlanPath;
use crate::protocol::{FillCorpus, WrittenCorpus};

/// The corpus that the next lane fills.
pub(super) struct FilledCorpus {
    pub(super) sink: CorpusSink,
    /// By which it shows whether it is of the log that it is filled from.
    pub(super) probe: Option<CorpusProbe>,
}

/// The corpus of entries of Rekor.
pub(super) struct OwnCorpus {
    pub(super) writer: CorpusWriter,
    pub(super) file: PathBuf,
}

impl FillCorpus for OwnCorpus {
    fn entries(&self) -> u64 {
        self.writer.entries()
    }

    fn first_seq(&self) -> u64 {
        self.writer.first_seq()
    }

    fn note(&self) -> Option<String> {
        let dropped = self.writer.dropped();
        let of = if dropped == 1 { "entry was" } else { "entries were" };
        let file = self.file.display();
        (dropped > 0).then(|| {
            format!("{file} was started anew: its {} {of} of embedded services of before", grouped(dropped))
        })
    }

    fn finish(self: Box<Self>) -> io::Result<WrittenCorpus> {
        let CorpusWritten { added, lost, known, last } = self.writer.finish()?;
        Ok(WrittenCorpus { added, lost, known, last })
    }
}

/// Finds each corpus that flows read and the plan's own fill does not write, so that one which is not there is told ahead of a fill, and
/// not after its hour.
///
/// # Errors
/// When it cannot be opened.
pub(super) fn expect_there(plan: &Plan) -> Result<(), PlanError> {
    let filled = plan.fill.as_ref().and_then(|fill| fill.corpus.as_deref());
    for (place, workload) in plan.measured() {
        let (read, key) = match (verify(workload), mixed(workload)) {
            (Some(verify), _) => (verify, PlanPath::workload(place).key(VERIFY)),
            (None, Some(mixed)) => (&mixed.verify, PlanPath::workload(place).key(MIXED).key("verify")),
            (None, None) => continue,
        };
        let is_filled = |path: &Path| filled.is_some_and(|filled| is_same_place(path, filled));
        let Some(path) = read.corpus.as_deref().filter(|path| !is_filled(path)) else { continue };
        File::open(path).map_err(|source| {
            let unread = SigstoreError::CorpusUnread { path: path.to_owned(), source };
            PlanFault::failed(unread).at(key.key("corpus"))
        })?;
    }
    Ok(())
}

/// Asks a log whether it can be that of a corpus, or whether it is one at all where there is none yet.
///
/// # Errors
/// When it is another one.
pub(super) fn held_against(
    probe: Option<&CorpusProbe>,
    log: (ReadRekor, ClientConfig),
    epoch_unix_ms: u64,
    missing_after: Duration,
) -> Result<(), SigstoreError> {
    let clock = Rc::new(MonotonicClock::starting_now());
    let (rekor, client) = log;
    let asked = async {
        match probe {
            Some(probe) => probe.ask(client, clock, epoch_unix_ms, missing_after).await,
            None => expect_log(rekor, client, clock).await,
        }
    };
    // Whoever has no runtime now has none for the run either, and a signal ends that as well: it is told then.
    before_run::ask(asked).unwrap_or(Ok(()))
}
