//! What a run says of itself on a page of metrics in Prometheus's text format, while it lasts and once it has ended: the same counts as
//! the report's.

mod own_page;
mod phase_metrics;

use std::sync::Arc;

use hammer_measure::snapshot::{RunInfo, Snapshot};
use hammer_measure::{Ledger, Phase, Reporter, RunEvent, SeriesInfo};
use hammer_pages::exposition::{CPU, MEMORY, WrittenPage};

use self::own_page::OwnPage;
use self::phase_metrics::{PhaseMetrics, RESPONSE};
use crate::report::{Finding, PromiseCounts, Report, SeriesKind};

/// Who is given each page as it is made.
pub trait MetricsSink {
    /// Takes the page in place of the one before; `is_last` where none follows of the run.
    fn page(&self, text: String, is_last: bool);
}

/// Makes a page of each interval of a run, and one of its report.
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
    run: Option<String>,
    series: Vec<SeriesMetrics>,
    promises: PromiseCounts,
    /// By workload and kind; known once the run has ended.
    kinds: Vec<(String, String, PromiseCounts)>,
    observations: Vec<(String, f64)>,
    /// Health's findings, by their names.
    findings: Vec<String>,
    phase: &'static str,
    seconds: f64,
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

    /// The last page, of the run's report.
    pub fn conclude(&self, report: &Report) {
        let figures = PageFigures { run: self.run.clone(), ..PageFigures::of(report) };
        self.sink.page(figures.text(), true);
    }
}

impl Reporter for RunMetrics {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => self.info = Some(Arc::clone(info)),
            RunEvent::Interval(snapshot) => {
                let Some(info) = &self.info else { return };
                self.stood_s += snapshot.stood.as_secs_f64();
                let (run, stood_s) = (self.run.clone(), self.stood_s);
                let figures = PageFigures { run, stood_s, ..PageFigures::while_running(info, snapshot) };
                self.sink.page(figures.text(), false);
            }
            _ => {}
        }
    }
}

