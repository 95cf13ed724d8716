//! What a run says of itself in metrics, on a page in Prometheus's text format or otherwise, while it lasts and once it has ended: the same
//! counts as the report's.

mod metric_families;
mod phase_metrics;

use std::sync::Arc;

use hammer_measure::snapshot::{RunInfo, Snapshot};
use hammer_measure::{Ledger, Nanos, Phase, Reporter, RunEvent, SeriesInfo};
use hammer_pages::exposition::{CPU, MEMORY};

use self::phase_metrics::PhaseMetrics;
use crate::report::{Finding, PromiseCounts, Report, SeriesKind};

pub use self::metric_families::{MetricFamilies, MetricFamily, MetricKind, MetricSample, MetricValue};

/// Who is given the metrics as they are made.
pub trait MetricsSink {
    /// Takes them in place of those before; `is_last` where none follow of the run.
    fn take(&self, families: MetricFamilies, is_last: bool);
}

/// Makes the metrics of each interval of a run, and those of its report.
pub struct RunMetrics {
    sink: Arc<dyn MetricsSink + Send + Sync>,
    /// What tells it from other runs of the command, where there are some.
    run: Option<String>,
    info: Option<Arc<RunInfo>>,
    stood_s: f64,
}

/// What is on a page.
#[derive(Debug, Default)]
struct PageFigures {
    series: Vec<SeriesMetrics>,
    promises: PromiseCounts,
    /// By workload and kind; known once the run has ended.
    kinds: Vec<(String, String, PromiseCounts)>,
    observations: Vec<(String, f64)>,
    /// Health's findings, by their names.
    findings: Vec<String>,
    phase: &'static str,
    at: Nanos,
    stood_s: f64,
    cpu_s: f64,
    memory: u64,
    descriptors: u64,
    /// Once it has ended.
    exit_code: Option<u8>,
}

/// A series on a page.
#[derive(Debug)]
struct SeriesMetrics {
    workload: String,
    name: String,
    kind: &'static str,
    phases: [PhaseMetrics; 2],
    backlog: i64,
    in_flight: i64,
}

impl RunMetrics {
    /// For that sink; `run` tells the runs of one command apart.
    pub fn new(sink: Arc<dyn MetricsSink + Send + Sync>, run: Option<String>) -> Self {
        Self { sink, run, info: None, stood_s: 0.0 }
    }

    /// The last metrics, of the run's report.
    pub fn conclude(&self, report: &Report) {
        self.tell(&PageFigures::of(report), true);
    }

    fn tell(&self, figures: &PageFigures, is_last: bool) {
        let of_run = MetricFamilies {
            run: self.run.clone(),
            info: self.info.clone(),
            at: figures.at,
            families: Vec::new(),
        };
        self.sink.take(figures.metrics(of_run), is_last);
    }
}

impl Reporter for RunMetrics {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => self.info = Some(Arc::clone(info)),
            RunEvent::Interval(snapshot) => {
                let Some(info) = &self.info else { return };
                self.stood_s += snapshot.stood.as_secs_f64();
                let figures =
                    PageFigures { stood_s: self.stood_s, ..PageFigures::while_running(info, snapshot) };
                self.tell(&figures, false);
            }
            _ => {}
        }
    }
}

/// The page of a run that has ended.
pub fn page(report: &Report) -> String {
    PageFigures::of(report).metrics(MetricFamilies::default()).text()
}

impl PageFigures {
    fn while_running(info: &RunInfo, snapshot: &Snapshot) -> Self {
        let series = info.series.iter().zip(&snapshot.series).map(|(info, series)| {
            let phases = [&series.warm_up, &series.measurement];
            SeriesMetrics {
                backlog: phases.iter().map(|phase| phase.backlog).sum(),
                in_flight: phases.iter().map(|phase| phase.in_flight).sum(),
                phases: phases.map(PhaseMetrics::of_figures),
                ..SeriesMetrics::named(info)
            }
        });
        let Ledger { made, kept, broken, pending, unchecked } = snapshot.promises;
        let findings = snapshot.health.findings.iter().map(|finding| name_of(&Finding::from(finding)));
        let resources = &snapshot.resources;
        Self {
            series: series.collect(),
            promises: PromiseCounts { made, kept, broken, pending, unchecked },
            observations: snapshot.observations.iter().map(|seen| (seen.name.clone(), seen.value)).collect(),
            findings: findings.collect(),
            phase: label(snapshot.phase),
            at: snapshot.at,
            cpu_s: resources.cpu_user + resources.cpu_system,
            memory: resources.rss_bytes,
            descriptors: resources.descriptors,
            ..Self::default()
        }
    }

