//! Puts together what the shards recorded: adds, never averages.

use std::collections::BTreeMap;

use hammer_measure::health::Health;
use hammer_measure::recorder::{Interval, phase_index};
use hammer_measure::snapshot::{
    Observation, PeerInterval, Resources, ResponseInterval, SeriesFigures, SeriesSnapshot, Snapshot,
};
use hammer_measure::{Ledger, Nanos, Phase};

use crate::background::give_way;

/// The merged record of a run.
#[derive(Debug)]
pub struct Collector {
    series: usize,
    shards: Vec<Progress>,
    /// Of each shard, how long its thread ran in measurement.
    ran: Vec<Nanos>,
    open: BTreeMap<u64, Interval>,
    next: u64,
    last_at: Nanos,
    total: Interval,
    spare: Vec<Interval>,
    recycled: Vec<(usize, Interval)>,
}

/// How far a shard has come.
#[derive(Clone, Copy, Debug)]
enum Progress {
    /// It delivered every interval below this number.
    Delivered(u64),
    /// It delivered its last.
    Over,
}

impl Collector {
    /// A collector of `series` series from `shards` shards, which are told apart by their places from 0. Parts of a run that hand on
    /// what they have merged are put together likewise, each as a shard.
    pub fn new(series: usize, shards: usize) -> Self {
        Self {
            series,
            shards: vec![Progress::Delivered(0); shards],
            ran: vec![Nanos::ZERO; shards],
            open: BTreeMap::new(),
            next: 0,
            last_at: Nanos::ZERO,
            total: Interval::with_series(series),
            spare: Vec::new(),
            recycled: Vec::new(),
        }
    }

    /// The first interval starts at `at`.
    pub fn start(&mut self, at: Nanos) {
        self.last_at = at;
    }

    /// Takes the interval `index` of `shard`.
    pub fn take(&mut self, shard: usize, index: u64, interval: Interval) {
        self.shards[shard] = Progress::Delivered(index.saturating_add(1));
        self.merge(shard, index, interval);
    }

    /// Takes the last interval of `shard`.
    pub fn over(&mut self, shard: usize, index: u64, interval: Interval) {
        self.shards[shard] = Progress::Over;
        self.merge(shard, index, interval);
    }

    /// Whether every shard delivered its last.
    pub fn all_over(&self) -> bool {
        self.shards.iter().all(|shard| matches!(shard, Progress::Over))
    }

    /// The next interval that every shard has delivered, already added to the total.
    pub fn next_complete(&mut self) -> Option<Interval> {
        let complete = self.shards.iter().all(|shard| match shard {
            Progress::Delivered(below) => *below > self.next,
            Progress::Over => true,
        });
        if !complete {
            return None;
        }
        let merged = self.open.remove(&self.next)?;
        self.next += 1;
        give_way();
        self.total.merge(&merged);
        give_way();
        debug_assert!(
            self.total.series.iter().flatten().all(hammer_measure::recorder::SeriesRecord::balances),
            "the fates of the run must balance at every interval"
        );
        Some(merged)
    }

    /// Whether every interval was handed out: nothing follows.
    pub fn is_done(&self) -> bool {
        self.all_over() && self.open.is_empty()
    }

    /// Everything so far.
    pub fn total(&self) -> &Interval {
        &self.total
    }

    /// The longest that a shard's thread ran in measurement.
    pub fn busiest(&self) -> Nanos {
        self.ran.iter().copied().max().unwrap_or_default()
    }

    /// Emptied intervals, each for the shard that it came from.
    pub fn recycled(&mut self) -> Vec<(usize, Interval)> {
        std::mem::take(&mut self.recycled)
    }

    /// The end of the last interval that was told, or the start of the first.
    pub fn last_at(&self) -> Nanos {
        self.last_at
    }

    /// The middle of `merged`, the next interval to be told.
    pub fn middle_of(&self, merged: &Interval) -> Nanos {
        self.last_at.saturating_add(Nanos(merged.at.since(self.last_at).0 / 2))
    }

