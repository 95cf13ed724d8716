//! The run by interval, bounded in memory: a long run is thinned out by merging neighbours.

use hammer_measure::histogram::Summary;
use hammer_measure::snapshot::{Observation, SeriesSnapshot, Snapshot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::figures::{Counts, Durations, Fates, Nanoseconds};
use super::phase::PhaseName;
use super::promises::PromiseCounts;

/// One interval, or several neighbours merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Its end, nanoseconds since the epoch.
    pub at_ns: u64,
    /// Its length.
    pub span_ns: u64,
    /// How many of the run's intervals it merges. Counts add up; a percentile of more than one is the longest of
    /// theirs, so that the true one is at most that.
    pub merged: u64,
    /// The phase that its middle lies in; of several merged that of the last.
    pub phase: PhaseName,
    /// By series, in the order of the report's `series`.
    pub series: Vec<SeriesInterval>,
    /// Promises of all workloads so far.
    pub promises: PromiseCounts,
    /// Whether health had no finding at its end; of several merged at the end of none.
    pub healthy: bool,
    /// How long the generator stood still from some time of it on, which may be longer than it is; of several shards the mean.
    #[serde(default)]
    pub stood_ns: u64,
}

/// One series over one interval; both phases together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesInterval {
    /// `workload/name`.
    pub path: String,
    /// Arrivals that the schedule named.
    pub offered: u64,
    /// What ended, by fate; `backlog` and `in_flight` are the changes, so that all twelve add up to `offered`.
    pub fates: Fates,
    /// Why what ended was not accepted, in any order; absent where all was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Waiting for a slot at its end.
    pub backlog_at_end: i64,
    /// Under way at its end.
    pub in_flight_at_end: i64,
    /// Done − intended, of all fates; `null` when nothing ended.
    pub response_time: Option<IntervalDurations>,
    /// Done − sent; `null` when nothing ended.
    pub service_time: Option<IntervalDurations>,
}

/// Durations over one interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalDurations {
    /// Durations recorded, those that never ended included.
    pub count: u64,
    /// Those that never ended.
    pub infinite: u64,
    /// The median.
    pub p50_ns: Nanoseconds,
    /// 99th percentile.
    pub p99_ns: Nanoseconds,
    /// The longest; beyond the longest that ended when some never did.
    pub max_ns: Nanoseconds,
}

/// What an observer saw over the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationSeries {
    /// What was observed.
    pub name: String,
    /// What was seen first.
    pub first: ObservationPoint,
    /// What was seen last.
    pub last: ObservationPoint,
    /// What was seen first, then at the ends of intervals. Long runs are thinned out by leaving out every second.
    pub points: Vec<ObservationPoint>,
}

/// A number seen at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationPoint {
    /// When.
    pub at_ns: u64,
    /// What.
    pub value: f64,
}

/// What observers saw so far, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observations(Vec<ObservationSeries>);

/// The intervals of a run so far, [`MOST_INTERVALS`] at most.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    intervals: Vec<Interval>,
    observations: Observations,
    /// Of the run's intervals, how many each new entry merges.
    stride: u64,
}

impl Timeline {
    pub(crate) fn push(&mut self, paths: &[String], snapshot: &Snapshot) {
        let next = Interval::of(paths, snapshot);
        match self.intervals.last_mut().filter(|last| last.merged < self.stride) {
            Some(last) => last.merge(&next),
            None => self.intervals.push(next),
        }
        if self.intervals.len() > MOST_INTERVALS {
            self.thin_out();
        }
        snapshot.observations.iter().for_each(|observation| self.observations.push(observation));
    }

    pub(crate) fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    pub(crate) fn observations(&self) -> &Observations {
        &self.observations
    }

    fn thin_out(&mut self) {
        let mut thinned: Vec<Interval> = Vec::with_capacity(self.intervals.len() / 2 + 1);
        for (index, interval) in self.intervals.drain(..).enumerate() {
            match thinned.last_mut().filter(|_| index % 2 == 1) {
                Some(last) => last.merge(&interval),
                None => thinned.push(interval),
            }
        }
        self.intervals = thinned;
        self.stride = self.stride.max(1) * 2;
    }
}

