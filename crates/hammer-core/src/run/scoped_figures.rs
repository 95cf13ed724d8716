//! What was recorded of the series that a threshold is on, together.

use hammer_measure::recorder::{Interval, SeriesRecord};
use hammer_measure::threshold::ThresholdFigures;
use hammer_measure::{Distribution, Fate, Ledger, Phase, SeriesInfo};

use super::scope::Scope;

/// Their measurement phase, over some time.
#[derive(Clone, Debug, Default)]
pub(super) struct ScopedFigures {
    record: SeriesRecord,
    ended: [u64; Fate::COUNT],
    response: Distribution,
}

impl ScopedFigures {
    /// Those of the series that are in the scope.
    pub(super) fn of(scope: &Scope, series: &[SeriesInfo], recorded: &Interval) -> Self {
        let mut figures = Self::default();
        for (info, phases) in series.iter().zip(&recorded.series) {
            if scope.covers(info) {
                figures.add(phases, info.refusals_meant);
            }
        }
        figures
    }

    /// Adds those of one series, by phase.
    pub(super) fn add(&mut self, phases: &[SeriesRecord; 2], refusals_meant: bool) {
        let [_, measured] = phases;
        self.record.merge(measured);
        self.add_ended(&SeriesRecord::ended_within(phases, Phase::Measurement));
        self.response.merge(&measured.response_time_where_served(refusals_meant));
    }

    /// Adds others of the same series.
    pub(super) fn merge(&mut self, other: &Self) {
        self.record.merge(&other.record);
        self.add_ended(&other.ended);
        self.response.merge(&other.response);
    }

    fn add_ended(&mut self, ended: &[u64; Fate::COUNT]) {
        self.ended.iter_mut().zip(ended).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// What a threshold is held against, with these promises, where they were recorded over so many seconds.
    pub(super) fn judged<'a>(&'a self, promises: &'a Ledger, seconds: f64) -> ThresholdFigures<'a> {
        ThresholdFigures {
            record: &self.record,
            ended: self.ended,
            response: &self.response,
            promises,
            seconds,
        }
    }

    #[cfg(test)]
    pub(super) fn record(&self) -> &SeriesRecord {
        &self.record
    }
}
