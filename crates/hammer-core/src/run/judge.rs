//! Holds thresholds and the generator's own health against the figures.

use hammer_measure::health::{CpuEvidence, Health, HealthEvidence, HealthPolicy, SeriesEvidence};
use hammer_measure::recorder::{Interval, phase_index};
use hammer_measure::threshold::{Threshold, Verdict};
use hammer_measure::{Detail, Ledger, Nanos, Phase, SeriesInfo};

use crate::background::give_way;

use super::judged_window::JudgedWindow;
use super::scope::Scope;
use super::scoped_figures::ScopedFigures;

/// A threshold, where it applies, and what its failure does.
#[derive(Clone, Debug, PartialEq)]
pub struct ScopedThreshold {
    /// Where.
    pub scope: Scope,
    /// What.
    pub threshold: Threshold,
    /// How long into measurement it may fail without ending the run.
    pub grace: Nanos,
    /// Over how much of measurement, up to now, it is judged where its failure ends the run.
    pub window: Nanos,
    /// Whether its failure ends the run.
    pub abort_on_fail: bool,
}

/// The judge of a run.
pub(super) struct RunJudge {
    thresholds: Vec<ScopedThreshold>,
    series: Vec<SeriesInfo>,
    /// Of each threshold that can end the run by how a part of it went.
    windows: Vec<Option<JudgedWindow>>,
    /// The threshold that ended the run, with the verdict by which it did.
    aborted: Option<(usize, Verdict)>,
    /// Whether the run measures anything: a fill does not.
    measures: bool,
    /// The longest that any shard lets an answer lie unread.
    unread_at_most: Nanos,
    /// What the plan says of health.
    policy: HealthPolicy,
}