    fn of(report: &Report) -> Self {
        let series = report.series.iter().map(|series| {
            let phases = [&series.warm_up, &series.measurement];
            let open = |of: fn(&crate::report::Fates) -> i64| {
                phases.iter().map(|phase| of(&phase.counts.fates)).sum()
            };
            SeriesMetrics {
                workload: series.workload.clone(),
                name: series.name.clone(),
                kind: match series.kind {
                    SeriesKind::Operation => OPERATION,
                    SeriesKind::Step => STEP,
                },
                backlog: open(|fates| fates.backlog),
                in_flight: open(|fates| fates.in_flight),
                phases: phases.map(PhaseMetrics::of_report),
            }
        });
        let kinds = report.promises.by_kind.iter();
        let last = |seen: &crate::report::ObservationSeries| (seen.name.clone(), seen.last.value);
        Self {
            series: series.collect(),
            promises: report.promises.all,
            kinds: kinds.map(|of| (of.workload.clone(), of.kind.clone(), of.promises)).collect(),
            observations: report.observations.iter().map(last).collect(),
            findings: report.health.findings.iter().map(name_of).collect(),
            phase: ENDED,
            at: Nanos(report.phases.last().map_or(0, |span| span.end_ns)),
            stood_s: report.intervals.iter().map(|interval| interval.stood_ns as f64 / 1e9).sum(),
            cpu_s: report.resources.cpu_user_s + report.resources.cpu_system_s,
            memory: report.resources.rss_bytes,
            descriptors: report.resources.descriptors,
            exit_code: Some(report.verdict.exit_code),
        }
    }

