//! `hammer run`: carries a plan out, as often as it asks for, and reports.

use std::path::{Path, PathBuf};

use hammer_core::run::{RunError, control, run};
use hammer_measure::{Nanos, Now, Reporter, RunEvent};
use hammer_report::report::Event;
use hammer_report::summary::{HookOutput, SummaryRun, Wording};
use hammer_report::{ExitCode, Reason, ReasonKind, Report, ReportBuilder, Summary};
use serde_json::Value;

use crate::args::{OutputArgs, RunArgs};
use crate::assemble::{AssembledRun, KeptTarget, OpenedPlan, check, open};
use crate::command::fill::{FillRun, FilledRun};
use crate::dashboard::dashboard;
use crate::earlier_runs::EarlierRuns;
use crate::error::{CliError, StartError};
use crate::evidence;
use crate::hooks::mid_run::MidRun;
use crate::hooks::scripted_faults::ScriptedFaults;
use crate::metrics::MetricsPage;
use crate::otlp::{Collector, RunExport};
use crate::output::stream_reporters::StreamReporters;
use crate::output::{Outputs, folder, unwritten};
use crate::plan::Plan;
use crate::plan::error::PlanFault;
use crate::plan::path::PlanPath;
use crate::plan::read::{self, SourcedPlan};
use crate::plan::sweep::{PlannedRun, runs};
use crate::progress::Progress;
use crate::protocol::registry::Registry;
use crate::protocol::{Conclusion, RunFiles};
use crate::readiness::ReadyWait;
use crate::resources::watch::ResourceWatch;
use crate::signals::Signals;
use crate::tui::spec::RunPlace;
use crate::web::{LiveWeb, ShownRun};
use crate::wording::told_without_credentials;
use crate::{hooks, resources, tui};

/// Carries out the plan of a file.
pub(crate) fn of_file(args: &RunArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    of_plan(&read::plan(&args.plan, registry.grammar())?, &args.output, registry)
}

/// Carries out a plan; the exit code is that of its report, or of the summary of its runs.
pub(crate) fn of_plan(
    planned: &SourcedPlan<Plan>,
    output: &OutputArgs,
    registry: &Registry,
) -> Result<ExitCode, CliError> {
    of_plan_with(planned, None, output, registry)
}

/// The same of a plan that fills a corpus which is gone with the command.
pub(crate) fn of_plan_with(
    planned: &SourcedPlan<Plan>,
    passing: Option<&Path>,
    output: &OutputArgs,
    registry: &Registry,
) -> Result<ExitCode, CliError> {
    let output = &*tui::fitted(output)?;
    resources::lift_descriptor_limit();
    let mut runs = runs(planned, registry.grammar())?;
    if output.tolerate_lag {
        // What reports carry is to be carried out again as it was.
        runs.iter_mut().for_each(|run| run.plan.plan.health = run.plan.plan.health.tolerated());
    }
    for PlannedRun { plan: SourcedPlan { plan, source }, .. } in &runs {
        check(registry, plan).map_err(|error| error.placed(source))?;
    }
    let plan = &planned.plan;
    let mut outputs = Outputs::open(output, planned, runs.len()).map_err(|error| {
        let of_plan = error.of_plan().map(|(key, why)| PlanFault::Misfit(why).at(PlanPath::of(key)));
        of_plan.map_or_else(|| CliError::from(error), |error| error.placed(&planned.source).into())
    })?;
    let collector = Collector::of(&output.otlp)?;
    let metrics = MetricsPage::serve(output)?;
    let web = LiveWeb::serve(output)?;
    let signals = Signals::watch().map_err(StartError::Signals)?;
    let run = RunContext {
        registry,
        output,
        signals,
        passing,
        metrics,
        web,
        collector,
        runs: runs.len(),
        wording: Wording::of(runs.iter().map(|run| &run.labels)),
        earlier: EarlierRuns::default(),
    };
    let placed = |run: PlannedRun| PlacedRun { files: folder(output, &run.plan.plan.output), run };
    let runs: Vec<PlacedRun> = runs.into_iter().map(placed).collect();
    if let [only] = runs.as_slice() {
        let mut carried_out = run.one(only, &mut None, &mut outputs, (Vec::new(), false))?;
        outputs.report(&mut carried_out.report)?;
        run.conclude(&carried_out.report);
        run.linger();
        return Ok(carried_out.report.verdict.code());
    }
    let code = run.several(plan, &runs, &mut outputs)?;
    run.linger();
    Ok(code)
}

/// A run that a plan asks for, with the folder of what is written beside its report.
struct PlacedRun {
    run: PlannedRun,
    files: PathBuf,
}

/// A run that was carried out, or the fill ahead of one.
struct CarriedOut {
    report: Report,
    hooks: Vec<HookOutput>,
    /// Whether only its fill was: what ended the run behind it ends the next one as well.
    is_unstarted: bool,
}