    /// The snapshot at the end of `merged`.
    pub fn snapshot(
        &mut self,
        mut merged: Interval,
        phase: Phase,
        promises: Ledger,
        observations: Vec<Observation>,
        health: Health,
        resources: Resources,
    ) -> Snapshot {
        let series = self.total.series.iter().zip(&mut merged.series);
        // Each is a good part of a millisecond, which the shard on this core must not wait for.
        let figures = |record| {
            give_way();
            SeriesFigures::of(record)
        };
        let series = series.map(|(total, [warm_up, measurement])| {
            warm_up.merge(measurement);
            SeriesSnapshot {
                interval: figures(warm_up),
                warm_up: figures(&total[0]),
                measurement: figures(&total[1]),
            }
        });
        let series = series.collect();
        let peers = PeerInterval::all(&merged.connections);
        let responses = merged.series.iter().map(|[both, _]| {
            give_way();
            ResponseInterval::of(both)
        });
        let responses = responses.collect();
        let samples = std::mem::take(&mut merged.samples);
        let span = merged.at.since(self.last_at);
        let at = merged.at;
        let stood: u64 = merged.alarms.iter().map(|alarms| alarms.stood.0).sum();
        let stood = Nanos(stood / self.shards.len().max(1) as u64);
        self.last_at = at;
        merged.clear();
        self.spare.push(merged);
        Snapshot {
            index: self.next - 1,
            at,
            span,
            phase,
            series,
            peers,
            responses,
            samples,
            promises,
            observations,
            thresholds: Vec::new(),
            health,
            stood,
            resources,
        }
    }

    fn merge(&mut self, shard: usize, index: u64, mut interval: Interval) {
        let into = self.open.entry(index).or_insert_with(|| {
            let mut empty = self.spare.pop().unwrap_or_else(|| Interval::with_series(self.series));
            empty.at = Nanos::ZERO;
            empty
        });
        into.merge(&interval);
        self.ran[shard] = self.ran[shard].saturating_add(interval.ran[phase_index(Phase::Measurement)]);
        interval.clear();
        self.recycled.push((shard, interval));
    }
}

#[cfg(test)]
mod tests {
    use hammer_measure::Recorder;

    use super::*;

    fn one_shed(at: u64) -> Interval {
        let mut recorder = Recorder::new(1);
        recorder.offer(0, Phase::Measurement);
        recorder.shed(0, Phase::Measurement);
        recorder.swap(Nanos(at), Interval::with_series(1))
    }

    #[test]
    fn the_first_interval_spans_from_the_start() {
        let mut collector = Collector::new(1, 1);
        collector.start(Nanos(1_000));
        collector.take(0, 0, one_shed(1_500));
        let merged = collector.next_complete().unwrap();
        let (ledger, health) = (Ledger::default(), Health::default());
        let snapshot =
            collector.snapshot(merged, Phase::Measurement, ledger, Vec::new(), health, Resources::default());
        assert_eq!(snapshot.span, Nanos(500));
    }

    #[test]
    fn a_number_beyond_all_intervals_is_one_that_nothing_follows() {
        let mut collector = Collector::new(1, 2);
        collector.take(0, u64::MAX, one_shed(10));
        collector.take(1, 0, one_shed(10));
        assert_eq!(collector.next_complete().unwrap().series[0][1].offered, 1);
        assert!(collector.next_complete().is_none());
    }

    #[test]
    fn the_busiest_shard_is_told_by_what_it_ran_in_measurement() {
        let ran = |time| Interval { ran: [Nanos(900), Nanos(time)], ..one_shed(10) };
        let mut collector = Collector::new(1, 2);
        collector.take(0, 0, ran(5));
        collector.take(1, 0, ran(7));
        collector.over(0, 1, ran(6));
        assert_eq!(collector.busiest(), Nanos(11));
        collector.next_complete();
        assert_eq!(collector.total().ran, [Nanos(1_800), Nanos(12)]);
    }

    #[test]
    fn an_interval_closes_when_every_shard_has_delivered_it() {
        let mut collector = Collector::new(1, 2);
        collector.take(0, 0, one_shed(10));
        assert!(collector.next_complete().is_none());
        collector.take(0, 1, one_shed(20));
        collector.take(1, 0, one_shed(11));
        assert_eq!(collector.next_complete().unwrap().series[0][1].offered, 2);
        assert!(collector.next_complete().is_none());
        collector.over(1, 1, one_shed(15));
        assert_eq!(collector.next_complete().unwrap().series[0][1].offered, 2);
        assert_eq!(collector.total().series[0][1].offered, 4);
        assert!(!collector.all_over());
        assert_eq!(collector.recycled().len(), 4);
    }
}
