//! `hammer attest`: devices for attestation verifiers.

use hammer_report::ExitCode;

use crate::args::AttestCommand;
use crate::error::CliError;

mod device;

/// Carries it out.
pub(crate) fn command(command: &AttestCommand) -> Result<ExitCode, CliError> {
    match command {
        AttestCommand::Device(args) => device::write(args),
    }
}
