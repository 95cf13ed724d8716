//! `hammer attest`: attestation verifiers, loaded from one line, and devices for them.

use hammer_report::ExitCode;

use crate::args::AttestCommand;
use crate::error::CliError;
use crate::protocol::registry::Registry;

mod device;
mod load;

/// Carries it out.
pub(crate) fn command(command: &AttestCommand, registry: &Registry) -> Result<ExitCode, CliError> {
    match command {
        AttestCommand::Provision(args) => load::provision(args, registry),
        AttestCommand::Verify(args) => load::verify(args, registry),
        AttestCommand::WellKnown(args) => load::well_known(args, registry),
        AttestCommand::Device(args) => device::write(args),
    }
}
