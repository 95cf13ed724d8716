//! Asynchronous work on the thread of the command.

use std::future::Future;

use crate::error::{CliError, StartError};
use crate::signals::EndSignals;

/// Carries out on this thread what needs neither plan nor run.
pub(super) fn locally<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(StartError::Runtime)?;
    tokio::task::LocalSet::new().block_on(&runtime, work)
}

/// The same work until it is done or a signal comes, which leaves nothing of it.
pub(super) async fn or_signal<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let mut signals = EndSignals::listen().map_err(StartError::Signals)?;
    tokio::select! {
        done = work => done,
        () = signals.arrived() => Err(CliError::Interrupted),
    }
}
