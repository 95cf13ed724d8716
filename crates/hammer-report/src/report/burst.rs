//! Times of a run in which far more of a series of operations failed than over the rest of it, and a start that answered late: from the
//! run by interval.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::event::Event;
use super::figures::{Fates, Nanoseconds};
use super::phase::PhaseName;
use super::series::{Series, SeriesKind};
use super::timeline::{Interval, SeriesInterval};

mod failing;
mod levels;
mod start;

use failing::failing;
use levels::Trials;

/// A time in measurement in which a series of operations did far worse than over the rest of it. Instants are ends of intervals, and so
/// as coarse as these are long. It decides nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Burst {
    /// The series of operations, `workload/name`.
    pub path: String,
    /// In what it did worse.
    pub kind: BurstKind,
    /// The start of its first interval, nanoseconds since the epoch.
    pub from_ns: u64,
    /// The end of its last interval; `null` where it lasted to the end of measurement.
    pub to_ns: Option<u64>,
    /// Its length: where `to_ns` is `null`, to the end of measurement.
    pub lasted_ns: u64,
    /// What failed meanwhile: fates from `refused` to `timed_out`, without refusals that are meant.
    pub failed: u64,
    /// The same per second.
    pub failed_per_s: f64,
    /// The same per second over the rest of measurement, all bursts left out.
    pub usual_failed_per_s: f64,
    /// Why that failed, the most frequent first; together they are `failed`. `cause` is empty where the fate says it all.
    pub causes: Vec<Cause>,
    /// The median of the intervals' 99th percentiles of response time; `null` where nothing ended. Of a late start the longest of them.
    pub p99_ns: Option<Nanoseconds>,
    /// The median of those of the rest of measurement, all bursts left out; `null` where nothing is left.
    pub usual_p99_ns: Option<Nanoseconds>,
    /// Hooks in mid-run, marks and changes of servers, from five seconds, or two intervals where those are longer, before it to its end, as `events` has them.
    pub beside: Vec<Event>,
}

/// In what a series did worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BurstKind {
    /// More failed than the share that fails usually explains.
    Failures,
    /// The first answers of measurement were far later than those that followed.
    LateStart,
}

/// The intervals of a series over measurement.
struct Measured<'a> {
    series: &'a Series,
    spans: Vec<Span<'a>>,
    trials: Vec<Trials>,
}

/// A series in an interval.
#[derive(Clone, Copy)]
struct Span<'a> {
    from_ns: u64,
    to_ns: u64,
    seen: &'a SeriesInterval,
}

impl Burst {
    /// Those of a run, by series of operations and in time, [`MOST_BURSTS`] of a series at most.
    pub(crate) fn all(series: &[Series], intervals: &[Interval], events: &[Event]) -> Vec<Self> {
        let operations = series.iter().filter(|series| series.kind == SeriesKind::Operation);
        operations.flat_map(|series| Measured::of(series, intervals).bursts(events)).collect()
    }
}

impl<'a> Measured<'a> {
    fn of(series: &'a Series, intervals: &'a [Interval]) -> Self {
        let measured = intervals.iter().filter(|interval| interval.phase == PhaseName::Measurement);
        let spans: Vec<Span<'_>> = measured
            .filter_map(|interval| {
                let seen = interval.series.iter().find(|seen| seen.path == series.path)?;
                let from_ns = interval.at_ns.saturating_sub(interval.span_ns);
                Some(Span { from_ns, to_ns: interval.at_ns, seen })
            })
            .collect();
        let trials = spans.iter().map(|span| span.trials(series.refusals_meant)).collect();
        Self { series, spans, trials }
    }

    fn bursts(&self, events: &[Event]) -> Vec<Burst> {
        if self.spans.len() < LEAST_INTERVALS {
            return Vec::new();
        }
        let failing = failing(&self.trials);
        let rest = |place: usize| !failing.iter().any(|burst| burst.contains(&place));
        let late = start::late(&self.spans, rest);
        let rest = |place: usize| rest(place) && !late.as_ref().is_some_and(|late| late.contains(&place));
        let usual: Vec<usize> = (0..self.spans.len()).filter(|place| rest(*place)).collect();
        let late = late.iter().map(|late| (BurstKind::LateStart, late));
        let all = late.chain(failing.iter().map(|failing| (BurstKind::Failures, failing)));
        all.take(MOST_BURSTS).map(|(kind, places)| self.burst(kind, places, &usual, events)).collect()
    }