impl Observations {
    /// Adds what was seen, which in the first interval may be many values; a number that JSON cannot say is left out.
    pub(crate) fn push(&mut self, observation: &Observation) {
        let Observation { name, at, value, first } = observation;
        self.push_point(name, ObservationPoint { at_ns: first.at.0, value: first.value });
        self.push_point(name, ObservationPoint { at_ns: at.0, value: *value });
    }

    fn push_point(&mut self, name: &str, point: ObservationPoint) {
        if !point.value.is_finite() {
            return;
        }
        match self.0.iter_mut().find(|series| series.name == name) {
            Some(series) => series.push(point),
            None => self.0.push(ObservationSeries {
                name: name.to_owned(),
                first: point,
                last: point,
                points: vec![point],
            }),
        }
    }

    pub(crate) fn into_series(self) -> Vec<ObservationSeries> {
        self.0
    }
}

impl ObservationSeries {
    fn push(&mut self, point: ObservationPoint) {
        if point.at_ns <= self.last.at_ns {
            return;
        }
        self.last = point;
        self.points.push(point);
        if self.points.len() > MOST_INTERVALS {
            let mut index = 0;
            self.points.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
    }
}

impl Interval {
    fn of(paths: &[String], snapshot: &Snapshot) -> Self {
        let series = paths.iter().zip(&snapshot.series);
        Self {
            at_ns: snapshot.at.0,
            span_ns: snapshot.span.0,
            merged: 1,
            phase: snapshot.phase.into(),
            series: series.map(|(path, series)| SeriesInterval::of(path, series)).collect(),
            promises: snapshot.promises.into(),
            healthy: snapshot.health.is_healthy(),
            stood_ns: snapshot.stood.0,
        }
    }

    fn merge(&mut self, later: &Self) {
        self.at_ns = later.at_ns;
        self.span_ns += later.span_ns;
        self.merged += later.merged;
        self.phase = later.phase;
        self.promises = later.promises;
        self.healthy &= later.healthy;
        self.stood_ns += later.stood_ns;
        self.series.iter_mut().zip(&later.series).for_each(|(ours, theirs)| ours.merge(theirs));
    }
}

impl SeriesInterval {
    fn of(path: &str, series: &SeriesSnapshot) -> Self {
        let counts = Counts::from(&series.interval);
        Self {
            path: path.to_owned(),
            offered: counts.offered,
            fates: counts.fates,
            causes: series.interval.failures.iter().map(Cause::of).collect(),
            backlog_at_end: series.warm_up.backlog + series.measurement.backlog,
            in_flight_at_end: series.warm_up.in_flight + series.measurement.in_flight,
            response_time: series.interval.response_time.as_ref().map(IntervalDurations::from),
            service_time: series.interval.service_time.as_ref().map(IntervalDurations::from),
        }
    }

    fn merge(&mut self, later: &Self) {
        let mut counts = Counts { offered: self.offered, fates: self.fates, ..Counts::default() };
        counts.add(&Counts { offered: later.offered, fates: later.fates, ..Counts::default() });
        (self.offered, self.fates) = (counts.offered, counts.fates);
        Cause::add(&mut self.causes, &later.causes);
        (self.backlog_at_end, self.in_flight_at_end) = (later.backlog_at_end, later.in_flight_at_end);
        self.response_time = IntervalDurations::merged(self.response_time, later.response_time);
        self.service_time = IntervalDurations::merged(self.service_time, later.service_time);
    }
}

impl IntervalDurations {
    fn merged(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (Some(a), Some(b)) = (one, other) else { return one.or(other) };
        Some(Self {
            count: a.count + b.count,
            infinite: a.infinite + b.infinite,
            p50_ns: a.p50_ns.longer(b.p50_ns),
            p99_ns: a.p99_ns.longer(b.p99_ns),
            max_ns: a.max_ns.longer(b.max_ns),
        })
    }
}

impl From<&Summary> for IntervalDurations {
    fn from(summary: &Summary) -> Self {
        let all = Durations::from(summary);
        Self {
            count: all.count,
            infinite: all.infinite,
            p50_ns: all.p50_ns,
            p99_ns: all.p99_ns,
            max_ns: all.max_ns,
        }
    }
}

/// An hour of seconds.
pub(crate) const MOST_INTERVALS: usize = 3_600;

#[cfg(test)]
mod tests;
