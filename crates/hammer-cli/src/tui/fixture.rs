//! A run by hand: what the dashboard is told, from recorders and figures as a real run makes them.

use std::sync::Arc;

use hammer_measure::health::Health;
use hammer_measure::recorder::{Completion, Interval};
use hammer_measure::snapshot::{
    Observation, Resources, RunInfo, SeriesFigures, SeriesSnapshot, Snapshot, Surroundings,
};
use hammer_measure::threshold::Verdict;
use hammer_measure::{Detail, Ledger, Nanos, Outcome, Phase, Recorder, RunEvent, SeriesInfo, Timing};

use super::spec::{
    DashboardSpec, PanelLabel, PanelSide, PanelSize, PanelSpec, PanelTimes, SideWords, WorkloadSpec,
};
use super::state::DashboardState;
pub(super) use crate::protocol::ct::panel::PANEL as PANEL_OF_LOG;

mod recorded;

/// The run.
pub(super) struct Run {
    /// What is drawn.
    pub(super) state: DashboardState,
    /// What the next interval tells beside the figures.
    pub(super) promises: Ledger,
    pub(super) observations: Vec<Observation>,
    pub(super) health: Health,
    pub(super) thresholds: Vec<Verdict>,
    /// User CPU seconds by then.
    pub(super) cpu: f64,
    recorder: Recorder,
    total: Interval,
    index: u64,
    at: Nanos,
}

pub(super) const SECOND: Nanos = Nanos::from_secs(1);

/// The panel of a notary, which is no protocol of ours.
pub(super) const PANEL_OF_NOTARY: PanelSpec = PanelSpec {
    heading: "The panel, in the words of the notary",
    reads: SideWords { label: "Copy", plural: "copies" },
    writes: SideWords { label: "Seal", plural: "seals" },
    read_series: &["copy"],
    size: Some(PanelSize { label: "Pages", observation: "pages", growth_unit: " pages/s" }),
    service_time: PanelLabel { label: "At the desk", means: "service time of a seal, 30 s" },
    times: Some(PanelTimes {
        name: PanelLabel { label: "Bound", means: "sealed to bound into the book, 30 s" },
        observations: ["bound_min", "bound_avg", "bound_max"],
        from_intended: None,
    }),
    overdue: None,
};

pub(super) fn workload(name: &str, side: PanelSide, rate: f64, in_flight: usize) -> WorkloadSpec {
    WorkloadSpec { name: name.to_owned(), side, rate: Some(rate), in_flight, closed_loop: false, page: None }
}

fn named(title: &str, workloads: Vec<WorkloadSpec>) -> DashboardSpec {
    let targets = vec!["http://127.0.0.1:40000".to_owned()];
    DashboardSpec {
        title: title.to_owned(),
        targets,
        workloads,
        interval: SECOND,
        drain: Some(Nanos::from_secs(30)),
        ..DashboardSpec::default()
    }
}

impl Run {
    /// One that writes (series 0 and 1) and reads (series 2) a log, at the start of measurement.
    pub(super) fn of_log() -> Self {
        let workloads = vec![
            workload("submit", PanelSide::Writes, 128.0, 128),
            workload("read", PanelSide::Reads, 20.0, 8),
        ];
        Self::of(
            DashboardSpec { panel: Some(PANEL_OF_LOG), ..named("e2-micro", workloads) },
            &[("submit", "add-chain"), ("submit", "add-pre-chain"), ("read", "checkpoint")],
        )
    }

    /// One of a single web workload.
    pub(super) fn of_web() -> Self {
        let workloads = vec![workload("web", PanelSide::Neither, 500.0, 100)];
        Self::of(named("web", workloads), &[("web", "get")])
    }

    /// One that has a notary seal, and nothing copied.
    pub(super) fn of_notary(panel: PanelSpec) -> Self {
        let workloads = vec![workload("seal", PanelSide::Writes, 50.0, 16)];
        let spec = DashboardSpec { panel: Some(panel), ..named("notary", workloads) };
        Self::of(spec, &[("seal", "seal")])
    }

    /// One of clerks who seal (series 0) and copy (series 1) in turn, beside one who copies alone (series 2).
    pub(super) fn of_clerks() -> Self {
        let workloads = vec![
            workload("clerk", PanelSide::Writes, 50.0, 16),
            workload("copyist", PanelSide::Reads, 5.0, 2),
        ];
        let spec = DashboardSpec { panel: Some(PANEL_OF_NOTARY), ..named("notary", workloads) };
        Self::of(spec, &[("clerk", "seal/seal"), ("clerk", "copy/copy"), ("copyist", "copy")])
    }

    fn of(spec: DashboardSpec, series: &[(&str, &str)]) -> Self {
        let info = |(workload, name): &(&str, &str)| SeriesInfo {
            workload: (*workload).to_owned(),
            name: (*name).to_owned(),
            operation: true,
            closed_loop: false,
            refusals_meant: false,
        };
        Self::of_series(spec, series.iter().map(info).collect())
    }

