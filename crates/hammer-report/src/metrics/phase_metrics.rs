//! What a page says of a series in a phase, from an interval's figures or the report's.

use hammer_measure::histogram::Distribution;
use hammer_measure::snapshot::SeriesFigures;
use hammer_measure::{Fate, Octaves};

use super::metric_families::MetricValue;
use crate::report::{Durations, PhaseFigures};

/// A series in a phase.
#[derive(Debug, Default)]
pub(super) struct PhaseMetrics {
    pub(super) offered: u64,
    pub(super) dispatched: u64,
    pub(super) completed: u64,
    pub(super) bytes: [u64; 2],
    pub(super) fates: Vec<(&'static str, u64)>,
    pub(super) octaves: Octaves,
    /// Seconds, of what ended.
    pub(super) response_s: f64,
    /// The 99th percentile in seconds; none where nothing has one.
    pub(super) dispatch_lag_s: Option<f64>,
    pub(super) read_lag_s: Option<f64>,
}

impl PhaseMetrics {
    pub(super) fn of_figures(figures: &SeriesFigures) -> Self {
        let response = figures.response_time.as_ref();
        let mean =
            response.map_or(0.0, |times| times.mean * times.count.saturating_sub(times.infinite) as f64);
        let p99 = |times: &Option<hammer_measure::Summary>| Some(times.as_ref()?.p99.nanos().as_secs_f64());
        Self {
            offered: figures.offered,
            dispatched: figures.dispatched,
            completed: figures.completed,
            bytes: [figures.bytes_out, figures.bytes_in],
            fates: Fate::ALL.into_iter().map(|fate| (fate.name(), figures.fate(fate))).collect(),
            octaves: figures.response_octaves,
            response_s: mean / 1e9,
            dispatch_lag_s: p99(&figures.dispatch_lag),
            read_lag_s: p99(&figures.read_lag),
        }
    }

    pub(super) fn of_report(figures: &PhaseFigures) -> Self {
        let counts = &figures.counts;
        let times = figures.durations.response_time.as_ref().and_then(Durations::distribution);
        let summary = times.as_ref().and_then(Distribution::summary);
        let mean =
            summary.map_or(0.0, |times| times.mean * times.count.saturating_sub(times.infinite) as f64);
        let p99 = |times: &Option<Durations>| Some(times.as_ref()?.p99_ns.least() as f64 / 1e9);
        let fate = |fate: Fate| {
            let found = counts.fates.entries().find(|(name, _)| *name == fate.name());
            (fate.name(), found.map_or(0, |(_, count)| count.unsigned_abs()))
        };
        Self {
            offered: counts.offered,
            dispatched: counts.dispatched,
            completed: counts.completed,
            bytes: [counts.bytes_out, counts.bytes_in],
            fates: Fate::ALL.into_iter().map(fate).collect(),
            octaves: times.map(|times| times.octaves()).unwrap_or_default(),
            response_s: mean / 1e9,
            dispatch_lag_s: p99(&figures.durations.dispatch_lag),
            read_lag_s: p99(&figures.durations.read_lag),
        }
    }

    pub(super) fn response(&self) -> MetricValue {
        MetricValue::Times { octaves: self.octaves, sum_s: self.response_s }
    }
}
