//! What ends the command before a report, and the exit code that says so.

use std::path::PathBuf;

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
    Run(#[from] hammer_core::run::RunError),
    /// A hook ended badly.
    #[error("failed to run the hook `{command}`: {reason}")]
    Hook { command: String, reason: String },
    /// Output that nobody can take.
    #[error("failed to write {what}: {source}")]
    Output { what: String, source: std::io::Error },
}

impl CliError {
    /// The exit code of DESIGN's table: 2 usage or plan, 6 a report that could not be written, 130 interrupted.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Plan(_) | Self::File { .. } | Self::Hook { .. } => 2,
            Self::Run(hammer_core::run::RunError::Interrupted) => 130,
            Self::Run(_) => 5,
            Self::Output { .. } => 6,
        }
    }

    /// A plan or command line that is wrong, from any fragment that completes "failed to ...".
    pub(crate) fn plan(fragment: impl std::fmt::Display) -> Self {
        Self::Plan(format!("failed to {fragment}"))
    }
}
