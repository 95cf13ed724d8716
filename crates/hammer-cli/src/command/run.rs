//! `hammer run`: carries a plan out, as often as it asks for, and reports.

use hammer_core::run::{control, run};
use hammer_measure::{Nanos, Reporter, RunEvent};
use hammer_report::summary::{HookOutput, SummaryRun};
use hammer_report::{Report, ReportBuilder, Summary};
use serde_json::Value;

use crate::args::{OutputArgs, RunArgs};
use crate::assemble::assemble;
use crate::error::CliError;
use crate::output::{Outputs, unwritten};
use crate::plan::sweep::{PlannedRun, runs};
use crate::plan::{Plan, read};
use crate::progress::Progress;
use crate::{hooks, resources, signals};

/// Carries out the plan of a file.
pub(crate) fn of_file(args: &RunArgs) -> Result<u8, CliError> {
    let plan = read::plan(&args.plan)?;
    of_plan(&plan, &args.output)
}

/// Carries out a plan; the exit code is that of its report, or of the summary of its runs.
pub(crate) fn of_plan(plan: &Plan, output: &OutputArgs) -> Result<u8, CliError> {
    resources::lift_descriptor_limit();
    let planned = runs(plan)?;
    let mut outputs = Outputs::open(output, &plan.output, planned.len())?;
    if let [only] = planned.as_slice() {
        let (mut report, _) = one(only, &mut outputs, output.quiet, Vec::new())?;
        outputs.report(&mut report)?;
        return Ok(report.verdict.exit_code);
    }
    several(plan, &planned, &mut outputs, output.quiet)
}

fn several(plan: &Plan, planned: &[PlannedRun], outputs: &mut Outputs, quiet: bool) -> Result<u8, CliError> {
    let mut rows = Vec::new();
    for (place, run) in planned.iter().enumerate() {
        let between = if place > 0 { hooks::run(&plan.hooks.between)? } else { Vec::new() };
        let (mut report, hooks) = one(run, outputs, quiet, between)?;
        outputs.run(place, &mut report);
        rows.push(SummaryRun::of(&report, run.labels.clone(), hooks));
        if report.run.interrupted {
            break;
        }
    }
    outputs.summary(&Summary::of(rows))
}

fn one(
    planned: &PlannedRun,
    outputs: &mut Outputs,
    quiet: bool,
    mut hooks: Vec<HookOutput>,
) -> Result<(Report, Vec<HookOutput>), CliError> {
    let plan = &planned.plan;
    hooks.extend(hooks::run(&plan.hooks.before)?);
    let assembled = assemble(plan)?;
    let mut builder = ReportBuilder::new();
    for (workload, users) in &assembled.users {
        builder = builder.users(workload.clone(), *users);
    }
    let mut progress = Progress::new(quiet);
    let mut events = outputs.events()?;
    let (control, inbox) = control();
    signals::watch(control).map_err(hammer_core::run::RunError::Thread)?;
    if let Some(lab) = &assembled.lab {
        lab.restart_faults();
    }
    {
        let mut reporters: Vec<&mut dyn Reporter> = vec![&mut builder, &mut progress];
        reporters.extend(events.as_mut().map(|events| events as &mut dyn Reporter));
        let said = hooks.iter().map(|hook| format!("hook {}: {}", hook.name, hook.output));
        for text in assembled.notes.iter().cloned().chain(said) {
            reporters.iter_mut().for_each(|reporter| {
                reporter.event(&RunEvent::Note { at: Nanos::ZERO, text: text.clone() });
            });
        }
        run(assembled.spec, inbox, &mut reporters)?;
    }
    drop(assembled.lab);
    hooks.extend(hooks::run(&plan.hooks.after)?);
    let embedded = serde_json::to_value(plan).unwrap_or(Value::Null);
    let mut report = builder.build(embedded, &[]).map_err(CliError::plan)?;
    if let Some(Err(error)) = events.map(hammer_report::EventsWriter::finish) {
        report.add_reason(unwritten("the events".as_ref(), &error));
    }
    Ok((report, hooks))
}