/// What all runs of a command have in common.
struct RunContext<'a> {
    registry: &'a Registry,
    output: &'a OutputArgs,
    signals: Signals,
    /// A corpus that is gone with the command.
    passing: Option<&'a Path>,
    metrics: Option<MetricsPage>,
    web: Option<LiveWeb>,
    /// Whom metrics are sent to.
    collector: Option<Collector>,
    /// How many the plan has.
    runs: usize,
    /// How what tells them apart is told.
    wording: Wording,
    earlier: EarlierRuns,
}

impl RunContext<'_> {
    /// Has the live page say what the report of a run does.
    fn conclude(&self, report: &Report) {
        self.web.iter().for_each(|web| web.conclude(report));
    }

    /// Ends the live page, and waits until the metrics of the last run were read, where the command line says so.
    fn linger(self) {
        drop(self.web);
        self.metrics.iter().for_each(|metrics| metrics.linger(&self.signals));
    }

    fn several(
        &self,
        plan: &Plan,
        planned: &[PlacedRun],
        outputs: &mut Outputs,
    ) -> Result<ExitCode, CliError> {
        let mut rows = Vec::new();
        let mut failed = None;
        let mut interrupted = None;
        let mut kept = None;
        let keeps = plan.target.lab.as_ref().is_some_and(|lab| lab.keep);
        for (place, run) in planned.iter().enumerate() {
            let between = if place > 0 {
                hooks::run("between", &plan.hooks.between, &run.run.plan.source)
            } else {
                Ok(Vec::new())
            };
            if self.signals.asked() {
                failed = rows.is_empty().then_some(CliError::Run(RunError::Interrupted));
                interrupted = Some(Reason::new(ReasonKind::Interrupted, BETWEEN_RUNS.to_owned()));
                break;
            }
            let between = between.map_err(CliError::from);
            outputs.start_run(place);
            // No command empties an embedded target.
            let is_reset = place > 0 && !plan.hooks.between.is_empty() && !keeps;
            let carried_out = between.and_then(|said| self.one(run, &mut kept, outputs, (said, is_reset)));
            let CarriedOut { mut report, hooks, is_unstarted } = match carried_out {
                Ok(carried_out) => carried_out,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            };
            outputs.run(place, &mut report);
            self.conclude(&report);
            let ramp = run.run.plan.plan.measured().map(|(_, workload)| workload.load.ramp()).max();
            let row = SummaryRun::of(&report, run.run.labels.clone(), hooks);
            rows.push(row.ramped(ramp.unwrap_or_default().as_secs_f64()));
            if report.run.interrupted || is_unstarted {
                break;
            }
        }
        // What was found before a failure is told all the same.
        let of_failure = |error: &CliError| Reason::new(error.reason(), told_without_credentials(error));
        let stopped = failed.as_ref().map(of_failure).or(interrupted);
        let summary = Summary::of(rows).by(plan.summary.by.clone()).in_order(plan.order);
        let summary = summary.of_planned(planned.len(), stopped);
        let unwritten = if summary.runs.is_empty() { Ok(None) } else { outputs.summary(&summary) };
        if let Some(error) = failed {
            return Err(error);
        }
        Ok(ExitCode::of(summary.said().chain(unwritten?.map(|reason| reason.reason))))
    }

    /// Carries out one run, with the fill ahead of it, anew where `is_reset`, behind hooks that said this.
    fn one<'a>(
        &'a self,
        PlacedRun { run: planned, files }: &'a PlacedRun,
        kept: &mut Option<KeptTarget<'a>>,
        outputs: &mut Outputs,
        (mut hooks, is_reset): (Vec<HookOutput>, bool),
    ) -> Result<CarriedOut, CliError> {
        let Self { registry, output, signals, passing, earlier, .. } = self;
        let SourcedPlan { plan, source } = &planned.plan;
        hooks.extend(hooks::run("before", &plan.hooks.before, source)?);
        if is_reset || plan.target.lab.as_ref().is_some_and(|lab| !lab.keep) {
            earlier.forget();
        }
        let placed = |error: CliError| error.placed(source);
        let wait = ReadyWait::new(signals, output.quiet);
        let mut opened = open(registry, plan, (files, earlier), kept, wait).map_err(placed)?;
        let mut filled = match opened.fill(is_reset).map_err(placed)? {
            Some(fill) => {
                opened.labs.iter().for_each(|lab| lab.restart_faults());
                let (notes, passing) = (opened.notes(), *passing);
                let web = self.web.as_ref().map(|web| (web, outputs.place() + 1));
                let targets = &opened.targets;
                let place = self.place(planned, outputs);
                let around =
                    FillRun { registry, plan, targets, output, signals, files, notes, passing, web, place };
                Some(around.carry_out(fill, outputs)?)
            }
            None => None,
        };
        let is_all = |filled: &FilledRun| filled.is_incomplete() || plan.measured().next().is_none();
        let mut is_unstarted = false;
        let mut report = match filled.take_if(|filled| is_all(filled)) {
            Some(filled) => {
                let mut report = filled.into_report(plan.embedded());
                // Nothing is measured, and what was filled is all that there is to tell.
                self.metrics
                    .iter()
                    .for_each(|metrics| metrics.reporter(outputs.place(), self.runs).conclude(&report));
                self.export(outputs.place())?
                    .into_iter()
                    .for_each(|export| export.conclude(&mut report, signals));
                report
            }
            None => {
                match (self.measured(planned, &mut opened, filled.is_some(), &hooks, outputs), filled.take())
                {
                    (Ok(report), fill) => {
                        filled = fill;
                        report
                    }
                    // What was filled is told all the same.
                    (Err(error), Some(filled)) => {
                        is_unstarted = true;
                        let mut report = filled.into_report(plan.embedded());
                        let text = format!(
                            "nothing was measured behind the fill: {}",
                            told_without_credentials(&error)
                        );
                        report.add_reason(Reason::new(error.reason(), text));
                        report
                    }
                    (Err(error), None) => return Err(error),
                }
            }
        };
        if let Some(filled) = filled {
            filled.add_to(&mut report);
        }
        if let Some(passing) = passing {
            stand_in(&mut report, passing);
        }
        drop(opened);
        let (after, failed) = match hooks::run("after", &plan.hooks.after, source) {
            Ok(after) => (after, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let at_ns = report.phases.last().map_or(0, |span| span.end_ns);
        report.events.extend(after.iter().map(|hook| Event::Note { at_ns, text: said(hook) }));
        hooks.extend(after);
        if let Some(error) = failed.map(CliError::from) {
            report.add_reason(Reason::new(error.reason(), told_without_credentials(&error)));
        }
        Ok(CarriedOut { report, hooks, is_unstarted })
    }

    /// The run that is measured.
    fn measured(
        &self,
        planned: &PlannedRun,
        opened: &mut OpenedPlan<'_>,
        after_fill: bool,
        hooks: &[HookOutput],
        outputs: &mut Outputs,
    ) -> Result<Report, CliError> {
        let Self { registry, output, signals, .. } = self;
        let SourcedPlan { plan, source } = &planned.plan;
        let AssembledRun { mut spec, files: written } =
            opened.run(after_fill).map_err(|error| error.placed(source))?;
        let clock = spec.clock;
        let mut watch = plan
            .resources
            .as_ref()
            .map(|resources| ResourceWatch::new(resources, plan.target.authorized.as_ref(), clock))
            .transpose()
            .map_err(|error| error.placed(source))?;
        if let Some(watch) = &mut watch {
            watch.rest().map_err(StartError::Beside)?;
            spec.observers.extend(watch.observers());
            spec.stops.extend(watch.stop());
        }
        opened.labs.iter().for_each(|lab| lab.restart_faults());
        let faults = opened.labs.iter().flat_map(|lab| lab.timed_faults());
        let faults = ScriptedFaults::from(clock.now(), faults);
        let mut mid_run = MidRun::start(plan, faults, clock).map_err(StartError::Beside)?;
        spec.observers.extend(mid_run.as_ref().map(MidRun::observer));
        let mut builder = ReportBuilder::new();
        let mut progress = Progress::new(output.quiet || output.tui);
        let mut streams = StreamReporters::of(outputs, output.sample_sizes())?;
        spec.samples = streams.has_samples().then(|| output.sample_sizes());
        let mut metrics = self.metrics.as_ref().map(|metrics| metrics.reporter(outputs.place(), self.runs));
        let mut shown = dashboard(registry, plan, &opened.targets);
        shown.run = self.place(planned, outputs);
        let mut export = self.export(outputs.place())?;
        spec.shows_thresholds = output.tui;
        spec.health = plan.health.policy();
        let (control, inbox) = control();
        signals.attach(&control);
        let number = outputs.place() + 1;
        let live = ShownRun { number, plan: plan.embedded(), shown: shown.clone(), control: &control };
        let mut live = self.web.as_ref().map(|web| web.reporter(live));
        let (files, epoch) = (folder(output, &plan.output), spec.epoch_unix_ms);
        let result = {
            // It gives the terminal back at the end of this block, before anything is printed.
            let mut dashboard = tui::open(shown, output, &control)?;
            let mut reporters: Vec<&mut dyn Reporter> = vec![&mut builder, &mut progress];
            reporters.extend(watch.as_mut().map(|watch| watch as &mut dyn Reporter));
            reporters.extend(mid_run.as_mut().map(|mid_run| mid_run as &mut dyn Reporter));
            reporters.extend(dashboard.as_mut().map(|dashboard| dashboard as &mut dyn Reporter));
            reporters.extend(streams.reporters());
            reporters.extend(metrics.as_mut().map(|metrics| metrics as &mut dyn Reporter));
            reporters.extend(live.as_mut().map(|live| live as &mut dyn Reporter));
            reporters.extend(export.as_mut().map(|export| export as &mut dyn Reporter));
            let notes = source.notes().iter().cloned().chain(opened.notes());
            for text in notes.chain(hooks.iter().map(said)) {
                let note = RunEvent::Note { at: Nanos::ZERO, text };
                reporters.iter_mut().for_each(|reporter| reporter.event(&note));
            }
            run(spec, inbox, &mut reporters)?
        };
        let evidence = evidence::keep(&result.evidence, (registry, plan), &files, epoch);
        let mut lost = tell_written(&written, &clock, &mut builder);
        match evidence {
            Ok(Some(path)) => {
                let text = format!("what shows the first broken promises is in {}", path.display());
                builder.event(&RunEvent::Note { at: clock.now(), text });
            }
            Ok(None) => {}
            Err(error) => lost.push(unwritten(&files, &error)),
        }
        drop(mid_run);
        let mut report = builder.build(plan.embedded(), &[])?;
        report.link = opened.link.as_ref().map(|link| report.link_figures(link.source, link.rates));
        report.server_resources = watch.map(|watch| watch.of_run(plan, &report));
        conclude_by_protocols(registry, plan, clock.now(), &mut report);
        lost.extend(streams.finish());
        lost.into_iter().for_each(|reason| report.add_reason(reason));
        metrics.iter().for_each(|metrics| metrics.conclude(&report));
        export.into_iter().for_each(|export| export.conclude(&mut report, signals));
        Ok(report)
    }

    /// Which of the plan's runs it is, where there are several.
    fn place(&self, planned: &PlannedRun, outputs: &Outputs) -> Option<RunPlace> {
        let place =
            RunPlace { number: outputs.place() + 1, of: self.runs, labels: planned.words(&self.wording) };
        (self.runs > 1).then_some(place)
    }

    /// Who sends the metrics of the run at that place, where the command line names a collector.
    fn export(&self, place: usize) -> Result<Option<RunExport>, CliError> {
        let run = (self.runs > 1).then(|| (place + 1).to_string());
        let export = self.collector.as_ref().map(|collector| RunExport::start(collector, run));
        Ok(export.transpose().map_err(StartError::Beside)?)
    }
}

/// Tells of the files that operations wrote; why those were lost that could not be written.
fn tell_written(written: &[Box<dyn RunFiles>], clock: &dyn Now, builder: &mut ReportBuilder) -> Vec<Reason> {
    let mut lost = Vec::new();
    for files in written {
        match files.finish() {
            Ok(text) => builder.event(&RunEvent::Note { at: clock.now(), text }),
            Err((path, error)) => lost.push(unwritten(&path, &error)),
        }
    }
    lost
}

/// What protocols conclude from the figures.
fn conclude_by_protocols(registry: &Registry, plan: &Plan, at: Nanos, report: &mut Report) {
    report.compat = plan.compat.map(|compat| {
        let jobs = registry.protocols().iter().flat_map(|protocol| protocol.accounted(plan, compat));
        report.accounted(compat.name(), &jobs.collect::<Vec<_>>())
    });
    for protocol in registry.protocols() {
        for conclusion in protocol.conclusions(plan, report) {
            match conclusion {
                Conclusion::Reason(reason) => report.add_reason(reason),
                Conclusion::Expected => report.expect(),
                Conclusion::Note(text) => report.events.push(Event::Note { at_ns: at.0, text }),
            }
        }
    }
}

/// Has the plan of a report name a file that another run of it can fill, in place of a corpus that is gone with the command.
fn stand_in(report: &mut Report, passing: &Path) {
    replace(&mut report.plan, &passing.to_string_lossy());
    let text =
        format!("the corpus was of this run alone, and is gone: in the plan `{STAND_IN}` stands for it");
    let at_ns = report.phases.last().map_or(0, |span| span.end_ns);
    report.events.push(Event::Note { at_ns, text });
}

/// The same of each text in a value that is that path.
fn replace(value: &mut Value, path: &str) {
    match value {
        Value::String(text) if text == path => STAND_IN.clone_into(text),
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, path)),
        Value::Object(values) => values.values_mut().for_each(|value| replace(value, path)),
        _ => {}
    }
}

fn said(hook: &HookOutput) -> String {
    format!("hook {}: {}", hook.name, hook.output)
}

/// What is said of a signal that came when no run was under way.
const BETWEEN_RUNS: &str = "interrupted by a signal between two runs";
/// What a plan names in place of a corpus that is gone, as the published plans call theirs.
pub(super) const STAND_IN: &str = "entries.jsonl";