impl RunJudge {
    pub(super) fn new(
        thresholds: Vec<ScopedThreshold>,
        series: Vec<SeriesInfo>,
        policy: HealthPolicy,
    ) -> Self {
        let is_midway = |scoped: &&ScopedThreshold| scoped.abort_on_fail && !scoped.threshold.adds_up();
        let window = |scoped| Some(scoped).filter(is_midway).map(|scoped| JudgedWindow::new(scoped.window));
        let windows = thresholds.iter().map(window).collect();
        let unread_at_most = Nanos::ZERO;
        Self { thresholds, series, windows, aborted: None, measures: true, unread_at_most, policy }
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

    /// The generator's health over the measurement phase, in which it used `cpu`.
    pub(super) fn health(&self, total: &Interval, cpu: CpuEvidence) -> Health {
        if !self.measures {
            return Health::default();
        }
        let operations = self.series.iter().zip(&total.series).filter(|(info, _)| info.operation);
        let series = operations.map(|(info, phases)| SeriesEvidence {
            path: info.path(),
            closed_loop: info.closed_loop,
            phases,
        });
        Health::judge(&HealthEvidence {
            series: series.collect(),
            latest_alarm: total.alarms[phase_index(Phase::Measurement)].late.longest(),
            unread_at_most: self.unread_at_most,
            cpu,
            exhausted: self.exhausted(total),
            policy: self.policy,
        })
    }

    /// How many operations failed since descriptors or local ports ran out, and which of the two last. Where a step of an operation does, both
    /// say so: the more of a workload are counted.
    fn exhausted(&self, total: &Interval) -> Option<(u64, &'static str)> {
        let mut what = None;
        let mut by_workload: Vec<(&str, [u64; 2])> = Vec::new();
        for (info, [_, record]) in self.series.iter().zip(&total.series) {
            let found =
                record.causes.iter().filter_map(|(_, detail, count)| Some((ran_out(*detail)?, *count)));
            for (which, count) in found {
                what = Some(which);
                let place = by_workload.iter().position(|(workload, _)| *workload == info.workload);
                let place = place.unwrap_or_else(|| {
                    by_workload.push((&info.workload, [0; 2]));
                    by_workload.len() - 1
                });
                by_workload[place].1[usize::from(info.operation)] += count;
            }
        }
        let count = by_workload.iter().map(|(_, [steps, operations])| steps.max(operations)).sum();
        what.map(|what| (count, what))
    }

    /// Takes what was recorded from `start` to `end` in measurement.
    pub(super) fn take(&mut self, recorded: &Interval, (start, end): (Nanos, Nanos)) {
        for (scoped, window) in self.thresholds.iter().zip(&mut self.windows) {
            if let Some(window) = window {
                window.add((start, end), ScopedFigures::of(&scoped.scope, &self.series, recorded));
            }
        }
    }

    /// The first threshold whose failure is to end the run now, `since` the start of measurement, with its place among them.
    pub(super) fn failed_midway(
        &self,
        total: &Interval,
        promises: &[(String, Ledger)],
        since: Nanos,
    ) -> Option<(usize, Verdict)> {
        let mut thresholds = self.thresholds.iter().zip(&self.windows).enumerate();
        thresholds.find_map(|(index, (scoped, window))| {
            if !scoped.abort_on_fail || since < scoped.grace {
                return None;
            }
            let figures = match window {
                Some(window) => window.whole(),
                None => Some((ScopedFigures::of(&scoped.scope, &self.series, total), since)),
            };
            let ledger = scoped.scope.promises(promises);
            let (figures, length) = figures?;
            let judged = figures.judged(&ledger, length.as_secs_f64());
            if !scoped.threshold.fails_midway(&judged) {
                return None;
            }
            let mut verdict = scoped.threshold.judge(scoped.scope.name(), &judged);
            if window.is_some() {
                verdict.found = format!("{} in the last {length}", verdict.found);
            }
            Some((index, verdict))
        })
    }

    /// How the thresholds stand, `since` the start of measurement; each is a good part of a millisecond, before which other threads have their turn.
    pub(super) fn standing(
        &self,
        total: &Interval,
        promises: &[(String, Ledger)],
        since: Nanos,
    ) -> Vec<Verdict> {
        let stands = |scoped: &ScopedThreshold| {
            give_way();
            let figures = ScopedFigures::of(&scoped.scope, &self.series, total);
            let ledger = scoped.scope.promises(promises);
            let judged = figures.judged(&ledger, since.as_secs_f64());
            scoped.threshold.judge_midway(scoped.scope.name(), &judged)
        };
        self.thresholds.iter().filter_map(stands).collect()
    }

    /// The threshold at that place ended the run, by that verdict.
    pub(super) fn ended_by(&mut self, failed: usize, verdict: Verdict) {
        self.aborted = Some((failed, verdict));
    }

    /// The verdicts at the end.
    pub(super) fn verdicts(
        &self,
        total: &Interval,
        promises: &[(String, Ledger)],
        seconds: f64,
    ) -> Vec<Verdict> {
        let verdicts = self.thresholds.iter().enumerate().map(|(index, scoped)| {
            match &self.aborted {
                // What ended the run has failed, even if drain mended the figure, or all of measurement has a better one.
                Some((aborted, verdict)) if *aborted == index => {
                    Verdict { aborted: true, holds: false, ..verdict.clone() }
                }
                _ => self.verdict(scoped, total, promises, seconds),
            }
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
        let figures = ScopedFigures::of(&scoped.scope, &self.series, total);
        let ledger = scoped.scope.promises(promises);
        scoped.threshold.judge(scoped.scope.name(), &figures.judged(&ledger, seconds))
    }
}

/// What ran out where an operation failed by that.
fn ran_out(detail: Detail) -> Option<&'static str> {
    match detail {
        Detail::DESCRIPTORS_EXHAUSTED => Some("descriptors"),
        Detail::PORTS_EXHAUSTED => Some("local ports"),
        Detail::FILES_EXHAUSTED => Some("room for temporary files"),
        _ => None,
    }
}
