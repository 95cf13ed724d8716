//! The fill ahead of a run: a run of its own, until enough was accepted.

use std::path::Path;
use std::sync::Arc;

use hammer_core::dispatch::{FillFailure, FillGoal};
use hammer_core::run::{RunError, control, run};
use hammer_measure::snapshot::RunResult;
use hammer_measure::{Fate, Nanos, Now as _, Reporter, RunEvent};
use hammer_report::report::{Corpus, Event, Fill, FillOutcome, SeriesKind};
use hammer_report::text::number::{grouped, plural};
use hammer_report::{Reason, ReasonKind, Report, ReportBuilder, Verdict};
use serde_json::Value;

use crate::args::OutputArgs;
use crate::assemble::AssembledFill;
use crate::dashboard;
use crate::error::CliError;
use crate::evidence;
use crate::output::stream_reporters::StreamReporters;
use crate::output::{Outputs, unwritten};
use crate::plan::Plan;
use crate::plan::fill::FillPlan;
use crate::progress::Progress;
use crate::protocol::registry::Registry;
use crate::protocol::{Conclusion, FillCorpus, WrittenCorpus};
use crate::signals::Signals;
use crate::tui;
use crate::tui::spec::RunPlace;
use crate::web::{LiveWeb, ShownRun};

/// What a fill is carried out with.
pub(super) struct FillRun<'a> {
    pub(super) registry: &'a Registry,
    pub(super) plan: &'a Plan,
    /// Where the load goes: scheme, host and port of each endpoint.
    pub(super) targets: &'a [String],
    pub(super) output: &'a OutputArgs,
    pub(super) signals: &'a Signals,
    /// The folder of what is written beside the report.
    pub(super) files: &'a Path,
    /// What the reader of the report must be told.
    pub(super) notes: Vec<String>,
    /// A corpus that is gone with the command.
    pub(super) passing: Option<&'a Path>,
    /// The live page, and the number of the run that it is ahead of.
    pub(super) web: Option<(&'a LiveWeb, usize)>,
    /// Which of the plan's runs that is, where there are several.
    pub(super) place: Option<RunPlace>,
}

/// A fill that was carried out, complete or not.
pub(super) struct FilledRun {
    outcome: FillOutcome,
    report: Report,
    /// What its figures say together.
    conclusions: Vec<Conclusion>,
    /// What could not be written.
    unwritten: Vec<Reason>,
    /// How many entries the service had before, so that the corpus has them not.
    known: u64,
    /// What is told of what the corpus had before.
    note: Option<String>,
}

impl FillRun<'_> {
    /// Carries it out.
    ///
    /// # Errors
    /// When its run cannot go on.
    pub(super) fn carry_out(self, fill: AssembledFill, outputs: &mut Outputs) -> Result<FilledRun, CliError> {
        let AssembledFill { spec, goal, before, corpus, files } = fill;
        let (clock, epoch) = (spec.clock, spec.epoch_unix_ms);
        let mut builder = ReportBuilder::new();
        let mut progress = Progress::new(self.output.quiet || self.output.tui);
        let mut streams = StreamReporters::of_fill(outputs)?;
        let (control, inbox) = control();
        let note = corpus.as_ref().and_then(|corpus| corpus.note());
        self.signals.attach(&control);
        let ran: Result<Arc<RunResult>, RunError> = {
            let mut shown = dashboard::of_fill(self.registry, self.plan, self.targets);
            shown.run = self.place;
            let live = |(web, number): (&LiveWeb, usize)| {
                let (plan, shown) = (self.plan.embedded(), shown.clone());
                web.reporter(ShownRun { number, plan, shown, control: &control })
            };
            let mut live = self.web.map(live);
            let mut dashboard = tui::open(shown, self.output, &control)?;
            let mut reporters: Vec<&mut dyn Reporter> = vec![&mut builder, &mut progress];
            reporters.extend(dashboard.as_mut().map(|dashboard| dashboard as &mut dyn Reporter));
            reporters.extend(streams.reporters());
            reporters.extend(live.as_mut().map(|live| live as &mut dyn Reporter));
            for text in self.notes.into_iter().chain(note.clone()) {
                let note = RunEvent::Note { at: Nanos::ZERO, text };
                reporters.iter_mut().for_each(|reporter| reporter.event(&note));
            }
            run(spec, inbox, &mut reporters)
        };
        // Whatever became of the run: the log has what was accepted.
        let written = corpus.map(FillCorpus::finish).transpose();
        let result = ran?;
        let mut unwritten_parts = Vec::new();
        match evidence::keep(&result.evidence, (self.registry, self.plan), self.files, epoch) {
            Ok(Some(path)) => {
                let text =
                    format!("what shows the first broken promises of the fill is in {}", path.display());
                builder.event(&RunEvent::Note { at: clock.now(), text });
            }
            Ok(None) => {}
            Err(error) => unwritten_parts.push(unwritten(self.files, &error)),
        }
        for files in &files {
            match files.finish() {
                Ok(text) => builder.event(&RunEvent::Note { at: clock.now(), text }),
                Err((path, error)) => unwritten_parts.push(unwritten(&path, &error)),
            }
        }
        unwritten_parts.extend(streams.finish());
        let fill = self.plan.fill.as_ref();
        let file = fill.and_then(|fill| fill.corpus.as_deref()).unwrap_or(Path::new(""));
        let written = written.unwrap_or_else(|error| {
            unwritten_parts.push(unwritten(file, &error));
            None
        });
        let report = builder.build(Value::Null, &[])?;
        let protocols = self.registry.protocols().iter();
        let conclusions = protocols.flat_map(|protocol| protocol.conclusions(self.plan, &report)).collect();
        let said = Said { plan: fill, goal: &goal, before, report: &report };
        let known = written.as_ref().map_or(0, |written| written.known);
        let corpus = written.as_ref().map(|written| Corpus {
            file: (self.passing != Some(file)).then(|| file.display().to_string()),
            entries: before + written.added,
            lost: written.lost + written.known,
        });
        let outcome = FillOutcome {
            workload: fill.map_or_else(String::new, |fill| fill.workload.to_string()),
            operations: fill.map_or(0, |fill| fill.operations.get() as u64),
            filled_before: before,
            filled: goal.accepted(),
            failed: goal.failed(),
            incomplete: said.incomplete(written.as_ref()),
            corpus,
        };
        Ok(FilledRun { outcome, report, conclusions, unwritten: unwritten_parts, known, note })
    }
}

