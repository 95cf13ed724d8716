//! `hammer plan`: the plan that a run would have.

use std::io;

use hammer_report::ExitCode;

use crate::args::PlanArgs;
use crate::assemble::check;
use crate::error::CliError;
use crate::output::{print, say_notes};
use crate::plan::error::PlanError;
use crate::plan::read::{self, SourcedPlan};
use crate::plan::sweep::{self, PlannedRun};
use crate::protocol::registry::Registry;

/// Prints it in YAML, with every default filled in; a plan that contradicts itself is refused, but nothing that it
/// names is started, dialled or read but a trace of arrivals, since that is the load.
pub(crate) fn show(args: &PlanArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let planned = read::plan(args, registry.grammar())?;
    say_notes(&planned.source)?;
    for PlannedRun { plan: SourcedPlan { plan, source }, .. } in &sweep::runs(&planned, registry.grammar())? {
        check(registry, plan).map_err(|error| error.placed(source))?;
    }
    let text = serde_saphyr::to_string(&planned.plan).map_err(PlanError::from)?;
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::Clean)
}
