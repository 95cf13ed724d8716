//! Embedded targets as a run keeps them.

use hammer_lab::fault::TimedFault;
use hammer_lab::handle::{LabHandle, LabTarget};
use hammer_lab::serve::LinkPlan;
use hammer_lab::{LabError, LabStats};
use hammer_values::{ServiceUrl, ValueError};

use crate::error::CliError;
use crate::plan::error::PlanFault;
use crate::plan::path::PlanPath;

/// Tells what a target counted up to now.
pub(crate) type LabStatsReader = Box<dyn Fn() -> LabStats + Send>;

/// An embedded target that runs; dropping it stops it.
pub(crate) trait Lab {
    /// Counts the times of its scripted faults from now.
    fn restart_faults(&self);

    /// What it is, in a word: `http`, `rekor`.
    fn name(&self) -> &'static str;

    /// The slow link before it, where it has one.
    fn link(&self) -> Option<LinkPlan>;

    /// Who tells what it counted up to any time.
    fn stats(&self) -> LabStatsReader;

    /// What it does at some time from then on, in the order of time.
    fn timed_faults(&self) -> Vec<TimedFault>;
}

impl<T: LabTarget> Lab for LabHandle<T> {
    fn restart_faults(&self) {
        self.restart_faults();
    }

    fn name(&self) -> &'static str {
        self.name()
    }

    fn link(&self) -> Option<LinkPlan> {
        self.link()
    }

    fn stats(&self) -> LabStatsReader {
        Box::new(self.stats_reader())
    }

    fn timed_faults(&self) -> Vec<TimedFault> {
        self.timed_faults()
    }
}

/// What keeps the embedded target of that path from its start: a key of it, a file that it names, or the machine.
pub(crate) fn unstarted(error: LabError, at: &PlanPath) -> CliError {
    match error {
        LabError::Plan { key, reason } => PlanFault::Misfit(reason).at(at.clone().keys(&key)).into(),
        LabError::File { .. } | LabError::Content { .. } => PlanFault::from(error).at(at.clone()).into(),
        LabError::Listen { .. } => PlanFault::from(error).at(at.clone().keys("serve.listen")).into(),
        LabError::Thread(_) | LabError::Died => error.into(),
    }
}

/// Where an embedded target says that it is.
///
/// # Errors
/// When no plan could say so.
pub(crate) fn own_url(url: &str) -> Result<ServiceUrl, LabError> {
    let unusable = |why: ValueError| LabError::Plan { key: "serve.listen".into(), reason: why.to_string() };
    url.parse().map_err(unusable)
}