impl FilledRun {
    /// Whether less was accepted than the plan wants.
    pub(super) fn is_incomplete(&self) -> bool {
        self.outcome.incomplete.is_some()
    }

    /// As the report of the command, where nothing is measured behind it.
    pub(super) fn into_report(self, plan: Value) -> Report {
        let mut report = self.report.clone();
        report.plan = plan;
        if self.outcome.incomplete.is_none() && self.outcome.filled == 0 {
            // All of it was there: nobody was asked for anything.
            let reasons = report.verdict.reasons.drain(..).filter(|said| said.reason != ReasonKind::NoAnswer);
            report.verdict = Verdict::of(reasons.collect());
        }
        // So many accepted operations are what a plan expects of its fill.
        report.expect();
        if let Some(why) = &self.outcome.incomplete {
            report.add_reason(Reason::new(ReasonKind::NotBelievable, why.clone()));
        }
        self.conclude(&mut report, "");
        self.told(&mut report);
        report
    }

    /// Adds it to the report of the run that came after it.
    pub(super) fn add_to(mut self, report: &mut Report) {
        if let Some(text) = self.note.take() {
            report.events.insert(0, Event::Note { at_ns: 0, text });
        }
        // Its own instants are counted from another epoch.
        let by_hand = self.report.events.iter().filter_map(|event| match event {
            Event::Command { at_ns, command, refused, .. } => {
                let workloads = self.report.series.iter().map(|series| series.workload.as_str());
                Some(format!(
                    "in the fill, {} into it: {}",
                    Nanos(*at_ns),
                    command.answer(workloads, refused)
                ))
            }
            Event::Mark { at_ns, text, id: Some(_), .. } => {
                Some(format!("in the fill, {} into it: mark: {text}", Nanos(*at_ns)))
            }
            _ => None,
        });
        let by_hand: Vec<Event> = by_hand.map(|text| Event::Note { at_ns: 0, text }).collect();
        report.events.splice(0..0, by_hand);
        let promises = &self.report.promises.all;
        for (count, kind, what) in [
            (promises.broken, ReasonKind::PromiseBroken, "broken"),
            (promises.unchecked, ReasonKind::NotBelievable, "unchecked"),
        ] {
            if count > 0 {
                let text = format!("of the fill {} {what}", plural(count, "promise"));
                report.add_reason(Reason::new(kind, text));
            }
        }
        self.conclude(report, "of the fill ");
        self.told(report);
    }

