//! Why a command cannot start to do its work.

use std::io;

/// A fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// No runtime for asynchronous work.
    #[error("start a runtime: {0}")]
    Runtime(#[source] io::Error),
    /// Signals cannot be listened to.
    #[error("wait for a signal: {0}")]
    Signals(#[source] io::Error),
    /// What happens beside the load has no thread.
    #[error("start what happens beside the load: {0}")]
    Beside(#[source] io::Error),
    /// The terminal cannot be drawn on.
    #[error("show the dashboard: {0}")]
    Dashboard(#[source] io::Error),
}
