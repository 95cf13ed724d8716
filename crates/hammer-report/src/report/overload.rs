//! A target that takes less than it is offered: what waits grows for as long as it is measured.

use super::phase::PhaseName;
use super::series::{Series, SeriesKind};
use super::timeline::Interval;

/// How what waits for a target, and is under way, grew all through the measurement of an open loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overload {
    /// By how many a second.
    pub(crate) grew_per_s: f64,
    /// To how many at the end of measurement.
    pub(crate) to: u64,
    /// Completed in a second of measurement.
    pub(crate) took_per_s: f64,
    /// Offered in a second of measurement.
    pub(crate) offered_per_s: f64,
}

impl Overload {
    /// That of the operations of `series`: each eighth of measurement ended with more of them waiting and under way than the one before, and all
    /// of it with more by over a twentieth of what was offered. `None` where it is otherwise, of closed loops, whose users wait, and of a
    /// measurement of fewer than eight intervals.
    pub(crate) fn of(series: &Series, intervals: &[Interval]) -> Option<Self> {
        if series.kind != SeriesKind::Operation || series.closed_loop {
            return None;
        }
        let is_measured = |interval: &&Interval| interval.phase == PhaseName::Measurement;
        let before = intervals.iter().take_while(|interval| interval.phase == PhaseName::WarmUp).last();
        let measured: Vec<i64> =
            intervals.iter().filter(is_measured).map(|interval| open(series, interval)).collect();
        if measured.len() < PARTS {
            return None;
        }
        let from = before.map_or(0, |interval| open(series, interval));
        let ends = (1..=PARTS).map(|part| measured[part * measured.len() / PARTS - 1]);
        let levels: Vec<i64> = std::iter::once(from).chain(ends).collect();
        let to = *levels.last()?;
        let rates = series.measurement.rates?;
        let offered = series.measurement.counts.offered;
        let has_grown = offered > 0 && (to - from) as f64 > LEAST_GROWN * offered as f64;
        (has_grown && levels.is_sorted_by(|earlier, later| earlier < later)).then(|| Self {
            grew_per_s: (to - from) as f64 * rates.offered_per_s / offered as f64,
            to: to.unsigned_abs(),
            took_per_s: rates.completed_per_s,
            offered_per_s: rates.offered_per_s,
        })
    }
}

/// What of the series waited and was under way at the end of the interval.
fn open(series: &Series, interval: &Interval) -> i64 {
    let of_series = interval.series.iter().filter(|of| of.path == series.path);
    of_series.map(|of| of.backlog_at_end + of.in_flight_at_end).sum()
}

/// The parts of measurement of which each has to end with more.
const PARTS: usize = 8;
/// The share of what was offered.
const LEAST_GROWN: f64 = 0.05;

#[cfg(test)]
mod tests {
    use hammer_measure::{Nanos, Phase, SeriesInfo};

    use super::*;
    use crate::fixture::{Story, operation, report_of};

    /// Of a run whose intervals of measurement are offered and answer so many, behind a warm-up that leaves `waiting`.
    fn found(info: SeriesInfo, waiting: u64, intervals: &[(u64, u64)]) -> Option<Overload> {
        let mut story = Story::new(vec![info]);
        story.wait((0, Phase::WarmUp), waiting);
        story.interval(Phase::WarmUp);
        for (offered, answered) in intervals {
            story.accept(0, Phase::Measurement, *answered, Nanos::from_micros(1));
            story.wait((0, Phase::Measurement), offered - answered);
            story.interval(Phase::Measurement);
        }
        let report = report_of(&story.finish(|_| {}));
        Overload::of(&report.series[0], &report.intervals)
    }

    fn web() -> SeriesInfo {
        operation("web", "get")
    }

    #[test]
    fn what_grows_in_each_eighth_is_told_with_its_rates() {
        let expected = Overload { grew_per_s: 500.0, to: 5_000, took_per_s: 500.0, offered_per_s: 1_000.0 };
        assert_eq!(found(web(), 0, &[(1_000, 500); 10]), Some(expected));
        let behind_warm_up = found(web(), 300, &[(1_000, 500); 10]);
        assert_eq!(behind_warm_up, Some(Overload { to: 5_300, ..expected }));
    }

    #[test]
    fn what_stops_to_grow_once_grows_little_or_has_too_few_intervals_is_no_overload() {
        let mut pause = [(1_000, 500); 10];
        pause[4] = (500, 500);
        pause[5] = (500, 500);
        assert_eq!(found(web(), 0, &pause), None);
        assert_eq!(found(web(), 0, &[(1_000, 951); 10]), None, "by less than a twentieth");
        assert!(found(web(), 0, &[(1_000, 949); 10]).is_some());
        assert_eq!(found(web(), 0, &[(1_000, 500); 7]), None);
        assert_eq!(found(web(), 0, &[(1_000, 1_000); 10]), None);
        let closed = SeriesInfo { closed_loop: true, ..web() };
        assert_eq!(found(closed, 0, &[(1_000, 500); 10]), None);
    }
}
