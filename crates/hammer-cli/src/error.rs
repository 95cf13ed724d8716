//! What ends a command before its report, by whose fault it is.

mod output;
mod start;
mod target;
mod usage;

use std::path::PathBuf;

use hammer_core::run::RunError;
use hammer_lab::LabError;
use hammer_report::{BuildError, ReasonKind};

use crate::diagnostics::DiagnosticsError;
use crate::hooks::HookError;
use crate::plan::error::PlanError;
use crate::plan::source::PlanSource;

pub(crate) use output::OutputError;
pub(crate) use start::StartError;
pub(crate) use target::TargetError;
pub(crate) use usage::UsageError;

/// A command that could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The command line asks for what cannot be.
    #[error("failed to {0}")]
    Usage(#[from] UsageError),
    /// The plan does.
    #[error("failed to {0}")]
    Plan(#[from] PlanError),
    /// The target is not one that may be loaded.
    #[error("failed to {0}")]
    Target(#[from] TargetError),
    /// The embedded target does not start.
    #[error("failed to {0}")]
    Lab(#[from] LabError),
    /// The command's own parts do not start.
    #[error("failed to {0}")]
    Start(#[from] StartError),
    /// What happens beside the load cannot be told as asked.
    #[error("failed to {0}")]
    Diagnostics(#[from] DiagnosticsError),
    /// A command around the runs failed.
    #[error("failed to {0}")]
    Hook(#[from] HookError),
    /// The run could not go on.
    #[error("failed to {0}")]
    Run(#[from] RunError),
    /// The run left nothing to report.
    #[error("failed to {0}")]
    Report(#[from] BuildError),
    /// A signal ended it.
    #[error("interrupted by a signal")]
    Interrupted,
    /// A signal ended runs of which some had been carried out.
    #[error("interrupted by a signal; the reports of what was carried out are kept in {}", .0.display())]
    InterruptedRounds(PathBuf),
    /// What was found cannot be told.
    #[error("failed to {0}")]
    Output(#[from] OutputError),
}

impl CliError {
    /// What it says against the command, which decides the exit code.
    pub(crate) fn reason(&self) -> ReasonKind {
        match self {
            Self::Usage(_) | Self::Plan(_) | Self::Target(_) | Self::Diagnostics(_) | Self::Hook(_) => {
                ReasonKind::Usage
            }
            Self::Lab(error) => of_lab(error),
            Self::Start(_) | Self::Report(_) => ReasonKind::NotBelievable,
            Self::Run(error) => of_run(error),
            Self::Interrupted | Self::InterruptedRounds(_) => ReasonKind::Interrupted,
            Self::Output(error) => error.reason(),
        }
    }

    /// The same with the place in the plan where it was written, where it is the plan's.
    pub(crate) fn placed(self, source: &PlanSource) -> Self {
        match self {
            Self::Plan(error) => Self::Plan(error.placed(source)),
            other => other,
        }
    }
}

fn of_lab(error: &LabError) -> ReasonKind {
    match error {
        LabError::Listen { .. }
        | LabError::File { .. }
        | LabError::Content { .. }
        | LabError::Plan { .. } => ReasonKind::Usage,
        LabError::Thread(_) | LabError::Died => ReasonKind::NotBelievable,
    }
}

fn of_run(error: &RunError) -> ReasonKind {
    match error {
        RunError::Interrupted => ReasonKind::Interrupted,
        RunError::Thread(_)
        | RunError::Open(_)
        | RunError::Panicked(_)
        | RunError::SupplyPanicked
        | RunError::CrewPanicked
        | RunError::VerifierPanicked(_)
        | RunError::ObserverPanicked => ReasonKind::NotBelievable,
    }
}
