//! What is asked before a run, on the thread of the command.

use std::future::Future;

use hammer_core::run::RunError;
use tokio::task::LocalSet;

use crate::error::{CliError, StartError};
use crate::signals::EndSignals;

/// Asks until there is an answer or a signal ends the wait: a service that says nothing must not hold up who would rather leave.
///
/// # Errors
/// When there is no runtime for it, or a signal came.
pub(crate) fn ask<T>(asked: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(StartError::Runtime)?;
    LocalSet::new().block_on(&runtime, async {
        let mut signals = EndSignals::listen().map_err(StartError::Signals)?;
        tokio::select! {
            answer = asked => Ok(answer),
            () = signals.arrived() => Err(RunError::Interrupted.into()),
        }
    })
}
