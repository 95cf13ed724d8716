//! What operations failed by.

use std::cmp::Reverse;

use hammer_measure::{Fate, Phase};

use crate::report::{Cause, Fates, PhaseFigures, Report, Series, SeriesKind};
use crate::text::number::grouped;

/// Why operations of several series failed: a fate by one cause, and in which steps.
struct Failure<'a> {
    fate: Fate,
    /// None where nothing is known but the fate.
    cause: Option<&'a str>,
    count: u64,
    /// What the server said with the first of them that said anything.
    answer: Option<&'a str>,
    by_step: Vec<StepFailure<'a>>,
}

/// How many operations failed by a cause in one step of theirs.
struct StepFailure<'a> {
    step: &'a str,
    count: u64,
    /// What the server said with the first of them that said anything.
    answer: Option<&'a str>,
}

/// What the operations of these series failed by most often, in measurement, or where none of a series did, in warm-up: how many had that
/// fate, how many of them by that cause, and in which step where most did in one. None where none failed.
pub(super) fn failure(report: &Report, series: &[&Series]) -> Option<String> {
    let mut failures: Vec<Failure<'_>> = Vec::new();
    let mut fates = Fates::default();
    for series in series {
        let phase = if of_phase(series, Phase::Measurement).counts.fates.failed() > 0 {
            Phase::Measurement
        } else {
            Phase::WarmUp
        };
        fates.add(&of_phase(series, phase).counts.fates);
        for failure in failures_of(report, series, phase) {
            match failures.iter_mut().find(|known| (known.fate, known.cause) == (failure.fate, failure.cause))
            {
                Some(known) => known.add(failure),
                None => failures.push(failure),
            }
        }
    }
    // What says nothing of the server is told where nothing else is: it follows from what became of the rest. Of equals the first comes first.
    let rank = |failure: &&Failure<'_>| {
        // One that was given up for a cause waited for something that others failed at.
        let is_led_to = failure.fate == Fate::Abandoned && failure.cause.is_some();
        (!tells_of_server(report, failure.fate), is_led_to, Reverse(failure.count))
    };
    let failure = failures.iter().min_by_key(rank)?;
    let of_fate = fates.of(failure.fate);
    let said = format!("{} {}", grouped(of_fate), failure.fate.name().replace('_', " "));
    let Some(cause) = failure.cause else { return Some(said) };
    let (step, count, answer) = match failure.step_of_most() {
        Some(StepFailure { step, count, answer }) => (format!("{step}: "), *count, *answer),
        None => (String::new(), failure.count, failure.answer),
    };
    let part = if count < of_fate { format!(", {} of them", grouped(count)) } else { String::new() };
    let answer = answer.map_or_else(String::new, |answer| format!(", {answer}"));
    Some(format!("{said}{part} ({step}{cause}{answer})"))
}

/// Whether operations of that fate say anything of the server: what was never sent does not, nor what a signal cut off.
pub(super) fn tells_of_server(report: &Report, fate: Fate) -> bool {
    match fate {
        Fate::Shed | Fate::Starved => false,
        Fate::Abandoned => !report.run.interrupted,
        _ => true,
    }
}

/// What the operations of a series failed by in a phase, the most frequent cause of a fate first.
fn failures_of<'a>(
    report: &'a Report,
    series: &'a Series,
    phase: Phase,
) -> impl Iterator<Item = Failure<'a>> {
    let figures = of_phase(series, phase);
    let failed = Fate::ALL.into_iter().filter(|fate| *fate != Fate::Accepted);
    failed.filter(|fate| figures.counts.fates.of(*fate) > 0).flat_map(move |fate| {
        let causes = figures.causes.iter().filter(move |cause| cause.fate == fate.name());
        let known = causes.clone().map(move |cause| Failure::of(report, series, phase, fate, cause));
        let count = figures.counts.fates.of(fate);
        let unknown = Failure { fate, cause: None, count, answer: None, by_step: Vec::new() };
        known.chain(causes.count().eq(&0).then_some(unknown))
    })
}

impl<'a> Failure<'a> {
    /// That of a cause of a series, with the step of its flows that had the cause most often, which had it no more often than that.
    fn of(report: &'a Report, series: &'a Series, phase: Phase, fate: Fate, cause: &'a Cause) -> Self {
        let is_same = |other: &&Cause| (&other.fate, &other.cause) == (&cause.fate, &cause.cause);
        let steps = report.series.iter().filter(|step| is_step_of(step, series));
        let found = steps.filter_map(|step| Some((step, of_phase(step, phase).causes.iter().find(is_same)?)));
        let most = found.min_by_key(|(_, found)| Reverse(found.count));
        let by_step = most.map(|(step, found)| StepFailure {
            step: &step.name,
            count: found.count.min(cause.count),
            answer: found.answer.as_deref().or(cause.answer.as_deref()),
        });
        Self {
            fate,
            cause: Some(&cause.cause),
            count: cause.count,
            answer: cause.answer.as_deref(),
            by_step: by_step.into_iter().collect(),
        }
    }

    /// Adds those of another series by the same cause.
    fn add(&mut self, more: Self) {
        self.count += more.count;
        self.answer = self.answer.or(more.answer);
        for of_step in more.by_step {
            match self.by_step.iter_mut().find(|known| known.step == of_step.step) {
                Some(known) => {
                    known.count += of_step.count;
                    known.answer = known.answer.or(of_step.answer);
                }
                None => self.by_step.push(of_step),
            }
        }
    }

    /// The step in which more than half of them failed: one that few did in is not where they fail.
    fn step_of_most(&self) -> Option<&StepFailure<'a>> {
        self.by_step.iter().find(|of_step| 2 * of_step.count > self.count)
    }
}

/// Whether a series is of steps within the operations of another. Where a workload has parts, the names of a part's series start with its own.
fn is_step_of(step: &Series, operations: &Series) -> bool {
    let part = operations.name.split_once('/').map(|(part, _)| part);
    let is_of_part = part.is_none_or(|part| step.name.split_once('/').is_some_and(|(of, _)| of == part));
    step.kind == SeriesKind::Step && step.workload == operations.workload && is_of_part
}

const fn of_phase(series: &Series, phase: Phase) -> &PhaseFigures {
    match phase {
        Phase::WarmUp => &series.warm_up,
        Phase::Measurement | Phase::Drain => &series.measurement,
    }
}
