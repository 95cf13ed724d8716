//! What is told of large files that wait for their verification.

use std::rc::Rc;
use std::sync::Arc;

use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;

use crate::every_second::every_second;
use crate::kept_files::KeptFiles;

/// The files of a workload that wait, and their bytes, as observations: `files_waiting`, `files_waiting_bytes`.
#[derive(Debug)]
pub struct WaitingFiles(Arc<KeptFiles>);

impl WaitingFiles {
    /// Those among these.
    pub fn new(files: Arc<KeptFiles>) -> Self {
        Self(files)
    }

    fn tell(&self, sink: &ObservationSink, now: Nanos) {
        sink.observed("files_waiting", now, self.0.waiting() as f64);
        sink.observed("files_waiting_bytes", now, self.0.waiting_bytes() as f64);
    }
}

impl Observer for WaitingFiles {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(every_second(clock, ending, move |now| self.tell(&sink, now)))
    }
}