    fn of_series(spec: DashboardSpec, series: Vec<SeriesInfo>) -> Self {
        let count = series.len();
        let info = RunInfo {
            series,
            headlines: Vec::new(),
            shards: 1,
            seed: 0,
            epoch_unix_ms: 0,
            warm_up: Nanos::ZERO,
            measurement: Some(Nanos::from_secs(43_200)),
            goal: None,
        };
        let mut run = Self {
            state: DashboardState::new(spec),
            promises: Ledger::default(),
            observations: Vec::new(),
            health: Health::default(),
            thresholds: Vec::new(),
            cpu: 12.5,
            recorder: Recorder::new(count),
            total: Interval::with_series(count),
            index: 0,
            at: Nanos::ZERO,
        };
        run.state.take(&RunEvent::Started(Arc::new(info)));
        run.state.take(&RunEvent::Phase { phase: Phase::Measurement, at: Nanos::ZERO });
        run
    }

    /// So many operations end with that outcome, each after so many milliseconds of service and as long of waiting.
    pub(super) fn end(&mut self, series: usize, outcome: Outcome, millis: impl IntoIterator<Item = u64>) {
        self.end_by(series, (outcome, Detail::None), millis);
    }

    /// So many operations fail by that cause at once, with the first of which this is said.
    pub(super) fn fail(
        &mut self,
        series: usize,
        (outcome, detail): (Outcome, Detail),
        count: u64,
        said: &str,
    ) {
        self.end_by(series, (outcome, detail), (0..count).map(|_| 1));
        self.recorder.answered(series, Phase::Measurement, (outcome.into(), detail), self.at, said);
    }

    fn end_by(
        &mut self,
        series: usize,
        (outcome, detail): (Outcome, Detail),
        millis: impl IntoIterator<Item = u64>,
    ) {
        for millis in millis {
            let each = Nanos::from_millis(millis);
            self.took(series, (outcome, detail), each, each);
        }
    }

    /// An operation ends with that outcome after so long a wait and so long a service.
    fn took(&mut self, series: usize, (outcome, detail): (Outcome, Detail), wait: Nanos, service: Nanos) {
        let intended = self.at;
        let sent = intended + wait;
        let timing = Timing::new(intended, intended).started(sent).finished(sent, sent + service);
        self.recorder.offer(series, Phase::Measurement);
        self.recorder.queue(series, Phase::Measurement);
        self.recorder.start(series, Phase::Measurement, &timing);
        let completion = Completion {
            outcome,
            detail,
            sent: true,
            read_lag: None,
            held_up: None,
            resent: false,
            redialled: false,
            bytes_out: 0,
            bytes_in: 0,
        };
        self.recorder.finish(series, Phase::Measurement, &timing, &completion);
    }

    /// So many arrivals found the backlog full.
    pub(super) fn shed(&mut self, series: usize, count: u64) {
        for _ in 0..count {
            self.recorder.offer(series, Phase::Measurement);
            self.recorder.shed(series, Phase::Measurement);
        }
    }

    /// So many arrivals wait for a slot.
    pub(super) fn wait(&mut self, series: usize, count: u64) {
        for _ in 0..count {
            self.recorder.offer(series, Phase::Measurement);
            self.recorder.queue(series, Phase::Measurement);
        }
    }

    /// An observer saw it.
    pub(super) fn observe(&mut self, name: &str, value: f64) {
        self.observations.retain(|known| known.name != name);
        self.observations.push(Observation::new(name, self.at, value));
    }

    /// The interval ends after `span`.
    pub(super) fn interval(&mut self, span: Nanos) {
        self.at += span;
        let interval = self.recorder.swap(self.at, Interval::with_series(self.total.series.len()));
        self.total.merge(&interval);
        let series =
            interval.series.iter().zip(&self.total.series).map(|([_, measured], total)| SeriesSnapshot {
                interval: SeriesFigures::of(measured),
                warm_up: SeriesFigures::of(&total[0]),
                measurement: SeriesFigures::of(&total[1]),
            });
        let snapshot = Snapshot {
            peers: Vec::new(),
            responses: Vec::new(),
            samples: Vec::new(),
            index: self.index,
            at: self.at,
            span,
            phase: Phase::Measurement,
            series: series.collect(),
            promises: self.promises,
            observations: self.observations.clone(),
            thresholds: self.thresholds.clone(),
            health: self.health.clone(),
            stood: Nanos::ZERO,
            resources: Resources {
                surroundings: Surroundings::default(),
                cpu_user: self.cpu,
                cpu_system: 1.5,
                rss_bytes: 94_000_000,
                max_rss_bytes: 101_000_000,
                descriptors: 140,
                descriptor_limit: 1_048_576,
                cores: 2,
            },
        };
        self.index += 1;
        self.state.take(&RunEvent::Interval(Arc::new(snapshot)));
    }
}
