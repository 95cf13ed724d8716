//! `hammer plan`: the plan that a run would have.

use std::io;

use hammer_report::ExitCode;

use crate::args::PlanArgs;
use crate::error::CliError;
use crate::output::print;
use crate::plan::{read, sweep};

/// Prints it in YAML, with every default filled in; a plan that contradicts itself is refused, but nothing that it
/// names is started, dialled or read.
pub(crate) fn show(args: &PlanArgs) -> Result<ExitCode, CliError> {
    let plan = read::plan(args)?;
    for run in sweep::runs(&plan)? {
        crate::assemble::check(&run.plan)?;
    }
    let text =
        serde_saphyr::to_string(&plan).map_err(|error| CliError::plan(format!("write the plan: {error}")))?;
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::Clean)
}