    /// Why operations failed in those intervals; a fate that has no cause of its own stands for itself.
    fn causes(&self, spans: &[Span<'_>]) -> Vec<Cause> {
        let mut causes: Vec<Cause> = Vec::new();
        let mut fates = Fates::default();
        for span in spans {
            Cause::add(&mut causes, &span.seen.causes);
            fates.add(&span.seen.fates);
        }
        causes.retain(|cause| is_failure(&cause.fate, self.series.refusals_meant));
        for (fate, count) in fates.entries().filter(|(fate, _)| is_failure(fate, self.series.refusals_meant))
        {
            let known: u64 = causes.iter().filter(|cause| cause.fate == fate).map(|cause| cause.count).sum();
            let count = count.unsigned_abs().saturating_sub(known);
            if count > 0 {
                causes.push(Cause { fate: fate.to_owned(), cause: String::new(), count, answer: None });
            }
        }
        Cause::sort(&mut causes);
        causes
    }

    fn burst(&self, kind: BurstKind, places: &Range<usize>, usual: &[usize], events: &[Event]) -> Burst {
        let spans = &self.spans[places.clone()];
        let (first, last) = (spans[0], spans[spans.len() - 1]);
        let lasted_ns = last.to_ns - first.from_ns;
        let failed = Trials::of(&self.trials[places.clone()]).failed;
        let usual: Vec<Span<'_>> = usual.iter().map(|place| self.spans[*place]).collect();
        let causes = self.causes(spans);
        let p99s = spans.iter().filter_map(Span::p99);
        let early = first.from_ns.saturating_sub((2 * (first.to_ns - first.from_ns)).max(BEFORE_NS));
        let is_beside = |event: &&Event| event.is_beside() && (early..=last.to_ns).contains(&event.at_ns());
        Burst {
            path: self.series.path.clone(),
            kind,
            from_ns: first.from_ns,
            to_ns: (places.end < self.spans.len()).then_some(last.to_ns),
            lasted_ns,
            failed,
            failed_per_s: per_second(failed, lasted_ns),
            usual_failed_per_s: per_second(
                usual.iter().map(|span| span.trials(self.series.refusals_meant).failed).sum(),
                usual.iter().map(|span| span.to_ns - span.from_ns).sum(),
            ),
            causes,
            p99_ns: match kind {
                BurstKind::Failures => median(p99s.collect()),
                BurstKind::LateStart => p99s.reduce(Nanoseconds::longer),
            },
            usual_p99_ns: median(usual.iter().filter_map(Span::p99).collect()),
            beside: events.iter().filter(is_beside).take(MOST_BESIDE).cloned().collect(),
        }
    }
}

impl Span<'_> {
    fn trials(&self, refusals_meant: bool) -> Trials {
        let fates = self.seen.fates.entries();
        let failed = fates.filter(|(fate, _)| is_failure(fate, refusals_meant)).map(|(_, count)| count);
        let failed = failed.sum::<i64>().unsigned_abs();
        let refused = if refusals_meant { self.seen.fates.refused } else { 0 };
        Trials { ended: self.seen.fates.accepted + refused + failed, failed }
    }

    fn p99(&self) -> Option<Nanoseconds> {
        self.seen.response_time.map(|durations| durations.p99_ns)
    }
}

/// Whether an end of that fate is a failure of the server, or of the way to it.
fn is_failure(fate: &str, refusals_meant: bool) -> bool {
    let failures = ["pushback", "server_error", "malformed", "unreachable", "timed_out"];
    failures.contains(&fate) || (fate == "refused" && !refusals_meant)
}

fn per_second(count: u64, nanos: u64) -> f64 {
    if nanos > 0 { count as f64 * 1e9 / nanos as f64 } else { 0.0 }
}

/// What never ended is longer than all else.
fn median(mut all: Vec<Nanoseconds>) -> Option<Nanoseconds> {
    all.sort_by_key(|figure| (matches!(figure, Nanoseconds::Beyond { .. }), figure.least()));
    all.get(all.len() / 2).copied()
}

const MOST_BURSTS: usize = 20;
const MOST_BESIDE: usize = 20;
/// Fewer do not tell what is usual.
const LEAST_INTERVALS: usize = 5;
const BEFORE_NS: u64 = 5_000_000_000;

#[cfg(test)]
mod tests;
