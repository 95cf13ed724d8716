//! Holds thresholds and the generator's own health against the figures.

use hammer_measure::health::{Health, HealthEvidence, Standstill};
use hammer_measure::recorder::{Interval, SeriesRecord};
use hammer_measure::threshold::{Threshold, ThresholdFigures, Verdict};
use hammer_measure::{Detail, Distribution, Fate, Ledger, Nanos, Phase, SeriesInfo};

/// What a threshold is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All operations of the run together.
    Total,
    /// All operations of a workload together.
    Workload(String),
    /// One series, as `workload/name`.
    Series(String),
}

/// A threshold, where it applies, and what its failure does.
#[derive(Clone, Debug, PartialEq)]
pub struct ScopedThreshold {
    /// Where.
    pub scope: Scope,
    /// What.
    pub threshold: Threshold,
    /// How long into measurement it may fail without ending the run.
    pub grace: Nanos,
    /// Whether its failure ends the run.
    pub abort_on_fail: bool,
}

/// The judge of a run.
pub(super) struct RunJudge {
    thresholds: Vec<ScopedThreshold>,
    series: Vec<SeriesInfo>,
    aborted: Option<usize>,
    /// Whether the run measures anything: a fill does not.
    measures: bool,
    /// The longest that any shard lets an answer lie unread.
    unread_at_most: Nanos,
}

impl RunJudge {
    pub(super) fn new(thresholds: Vec<ScopedThreshold>, series: Vec<SeriesInfo>) -> Self {
        Self { thresholds, series, aborted: None, measures: true, unread_at_most: Nanos::ZERO }
    }

    /// The judge of a fill, which measures nothing: lateness spoils no figure of it.
    #[must_use]
    pub(super) fn of_fill(self) -> Self {
        Self { measures: false, ..self }
    }

    /// A shard lets answers lie unread for so long, as planned.
    pub(super) fn answers_may_wait(&mut self, unread_at_most: Nanos) {
        self.unread_at_most = self.unread_at_most.max(unread_at_most);
    }

    /// The generator's health over the measurement phase.
    pub(super) fn health(&self, total: &Interval, cpu_share: f64) -> Health {
        if !self.measures {
            return Health::default();
        }
        let mut lag = Distribution::default();
        let mut read_lag = Distribution::default();
        let mut compute = Distribution::default();
        let mut service = Distribution::default();
        let mut starved = 0;
        let mut exhausted = (0, "");
        let mut standstills = Vec::new();
        for (info, [_, record]) in self.series.iter().zip(&total.series) {
            if info.operation {
                starved += record.fate(Fate::Starved);
                standstills.extend(Standstill::of(&info.path(), record));
                lag.merge(&record.dispatch_lag);
                read_lag.merge(&record.read_lag);
                compute.merge(&record.compute_wait);
                service.merge(&record.service_time);
            }
            for (_, detail, count) in &record.causes {
                let what = match *detail {
                    Detail::DESCRIPTORS_EXHAUSTED => "descriptors",
                    Detail::PORTS_EXHAUSTED => "local ports",
                    _ => continue,
                };
                exhausted = (exhausted.0 + count, what);
            }
        }
        Health::judge(&HealthEvidence {
            starved,
            standstills,
            dispatch_lag: (lag.count() > 0).then_some(&lag),
            read_lag: (read_lag.count() > 0).then_some(&read_lag),
            unread_at_most: self.unread_at_most,
            compute_wait: (compute.count() > 0).then_some(&compute),
            service_time: (service.count() > 0).then_some(&service),
            cpu_share,
            exhausted: (exhausted.0 > 0).then_some(exhausted),
        })
    }

    /// The first threshold that ends the run now, `since` the start of measurement.
    pub(super) fn abort(
        &mut self,
        total: &Interval,
        promises: &[(String, Ledger)],
        since: Nanos,
    ) -> Option<String> {
        let failed = self.thresholds.iter().position(|scoped| {
            scoped.abort_on_fail
                && since >= scoped.grace
                && !self.verdict(scoped, total, promises, since.as_secs_f64()).holds
        })?;
        self.aborted = Some(failed);
        Some(self.thresholds[failed].threshold.to_string())
    }

    /// The verdicts at the end.
    pub(super) fn verdicts(
        &self,
        total: &Interval,
        promises: &[(String, Ledger)],
        seconds: f64,
    ) -> Vec<Verdict> {
        let verdicts = self.thresholds.iter().enumerate().map(|(index, scoped)| {
            let mut verdict = self.verdict(scoped, total, promises, seconds);
            verdict.aborted = self.aborted == Some(index);
            // What ended the run has failed, even if drain mended the figure.
            verdict.holds &= !verdict.aborted;
            verdict
        });
        verdicts.collect()
    }

    fn verdict(
        &self,
        scoped: &ScopedThreshold,
        total: &Interval,
        promises: &[(String, Ledger)],
        seconds: f64,
    ) -> Verdict {
        let mut both = [SeriesRecord::default(), SeriesRecord::default()];
        for (info, [warm_up, measured]) in self.series.iter().zip(&total.series) {
            if scoped.scope.covers(info) {
                both[0].merge(warm_up);
                both[1].merge(measured);
            }
        }
        let ended = SeriesRecord::ended_within(&both, Phase::Measurement);
        let mut ledger = Ledger::default();
        for (workload, promises) in promises {
            if scoped.scope.covers_workload(workload) {
                ledger.add(promises);
            }
        }
        let figures = ThresholdFigures { record: &both[1], ended, promises: &ledger, seconds };
        scoped.threshold.judge(scoped.scope.name(), &figures)
    }
}

impl Scope {
    fn covers(&self, series: &SeriesInfo) -> bool {
        match self {
            Self::Total => series.operation,
            Self::Workload(name) => series.operation && series.workload == *name,
            Self::Series(path) => series.path() == *path,
        }
    }

    fn covers_workload(&self, workload: &str) -> bool {
        match self {
            Self::Total => true,
            Self::Workload(name) => name == workload,
            Self::Series(path) => path.split('/').next() == Some(workload),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Total => "total",
            Self::Workload(name) | Self::Series(name) => name,
        }
    }
}
