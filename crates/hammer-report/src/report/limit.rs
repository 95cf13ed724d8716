//! A rate that something limits, whatever waits: as many operations accepted in every interval, to one or two, while what is under way grows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::{Durations, Nanoseconds, finite};
use super::phase::PhaseName;
use super::series::{Series, SeriesKind};
use super::timeline::Interval;

/// How evenly operations were accepted in measurement: as many in every interval, to one or two and four in a thousand; where an interval has
/// too few, in as many of its neighbours together as have twenty. What waits for a processor is not served as evenly; what a limiter lets through is, and
/// what a fixed number of workers does that take as long each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyRate {
    /// Accepted in a second.
    pub per_s: f64,
    /// The fewest in a second of an interval.
    pub least_per_s: f64,
    /// The most.
    pub most_per_s: f64,
    /// The intervals, or numbers of neighbours, that it was seen in: the first ones, in which a limiter may let more through, are left out.
    pub intervals: u64,
}

/// A series of operations that were accepted at a steady rate while more and more of them waited, and what that may be told from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateLimit {
    /// The series, `workload/name`.
    pub path: String,
    /// The rate.
    pub rate: SteadyRate,
    /// The fewest that were waiting and under way at the end of one of these intervals.
    pub least_open: u64,
    /// The most.
    pub most_open: u64,
    /// Their mean response time.
    pub mean_ns: Option<Nanoseconds>,
    /// Another series of the same workload that was answered in a tenth of that time at most: what is limited is not on its way.
    pub beside: Option<QuickSeries>,
}

/// A series that was answered far sooner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuickSeries {
    /// The series, `workload/name`.
    pub path: String,
    /// Its mean response time.
    pub mean_ns: Nanoseconds,
}

impl SteadyRate {
    /// That of the series that are `of`, together; none where they were not accepted as evenly, or too few of them or over too few intervals
    /// to be told from chance.
    pub(crate) fn of(intervals: &[Interval], of: impl Fn(&str) -> bool) -> Option<Self> {
        let spans: Vec<(f64, f64)> = measured(intervals)
            .map(|interval| {
                let own = interval.series.iter().filter(|series| of(&series.path));
                let accepted: u64 = own.map(|series| series.fates.accepted).sum();
                (accepted as f64, interval.span_ns as f64 / 1e9)
            })
            .collect();
        let sum = |spans: &[(f64, f64)]| {
            spans.iter().fold((0.0, 0.0), |sum, span| (sum.0 + span.0, sum.1 + span.1))
        };
        let (accepted, seconds) = sum(&spans);
        if accepted <= 0.0 || seconds <= 0.0 {
            return None;
        }
        let each = (LEAST_COUNT * spans.len() as f64 / accepted).ceil().max(1.0) as usize;
        let stretches: Vec<(f64, f64)> = spans.chunks_exact(each).map(sum).collect();
        if stretches.len() < LEAST_INTERVALS {
            return None;
        }
        let (accepted, seconds) = sum(&stretches);
        let per_s = accepted / seconds;
        let is_even = |(accepted, seconds): &(f64, f64)| {
            let expected = per_s * seconds;
            (accepted - expected).abs() <= MOST_OFF + MOST_OFF_SHARE * expected
        };
        let rates = || stretches.iter().map(|(accepted, seconds)| accepted / seconds);
        stretches.iter().all(is_even).then(|| Self {
            per_s: finite(per_s),
            least_per_s: finite(rates().fold(f64::INFINITY, f64::min)),
            most_per_s: finite(rates().fold(0.0, f64::max)),
            intervals: stretches.len() as u64,
        })
    }
}

impl RateLimit {
    /// Those of a run, by series of operations.
    pub(crate) fn all(series: &[Series], intervals: &[Interval]) -> Vec<Self> {
        let operations = || series.iter().filter(|series| series.kind == SeriesKind::Operation);
        operations().filter_map(|series| Self::of(series, operations(), intervals)).collect()
    }

    fn of<'a>(
        series: &Series,
        all: impl Iterator<Item = &'a Series>,
        intervals: &[Interval],
    ) -> Option<Self> {
        if bounded_here([series], intervals) {
            return None;
        }
        let rate = SteadyRate::of(intervals, |path| path == series.path)?;
        let seconds = measured(intervals).map(|interval| interval.span_ns as f64 / 1e9).sum::<f64>();
        let offered = measured(intervals).flat_map(|interval| &interval.series);
        let offered: u64 = offered.filter(|seen| seen.path == series.path).map(|seen| seen.offered).sum();
        // What takes a little longer from one to the next has an even rate close to the one that is offered.
        if !series.closed_loop && rate.per_s * seconds > MOST_OF_OFFERED * offered as f64 {
            return None;
        }
        let open = measured(intervals).filter_map(|interval| {
            let own = interval.series.iter().find(|seen| seen.path == series.path)?;
            u64::try_from(own.backlog_at_end + own.in_flight_at_end).ok()
        });
        let open: Vec<u64> = open.collect();
        let (least, most) = (open.iter().min().copied()?, open.iter().max().copied()?);
        if least < LEAST_OPEN || most < GROWN * least {
            return None;
        }
        let mean = |series: &Series| Some(series.measurement.durations.response_time.as_ref()?.mean_ns);
        let mean_ns = mean(series);
        let is_quick = |other: &Nanoseconds| match (other, mean_ns) {
            (Nanoseconds::At(other), Some(Nanoseconds::At(own))) => other.saturating_mul(10) <= own,
            (Nanoseconds::At(other), Some(Nanoseconds::Beyond { beyond_ns })) => {
                other.saturating_mul(10) <= beyond_ns
            }
            _ => false,
        };
        let of_workload = all.filter(|other| other.workload == series.workload && other.path != series.path);
        let quick = of_workload.filter_map(|other| Some((other, mean(other).filter(is_quick)?)));
        let beside = quick.map(|(other, mean_ns)| QuickSeries { path: other.path.clone(), mean_ns }).next();
        Some(Self { path: series.path.clone(), rate, least_open: least, most_open: most, mean_ns, beside })
    }
}