    /// Adds what its figures say together, each behind these words.
    fn conclude(&self, report: &mut Report, of: &str) {
        let at_ns = report.phases.last().map_or(0, |span| span.end_ns);
        for conclusion in &self.conclusions {
            match conclusion {
                Conclusion::Reason(reason) => {
                    report.add_reason(Reason::new(reason.reason, format!("{of}{}", reason.text)));
                }
                Conclusion::Note(text) => {
                    report.events.push(Event::Note { at_ns, text: format!("{of}{text}") });
                }
                // Of the run behind it nothing was expected by that.
                Conclusion::Expected => {}
            }
        }
    }

    fn told(self, report: &mut Report) {
        // Why one is empty is told already.
        if let Some(corpus) = self.outcome.corpus.as_ref().filter(|corpus| corpus.entries > 0) {
            let file = corpus.file.as_deref().unwrap_or("the corpus");
            let unplaced = corpus.lost.saturating_sub(self.known);
            for (count, why) in [(self.known, format!("they {KNOWN}")), (unplaced, UNPLACED.to_owned())] {
                if count > 0 {
                    let text = format!("{} entries did not get into {file}: {why}", grouped(count));
                    report.add_reason(Reason::new(ReasonKind::ReportUnwritten, text));
                }
            }
        }
        self.unwritten.iter().for_each(|reason| report.add_reason(reason.clone()));
        report.fill = Some(Fill::of(self.outcome, &self.report));
    }
}

/// What is said of a fill.
struct Said<'a> {
    plan: Option<&'a FillPlan>,
    goal: &'a FillGoal,
    before: u64,
    report: &'a Report,
}

impl Said<'_> {
    /// Why it is not complete: how far it came, what stopped it, and the last entry of the corpus; or why that has none.
    fn incomplete(&self, written: Option<&WrittenCorpus>) -> Option<String> {
        let filled = self.before + self.goal.accepted();
        let of = self.plan.map_or(0, |plan| plan.operations.get() as u64);
        if self.goal.accepted() >= self.goal.operations() {
            let empty = written.filter(|written| self.before + written.added == 0 && filled > 0)?;
            let (filled, of) = (grouped(filled), grouped(of));
            let why = match (empty.known, empty.lost) {
                (known, 0) => format!("all {} {KNOWN}", grouped(known)),
                (0, _) => UNPLACED.to_owned(),
                (known, _) => format!("{} {KNOWN}; of the others {UNPLACED}", grouped(known)),
            };
            return Some(format!("filled {filled} of {of}, and the corpus has no entry of them: {why}"));
        }
        let last = written.and_then(|written| written.last.as_deref());
        let last = last.map_or_else(String::new, |last| format!("; the last entry is {last}"));
        Some(format!("filled {} of {}: {}{last}", grouped(filled), grouped(of), self.cause()))
    }

    fn cause(&self) -> String {
        let (run, failed) = (&self.report.run, grouped(self.goal.failed()));
        let first = self.goal.first_failure();
        match (self.goal.has_given_up(), first) {
            (true, Some(first)) => format!("{failed} failed, and {}", self.first(&first)),
            (_, Some(first)) if !run.interrupted => {
                format!("{}, {failed} failed, and {}", self.ended(), self.first(&first))
            }
            _ => self.ended(),
        }
    }

    /// Why its arrivals ended, where nobody gave it up.
    fn ended(&self) -> String {
        match self.plan.and_then(|plan| plan.timeout) {
            Some(timeout) if self.report.run.stopped == RunResult::AS_PLANNED => {
                format!("its timeout of {timeout} is over")
            }
            _ => self.report.run.stopped.clone(),
        }
    }

    /// The first of the failures that stopped it, and the step that failed, where one did.
    fn first(&self, first: &FillFailure) -> String {
        let (fate, cause) = (Fate::from(first.ended.outcome), first.ended.detail.to_string());
        let has_cause = |series: &&hammer_report::report::Series| {
            let causes = &series.measurement.causes;
            causes.iter().any(|known| known.fate == fate.name() && known.cause == cause)
        };
        let steps = self.report.series.iter().filter(|series| series.kind == SeriesKind::Step);
        let step = steps.filter(has_cause).map(|series| format!("{}: ", series.name)).next();
        format!(
            "the first of the last row, behind {} accepted ones, was {}{} ({cause})",
            grouped(self.before + first.accepted),
            step.unwrap_or_default(),
            fate.name().replace('_', " "),
        )
    }
}

/// Why entries that were accepted did not get into the corpus.
const KNOWN: &str = "were there already (409): another --seed logs new ones";
const UNPLACED: &str = "the log did not say where they are, or it could not be written as fast";
