//! `hammer plan`: the plan that a run would have.

use std::io;

use hammer_report::ExitCode;
use hammer_report::summary::Wording;

use crate::args::PlanArgs;
use crate::assemble::check;
use crate::assemble::foolish::foolish;
use crate::error::CliError;
use crate::output::standard::{print, say_all, say_notes};
use crate::plan::error::PlanError;
use crate::plan::printed::masked;
use crate::plan::read::{self, SourcedPlan};
use crate::plan::sweep::{self, PlannedRun};
use crate::protocol::registry::Registry;

/// Prints it in YAML, with its defaults filled in and without its secrets, and the order of its runs where there are several; a plan that contradicts itself is refused, but nothing that it
/// names is started, dialled or read but a trace of arrivals, since that is the load.
pub(crate) fn show(args: &PlanArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let planned = read::plan(args, registry.grammar())?;
    say_notes(&planned.source)?;
    let runs = sweep::runs(&planned, registry.grammar())?;
    for PlannedRun { plan: SourcedPlan { plan, source }, .. } in &runs {
        check(registry, plan).map_err(|error| error.placed(source))?;
    }
    say_all(&foolish(&planned.plan))?;
    let plan = serde_json::to_value(&planned.plan).map_err(PlanError::from)?;
    let text = masked(plan)? + &in_order(&runs);
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::Clean)
}

/// Several runs in the order in which they come, as a comment of the plan.
fn in_order(runs: &[PlannedRun]) -> String {
    if runs.len() < 2 {
        return String::new();
    }
    let wording = Wording::of(runs.iter().map(|run| &run.labels));
    let lines = runs.iter().take(MOST_LISTED).enumerate();
    let lines = lines.map(|(place, run)| {
        // What a comment says stays on its line.
        let label = wording.label(&run.labels).split_whitespace().collect::<Vec<_>>().join(" ");
        format!("# {}: {label}\n", place + 1)
    });
    let unlisted = match runs.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!("# and {more} more\n"),
    };
    format!("# {} runs:\n{}{unlisted}", runs.len(), lines.collect::<String>())
}

const MOST_LISTED: usize = 100;
