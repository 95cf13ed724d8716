//! `hammer ct`: one log, loaded, followed or verified from one line; and the roots that it must accept.

use std::io;

use hammer_report::ExitCode;

use crate::args::{CtCommand, PlanArgs, RootsArgs};
use crate::error::{CliError, UsageError};
use crate::output::standard::{print, say_notes};
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

fn roots(RootsArgs { plan, changes }: &RootsArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let roots = match plan {
        Some(plan) => {
            let args = PlanArgs { plan: plan.clone(), changes: changes.clone() };
            let SourcedPlan { plan, source } = read::plan(&args, registry.grammar())?;
            say_notes(&source)?;
            ct::roots::roots(&plan).map_err(|error| error.placed(&source))?
        }
        None if !changes.set.is_empty() => {
            return Err(UsageError::Lacking {
                flag: "--set",
                lacks: "there is no plan whose keys it changes",
            }
            .into());
        }
        None => vec![ct::roots::of_one_line(changes.seed.unwrap_or_default())?],
    };
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
