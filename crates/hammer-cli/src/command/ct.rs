//! `hammer ct`: one log, loaded, followed or verified from one line; and the roots that it must accept.

use std::io;

use hammer_report::ExitCode;

use crate::args::{CtCommand, PlanArgs};
use crate::error::{CliError, UsageError};
use crate::output::{print, say_notes};
use crate::plan::read::{self, SourcedPlan};
use crate::protocol::ct;
use crate::protocol::registry::Registry;

mod audit;
mod follow;
mod inspection;
mod load;
mod locally;
mod log;
mod mismatch;
mod receipts;

/// Carries it out.
pub(crate) fn command(command: &CtCommand, registry: &Registry) -> Result<ExitCode, CliError> {
    match command {
        CtCommand::Submit(args) => load::submit(args, registry),
        CtCommand::Read(args) => load::read(args, registry),
        CtCommand::Follow(args) => follow::follow(args, registry),
        CtCommand::Audit(args) => audit::audit(args, registry),
        CtCommand::Roots(args) => roots(args, registry),
    }
}

fn roots(args: &PlanArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let SourcedPlan { plan, source } = read::plan(args, registry.grammar())?;
    say_notes(&source)?;
    let roots = ct::roots::roots(&plan).map_err(|error| error.placed(&source))?;
    if roots.iter().all(|roots| roots.pem.is_empty()) {
        return Err(UsageError::NoRoots.into());
    }
    let mut seen: Vec<&str> = Vec::new();
    for roots in &roots {
        if !seen.contains(&roots.pem.as_str()) {
            seen.push(&roots.pem);
        }
    }
    print(io::stdout(), |out| seen.iter().try_for_each(|pem| out.write_all(pem.as_bytes())))?;
    Ok(ExitCode::Clean)
}