/// Whether hammer itself lets no more of these series be under way: some waited for a slot, or for a connection.
pub(crate) fn bounded_here<'a>(series: impl IntoIterator<Item = &'a Series>, intervals: &[Interval]) -> bool {
    series.into_iter().any(|series| {
        let own =
            measured(intervals).flat_map(|interval| &interval.series).filter(|seen| seen.path == series.path);
        let durations = &series.measurement.durations;
        let mean = |of: &Option<Durations>| Some(of.as_ref()?.mean_ns.least() as f64);
        let waited = mean(&durations.connection_wait).zip(mean(&durations.response_time));
        own.into_iter().any(|seen| seen.backlog_at_end > 0)
            || waited.is_some_and(|(waited, response)| waited > MOST_WAITED * response)
    })
}

/// Those of measurement without its first ones, in which a limiter may still let more through, and without its last, which may be a
/// short one.
fn measured(intervals: &[Interval]) -> impl Iterator<Item = &Interval> {
    let of_it = intervals.iter().filter(|interval| interval.phase == PhaseName::Measurement);
    let count = of_it.clone().count();
    of_it.take(count.saturating_sub(1)).skip(LEFT_OUT)
}

const LEFT_OUT: usize = 2;
/// Chance alone (Poisson) has eight intervals of twenty operations each as even in one run of ten thousand.
const LEAST_INTERVALS: usize = 8;
const LEAST_COUNT: f64 = 20.0;
const MOST_OFF: f64 = 1.5;
const MOST_OFF_SHARE: f64 = 0.004;
/// Twice as many under way would be completed twice as fast by what only takes its time.
const GROWN: u64 = 2;
const LEAST_OPEN: u64 = 4;
/// A limit lets through less of what is offered.
const MOST_OF_OFFERED: f64 = 0.8;
/// The share of a response time that waiting for a connection of hammer's own may be.
const MOST_WAITED: f64 = 0.1;

#[cfg(test)]
mod tests {
    use hammer_measure::{Nanos, Phase};

    use super::*;
    use crate::fixture::{Story, operation, report_of};

    /// Of a run in whose intervals so many are offered and so many are answered, while the others are under way.
    fn found(intervals: &[(u64, u64)]) -> Vec<RateLimit> {
        found_leaving(intervals, Story::start)
    }

    fn found_leaving(
        intervals: &[(u64, u64)],
        leave: impl Fn(&mut Story, (usize, Phase), u64),
    ) -> Vec<RateLimit> {
        let mut story = Story::new(vec![operation("gate", "cold"), operation("gate", "hot")]);
        for (offered, answered) in intervals {
            story.accept(0, Phase::Measurement, *answered, Nanos::from_secs(2));
            leave(&mut story, (0, Phase::Measurement), offered - answered);
            story.accept(1, Phase::Measurement, 100, Nanos::from_millis(2));
            story.interval(Phase::Measurement);
        }
        report_of(&story.finish(|_| {})).limits
    }

    #[test]
    fn as_many_in_every_interval_while_more_and_more_wait_are_limited() {
        let limits = found(&[
            (60, 39),
            (60, 29),
            (60, 29),
            (60, 30),
            (60, 29),
            (60, 29),
            (60, 30),
            (60, 29),
            (60, 29),
            (60, 29),
            (60, 30),
            (60, 12),
        ]);
        let [limit] = limits.as_slice() else { panic!("{limits:?}") };
        assert_eq!((limit.path.as_str(), limit.rate.intervals), ("gate/cold", 9));
        assert_eq!((limit.rate.least_per_s, limit.rate.most_per_s), (29.0, 30.0));
        assert!(limit.least_open < 100 && limit.most_open > 300, "{limit:?}");
        assert_eq!(limit.beside.as_ref().map(|beside| beside.path.as_str()), Some("gate/hot"));
    }

    #[test]
    fn what_waits_for_a_slot_of_hammers_own_is_not() {
        let limited: Vec<(u64, u64)> = [(60, 29)].repeat(12);
        assert_eq!(found(&limited).len(), 1);
        assert_eq!(found_leaving(&limited, Story::wait), []);
    }

    #[test]
    fn what_only_takes_its_time_or_waits_for_a_processor_is_not() {
        let steady = [(30, 29); 1].repeat(12);
        for (what, intervals) in [
            // As many wait all the time: a service that takes a second has such figures.
            (
                "as many wait",
                std::iter::once((80, 29)).chain(std::iter::repeat_n((29, 29), 11)).collect::<Vec<_>>(),
            ),
            // A processor is taken away now and then.
            (
                "uneven",
                [
                    (60, 29),
                    (60, 29),
                    (60, 29),
                    (60, 24),
                    (60, 29),
                    (60, 33),
                    (60, 29),
                    (60, 29),
                    (60, 26),
                    (60, 29),
                    (60, 31),
                    (60, 29),
                ]
                .into(),
            ),
            ("too short", [(60, 29)].repeat(9)),
            ("too few", [(20, 5)].repeat(12)),
            // All that is offered ends, and most of it is refused: how evenly it is offered says nothing.
            ("none", [(60, 0)].repeat(12)),
            // What takes longer and longer is as even, close to the rate that is offered.
            ("drift", [(33, 29)].repeat(12)),
            ("few wait", steady.iter().map(|_| (29, 29)).collect()),
        ] {
            assert_eq!(found(&intervals), [], "{what}");
        }
    }
}