    /// All of them, in place of none.
    fn metrics(&self, mut page: MetricFamilies) -> MetricFamilies {
        self.write_series(&mut page);
        self.write_promises(&mut page);
        page.family(
            "hammer_observation",
            MetricKind::Gauge,
            "What observers saw last, by name: the size of a tree, how far behind something is.",
        );
        for (name, value) in self.observations.iter().filter(|(_, value)| value.is_finite()) {
            page.sample(&[("name", name)], *value);
        }
        page.family(
            "hammer_healthy",
            MetricKind::Gauge,
            "Whether the generator kept its plan, so that the figures can be believed.",
        );
        page.sample(&[], u64::from(self.findings.is_empty()));
        page.family(
            "hammer_health_findings",
            MetricKind::Gauge,
            "What is said against the generator, by kind.",
        );
        let mut kinds: Vec<&String> = self.findings.iter().collect();
        // A page has one sample of the same labels, and findings of a kind need not stand together.
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let count = self.findings.iter().filter(|other| *other == kind).count();
            page.sample(&[("kind", kind)], count as u64);
        }
        page.family(
            "hammer_standstill_seconds_total",
            MetricKind::Counter,
            "Seconds for which the generator stood still.",
        );
        page.sample(&[], self.stood_s);
        page.family(
            "hammer_run_phase",
            MetricKind::Gauge,
            "1 for the phase that the run is in, and 0 for the others: warm_up, measurement, drain, ended.",
        );
        // All of them, since who keeps the last of each sample would have the run in several.
        for phase in [Phase::WarmUp, Phase::Measurement, Phase::Drain].map(label).into_iter().chain([ENDED]) {
            page.sample(&[("phase", phase)], u64::from(phase == self.phase));
        }
        page.family("hammer_run_seconds", MetricKind::Gauge, "Seconds since the run's start.");
        page.sample(&[], self.at.as_secs_f64());
        if let Some(code) = self.exit_code {
            page.family("hammer_exit_code", MetricKind::Gauge, "The exit code of the run, which has ended.");
            page.sample(&[], u64::from(code));
        }
        page.family(CPU, MetricKind::Counter, "CPU seconds of the generator, user and system.");
        page.sample(&[], self.cpu_s);
        page.family(MEMORY, MetricKind::Gauge, "Resident memory of the generator, bytes.");
        page.sample(&[], self.memory);
        page.family("process_open_fds", MetricKind::Gauge, "Open descriptors of the generator.");
        page.sample(&[], self.descriptors);
        page
    }

    fn write_series(&self, page: &mut MetricFamilies) {
        type Count = fn(&PhaseMetrics) -> u64;
        let counts: [(&'static str, &'static str, Count); 3] = [
            (
                "hammer_offered_total",
                "Arrivals that the schedule named; in a closed loop operations that users started.",
                |of| of.offered,
            ),
            ("hammer_dispatched_total", "Those that got a slot.", |of| of.dispatched),
            ("hammer_completed_total", "Those that ended by an answer, a failure or their deadline.", |of| {
                of.completed
            }),
        ];
        for (name, help, count) in counts {
            page.family(name, MetricKind::Counter, help);
            self.each(|series, labels, phase| page.sample(&series.labels(labels), count(phase)));
        }
        page.family("hammer_ended_total", MetricKind::Counter, "What became of those offered, by fate.");
        self.each(|series, labels, phase| {
            for (fate, count) in &phase.fates {
                let [workload, name, kind, phase] = series.labels(labels);
                page.sample(&[workload, name, kind, phase, ("fate", fate)], *count);
            }
        });
        page.family(
            "hammer_bytes_total",
            MetricKind::Counter,
            "Bytes handed to connections (out) and read from them (in).",
        );
        self.each(|series, labels, phase| {
            for (direction, bytes) in ["out", "in"].into_iter().zip(phase.bytes) {
                let [workload, name, kind, phase] = series.labels(labels);
                page.sample(&[workload, name, kind, phase, ("direction", direction)], bytes);
            }
        });
        page.family(
            "hammer_response_time_seconds",
            MetricKind::Histogram,
            "Seconds from the instant that the plan named to the end of the answer, of what ended.",
        );
        self.each(|series, labels, phase| page.sample(&series.labels(labels), phase.response()));
        for (name, help, lag) in [
            (
                "hammer_dispatch_lag_p99_seconds",
                "How late the generator released what was due, so far.",
                (|of| of.dispatch_lag_s) as fn(&PhaseMetrics) -> Option<f64>,
            ),
            (
                "hammer_read_lag_p99_seconds",
                "How late the generator read what the kernel had, so far.",
                |of| of.read_lag_s,
            ),
        ] {
            page.family(name, MetricKind::Gauge, help);
            self.each(|series, labels, phase| {
                lag(phase).into_iter().for_each(|lag| page.sample(&series.labels(labels), lag));
            });
        }
        for (name, help, open) in [
            ("hammer_backlog", "Waiting for a slot.", (|of| of.backlog) as fn(&SeriesMetrics) -> i64),
            ("hammer_in_flight", "Under way.", |of| of.in_flight),
        ] {
            page.family(name, MetricKind::Gauge, help);
            for series in self.series.iter().filter(|series| series.kind == OPERATION) {
                let [workload, of, _, _] = series.labels("");
                page.sample(&[workload, of], open(series) as f64);
            }
        }
    }

    fn each(&self, mut write: impl FnMut(&SeriesMetrics, &'static str, &PhaseMetrics)) {
        for series in &self.series {
            for (phase, figures) in Phase::WITH_ARRIVALS.into_iter().zip(&series.phases) {
                write(series, label(phase), figures);
            }
        }
    }

    fn write_promises(&self, page: &mut MetricFamilies) {
        page.family(
            "hammer_promises",
            MetricKind::Gauge,
            "Promises of servers so far, by what became of them; those made are all.",
        );
        for (state, count) in states(&self.promises) {
            page.sample(&[("state", state)], count);
        }
        page.family(
            "hammer_promises_by_kind",
            MetricKind::Gauge,
            "The same by workload and kind, once the run has ended.",
        );
        for (workload, kind, promises) in &self.kinds {
            for (state, count) in states(promises) {
                let labels = [("workload", workload.as_str()), ("kind", kind), ("state", state)];
                page.sample(&labels, count);
            }
        }
    }
}

impl SeriesMetrics {
    fn named(info: &SeriesInfo) -> Self {
        Self {
            workload: info.workload.clone(),
            name: info.name.clone(),
            kind: if info.operation { OPERATION } else { STEP },
            phases: Default::default(),
            backlog: 0,
            in_flight: 0,
        }
    }

    fn labels<'a>(&'a self, phase: &'a str) -> [(&'static str, &'a str); 4] {
        [("workload", &self.workload), ("series", &self.name), ("kind", self.kind), ("phase", phase)]
    }
}

