//! `hammer sigstore`: services of Sigstore, loaded from one line; bundles, verified; and the issuer of the tokens that they are shown.

use hammer_report::ExitCode;

use crate::args::SigstoreCommand;
use crate::error::CliError;
use crate::protocol::registry::Registry;

mod issuer;
mod load;
mod target;
mod verify_bundle;

/// Carries it out.
pub(crate) fn command(command: &SigstoreCommand, registry: &Registry) -> Result<ExitCode, CliError> {
    match command {
        SigstoreCommand::Sign(args) => load::sign(args, registry),
        SigstoreCommand::Mixed(args) => load::mixed(args, registry),
        SigstoreCommand::Fill(args) => load::fill(args, registry),
        SigstoreCommand::Verify(args) => load::verify(args, registry),
        SigstoreCommand::Tsa(args) => load::tsa(args, registry),
        SigstoreCommand::VerifyBundle(args) => verify_bundle::verify(args),
        SigstoreCommand::Issuer(args) => issuer::serve(args, registry),
    }
}