/// The page of a run that has ended.
pub fn page(report: &Report) -> String {
    PageFigures::of(report).text()
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
            seconds: snapshot.at.as_secs_f64(),
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
            run: None,
            series: series.collect(),
            promises: report.promises.all,
            kinds: kinds.map(|of| (of.workload.clone(), of.kind.clone(), of.promises)).collect(),
            observations: report.observations.iter().map(last).collect(),
            findings: report.health.findings.iter().map(name_of).collect(),
            phase: ENDED,
            seconds: report.phases.last().map_or(0.0, |span| span.end_ns as f64 / 1e9),
            stood_s: report.intervals.iter().map(|interval| interval.stood_ns as f64 / 1e9).sum(),
            cpu_s: report.resources.cpu_user_s + report.resources.cpu_system_s,
            memory: report.resources.rss_bytes,
            descriptors: report.resources.descriptors,
            exit_code: Some(report.verdict.exit_code),
        }
    }

    fn text(&self) -> String {
        let mut page = OwnPage { page: WrittenPage::default(), run: self.run.as_deref() };
        self.write_series(&mut page);
        self.write_promises(&mut page);
        page.family(
            "hammer_observation",
            "gauge",
            "What observers saw last, by name: the size of a tree, how far behind something is.",
        );
        for (name, value) in self.observations.iter().filter(|(_, value)| value.is_finite()) {
            page.sample("hammer_observation", &[("name", name)], *value);
        }
        page.family(
            "hammer_healthy",
            "gauge",
            "Whether the generator kept its plan, so that the figures can be believed.",
        );
        page.sample("hammer_healthy", &[], f64::from(u8::from(self.findings.is_empty())));
        page.family("hammer_health_findings", "gauge", "What is said against the generator, by kind.");
        let mut kinds: Vec<&String> = self.findings.iter().collect();
        // A page has one sample of the same labels, and findings of a kind need not stand together.
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let count = self.findings.iter().filter(|other| *other == kind).count();
            page.sample("hammer_health_findings", &[("kind", kind)], count as f64);
        }
        page.family(
            "hammer_standstill_seconds_total",
            "counter",
            "Seconds for which the generator stood still.",
        );
        page.sample("hammer_standstill_seconds_total", &[], self.stood_s);
        page.family(
            "hammer_run_phase",
            "gauge",
            "1 for the phase that the run is in: warm_up, measurement, drain, ended.",
        );
        page.sample("hammer_run_phase", &[("phase", self.phase)], 1.0);
        page.family("hammer_run_seconds", "gauge", "Seconds since the run's start.");
        page.sample("hammer_run_seconds", &[], self.seconds);
        if let Some(code) = self.exit_code {
            page.family("hammer_exit_code", "gauge", "The exit code of the run, which has ended.");
            page.sample("hammer_exit_code", &[], f64::from(code));
        }
        page.family(CPU, "counter", "CPU seconds of the generator, user and system.");
        page.sample(CPU, &[], self.cpu_s);
        page.family(MEMORY, "gauge", "Resident memory of the generator, bytes.");
        page.sample(MEMORY, &[], self.memory as f64);
        page.family("process_open_fds", "gauge", "Open descriptors of the generator.");
        page.sample("process_open_fds", &[], self.descriptors as f64);
        page.page.into_text()
    }

    fn write_series(&self, page: &mut OwnPage<'_>) {
        type Count = fn(&PhaseMetrics) -> u64;
        let counts: [(&str, &str, Count); 3] = [
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
            page.family(name, "counter", help);
            self.each(|series, labels, phase| page.sample(name, &series.labels(labels), count(phase) as f64));
        }
        page.family("hammer_ended_total", "counter", "What became of those offered, by fate.");
        self.each(|series, labels, phase| {
            for (fate, count) in &phase.fates {
                let [workload, name, kind, phase] = series.labels(labels);
                page.sample(
                    "hammer_ended_total",
                    &[workload, name, kind, phase, ("fate", fate)],
                    *count as f64,
                );
            }
        });
        page.family(
            "hammer_bytes_total",
            "counter",
            "Bytes handed to connections (out) and read from them (in).",
        );
        self.each(|series, labels, phase| {
            for (direction, bytes) in ["out", "in"].into_iter().zip(phase.bytes) {
                let [workload, name, kind, phase] = series.labels(labels);
                page.sample(
                    "hammer_bytes_total",
                    &[workload, name, kind, phase, ("direction", direction)],
                    bytes as f64,
                );
            }
        });
        page.family(
            RESPONSE,
            "histogram",
            "Seconds from the instant that the plan named to the end of the answer, of what ended.",
        );
        self.each(|series, labels, phase| phase.write_response(series.labels(labels), page));
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
            page.family(name, "gauge", help);
            self.each(|series, labels, phase| {
                lag(phase).into_iter().for_each(|lag| page.sample(name, &series.labels(labels), lag));
            });
        }
        for (name, help, open) in [
            ("hammer_backlog", "Waiting for a slot.", (|of| of.backlog) as fn(&SeriesMetrics) -> i64),
            ("hammer_in_flight", "Under way.", |of| of.in_flight),
        ] {
            page.family(name, "gauge", help);
            for series in self.series.iter().filter(|series| series.kind == OPERATION) {
                let [workload, of, _, _] = series.labels("");
                page.sample(name, &[workload, of], open(series) as f64);
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

    fn write_promises(&self, page: &mut OwnPage<'_>) {
        page.family(
            "hammer_promises",
            "gauge",
            "Promises of servers so far, by what became of them; those made are all.",
        );
        for (state, count) in states(&self.promises) {
            page.sample("hammer_promises", &[("state", state)], count as f64);
        }
        page.family(
            "hammer_promises_by_kind",
            "gauge",
            "The same by workload and kind, once the run has ended.",
        );
        for (workload, kind, promises) in &self.kinds {
            for (state, count) in states(promises) {
                let labels = [("workload", workload.as_str()), ("kind", kind), ("state", state)];
                page.sample("hammer_promises_by_kind", &labels, count as f64);
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

    fn labels<'a>(&'a self, phase: &'a str) -> [(&'a str, &'a str); 4] {
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
        fn page(&self, text: String, is_last: bool) {
            self.0.lock().unwrap().push((text, is_last));
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
        let text = PageFigures { findings: names.into(), ..PageFigures::default() }.text();
        let samples: Vec<&str> =
            text.lines().filter(|line| line.starts_with("hammer_health_findings{")).collect();
        assert_eq!(
            samples,
            [r#"hammer_health_findings{kind="behind"} 1"#, r#"hammer_health_findings{kind="late"} 2"#]
        );
    }
}