fn states(promises: &PromiseCounts) -> [(&'static str, u64); 5] {
    let PromiseCounts { made, kept, broken, pending, unchecked } = *promises;
    [("made", made), ("kept", kept), ("broken", broken), ("pending", pending), ("unchecked", unchecked)]
}

/// The phase as the report names it.
const fn label(phase: Phase) -> &'static str {
    match phase {
        Phase::WarmUp => "warm_up",
        Phase::Measurement => "measurement",
        Phase::Drain => "drain",
    }
}

fn name_of(finding: &Finding) -> String {
    finding.kind.words().replace(' ', "_")
}

const OPERATION: &str = "operation";
const STEP: &str = "step";
const ENDED: &str = "ended";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use hammer_measure::Nanos;
    use hammer_pages::exposition::sum;

    use super::*;
    use crate::fixture::{Story, operation, report_of, step};

    #[derive(Default)]
    struct Kept(Mutex<Vec<(String, bool)>>);

    impl MetricsSink for Kept {
        fn take(&self, families: MetricFamilies, is_last: bool) {
            self.0.lock().unwrap().push((families.text(), is_last));
        }
    }

    fn of(page: &str, metric: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels: BTreeMap<String, String> =
            labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        sum(page, metric, &labels)
    }

    #[test]
    fn the_last_page_counts_what_the_report_does_and_none_before_it_more() {
        let mut story = Story::new(vec![operation("get", "hot"), step("get", "dial")]);
        story.accept(0, Phase::WarmUp, 5, Nanos::from_millis(1));
        story.interval(Phase::WarmUp);
        story.accept(0, Phase::Measurement, 40, Nanos::from_micros(700));
        story.accept(1, Phase::Measurement, 7, Nanos::from_micros(700));
        story.interval(Phase::Measurement);
        let events = story.finish(|_| {});
        let report = report_of(&events);
        let kept = Arc::new(Kept::default());
        let mut metrics = RunMetrics::new(kept.clone(), Some("2".to_owned()));
        events.iter().for_each(|event| metrics.event(event));
        metrics.conclude(&report);
        let pages = kept.0.lock().unwrap();
        let accepted = [
            ("run", "2"),
            ("workload", "get"),
            ("series", "hot"),
            ("phase", "measurement"),
            ("fate", "accepted"),
        ];
        let seen: Vec<Option<f64>> =
            pages.iter().map(|(page, _)| of(page, "hammer_ended_total", &accepted)).collect();
        assert_eq!(seen, [Some(0.0), Some(40.0), Some(40.0)]);
        assert_eq!(pages.iter().map(|(_, is_last)| *is_last).collect::<Vec<_>>(), [false, false, true]);
        let (last, counts) = (&pages[2].0, &report.totals.all);
        assert_eq!(of(last, "hammer_offered_total", &[("kind", "operation")]), Some(counts.offered as f64));
        assert_eq!(
            of(last, "hammer_completed_total", &[("kind", "operation")]),
            Some(counts.completed as f64)
        );
        assert_eq!(
            of(last, "hammer_response_time_seconds_count", &[("series", "hot"), ("phase", "measurement")]),
            Some(40.0)
        );
        let below = |bound: &str| {
            of(
                last,
                "hammer_response_time_seconds_bucket",
                &[("series", "hot"), ("phase", "measurement"), ("le", bound)],
            )
        };
        assert_eq!((below("0.001"), below("+Inf")), (Some(1.0), Some(40.0)));
        assert_eq!(of(last, "hammer_run_phase", &[("phase", "ended")]), Some(1.0));
        assert_eq!(of(last, "hammer_exit_code", &[]), Some(f64::from(report.verdict.exit_code)));
        assert!(page(&report).contains("hammer_offered_total{workload=\"get\",series=\"hot\",kind=\"operation\",phase=\"measurement\"} 40\n"));
    }

    #[test]
    fn a_kind_of_finding_has_one_sample_wherever_its_findings_stand() {
        let names = ["late", "behind", "late"].map(str::to_owned);
        let figures = PageFigures { findings: names.into(), ..PageFigures::default() };
        let text = figures.metrics(MetricFamilies::default()).text();
        let samples: Vec<&str> =
            text.lines().filter(|line| line.starts_with("hammer_health_findings{")).collect();
        assert_eq!(
            samples,
            [r#"hammer_health_findings{kind="behind"} 1"#, r#"hammer_health_findings{kind="late"} 2"#]
        );
    }
}
