//! A command that serves, and ends by a signal.

use std::fmt::Display;
use std::io;

use crate::error::{CliError, StartError};
use crate::output::standard::print;
use crate::signals::EndSignals;

/// Says where the target is, and waits for a signal, which is listened to before anyone can know of the target.
pub(super) fn until_signal(said: &impl Display) -> Result<(), CliError> {
    until_signal_beside(said, std::future::pending())
}

/// The same, with something to do meanwhile.
pub(super) fn until_signal_beside(
    said: &impl Display,
    beside: impl Future<Output = ()>,
) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(StartError::Runtime)?;
    runtime.block_on(async {
        let mut signals = EndSignals::listen().map_err(StartError::Signals)?;
        print(io::stdout(), |out| writeln!(out, "{said}"))?;
        tokio::select! {
            () = signals.arrived() => {}
            () = async { beside.await; std::future::pending().await } => {}
        }
        Ok(())
    })
}
