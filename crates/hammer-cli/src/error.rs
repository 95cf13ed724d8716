//! What ends the command before a report, and the exit code that says so.

use std::path::PathBuf;

use hammer_core::run::RunError;
use hammer_report::ReasonKind;

/// A command that could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The plan or the command line is wrong.
    #[error("{0}")]
    Plan(String),
    /// A file that the plan names cannot be used.
    #[error("failed to {action} {path}: {source}")]
    File { action: &'static str, path: PathBuf, source: std::io::Error },
    /// The run could not go on.
    #[error("failed to {0}")]
    Run(#[from] RunError),
    /// A hook ended badly.
    #[error("failed to run the hook `{command}`: {reason}")]
    Hook { command: String, reason: String },
    /// Output that nobody can take.
    #[error("failed to write {what}: {source}")]
    Output { what: String, source: std::io::Error },
}

impl CliError {
    /// What it says against the command, which decides the exit code.
    pub(crate) fn reason(&self) -> ReasonKind {
        match self {
            Self::Plan(_) | Self::File { .. } | Self::Hook { .. } => ReasonKind::Usage,
            Self::Run(RunError::Interrupted) => ReasonKind::Interrupted,
            Self::Run(
                RunError::Thread(_)
                | RunError::Open(_)
                | RunError::Panicked(_)
                | RunError::SupplyPanicked
                | RunError::CrewPanicked,
            ) => ReasonKind::NotBelievable,
            Self::Output { .. } => ReasonKind::ReportUnwritten,
        }
    }

    /// A plan or command line that is wrong, from any fragment that completes "failed to ...".
    pub(crate) fn plan(fragment: impl std::fmt::Display) -> Self {
        Self::Plan(format!("failed to {fragment}"))
    }
}
