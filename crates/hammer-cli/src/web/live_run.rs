//! A run as its live page knows it.

use std::sync::Arc;

use hammer_core::run::Control;
use hammer_html::{DrawError, LivePage};
use hammer_measure::snapshot::{RunInfo, Snapshot};
use hammer_measure::{Phase, Reporter as _, RunEvent};
use hammer_report::report::PhaseName;
use hammer_report::{Report, ReportBuilder, progress};
use serde::Serialize;
use serde_json::Value;

use crate::tui::spec::DashboardSpec;
use crate::tui::{SteeredWorkload, steered};

/// A run of which the page is from now on.
pub(crate) struct ShownRun<'a> {
    /// Its number among the command's, from 1.
    pub(crate) number: usize,
    /// The plan as its report holds it.
    pub(crate) plan: Value,
    /// Its workloads, as the dashboard shows them.
    pub(crate) shown: DashboardSpec,
    /// The way into it.
    pub(crate) control: &'a Control,
}

/// What was told of a run, and the way into it.
pub(super) struct LiveRun {
    /// Its number among all that were shown, fills as well, from 1.
    pub(super) place: usize,
    number: usize,
    plan: Value,
    builder: ReportBuilder,
    info: Option<Arc<RunInfo>>,
    last: Option<Arc<Snapshot>>,
    phase: Option<Phase>,
    /// Its workloads as they were planned, and as they were steered since.
    pub(super) workloads: Vec<SteeredWorkload>,
    paused: bool,
    /// Gone once the run takes no command any more.
    pub(super) control: Option<Control>,
    /// Once it has ended.
    report: Option<Box<Report>>,
}

/// How a run stands, for a program.
#[derive(Debug, Serialize)]
pub(super) struct RunStatus {
    /// `hammer.status/1`.
    schema: &'static str,
    /// Which of the command's runs, from 1.
    run: usize,
    /// The plan's name; `null` where it has none.
    name: Option<String>,
    /// `starting`, `warm_up`, `measurement`, `drain` or `ended`.
    phase: &'static str,
    /// The end of the last interval, nanoseconds since the run's epoch; 0 before the first.
    at_ns: u64,
    /// Whether arrivals are suspended by a command.
    paused: bool,
    /// As they are steered now.
    workloads: Vec<WorkloadStatus>,
    /// How the last interval went, in a line.
    line: String,
    /// Of a run that has ended; else `null`.
    exit_code: Option<u8>,
}

/// A workload as it is steered now.
#[derive(Debug, Serialize)]
struct WorkloadStatus {
    name: String,
    closed_loop: bool,
    /// What it is to offer, arrivals a second; `null` where its plan has no constant rate.
    rate_per_s: Option<f64>,
    /// The multiple of the plan's rate.
    factor: f64,
    /// The limit of operations in flight; in a closed loop its users.
    in_flight: usize,
}

impl LiveRun {
    pub(super) fn new(run: ShownRun<'_>) -> Self {
        let workloads = run.shown.workloads.into_iter().map(SteeredWorkload::planned);
        Self {
            place: 1,
            number: run.number,
            plan: run.plan,
            builder: ReportBuilder::new(),
            info: None,
            last: None,
            phase: None,
            workloads: workloads.collect(),
            paused: false,
            control: Some(run.control.clone()),
            report: None,
        }
    }

    /// Takes what happened.
    pub(super) fn take(&mut self, event: &RunEvent) {
        self.builder.event(event);
        match event {
            RunEvent::Started(info) => self.info = Some(Arc::clone(info)),
            RunEvent::Phase { phase, .. } => self.phase = Some(*phase),
            RunEvent::Interval(snapshot) => self.last = Some(Arc::clone(snapshot)),
            RunEvent::Command { command, refused, .. } => {
                steered(&mut self.workloads, &mut self.paused, command, refused);
            }
            RunEvent::Finished(_) => self.control = None,
            _ => {}
        }
    }

    pub(super) fn conclude(&mut self, report: &Report) {
        self.report = Some(Box::new(report.clone()));
    }

    /// Its page as it is now.
    ///
    /// # Errors
    /// Where a chart cannot be drawn.
    pub(super) fn page(&self) -> Result<LivePage, DrawError> {
        if let Some(report) = &self.report {
            return LivePage::ended(self.place, report);
        }
        match self.builder.so_far(self.plan.clone()) {
            Some(report) => LivePage::running(self.place, &report, &self.line()),
            None => Ok(LivePage::starting(self.place, self.name())),
        }
    }

    /// How it stands.
    pub(super) fn status(&self) -> RunStatus {
        let workloads = self.workloads.iter().map(|workload| WorkloadStatus {
            name: workload.name.clone(),
            closed_loop: workload.closed_loop,
            rate_per_s: workload.current_rate(),
            factor: workload.factor,
            in_flight: workload.in_flight,
        });
        RunStatus {
            schema: "hammer.status/1",
            run: self.number,
            name: self.name().map(str::to_owned),
            phase: self.phase_name(),
            at_ns: self.last.as_ref().map_or(0, |last| last.at.0),
            paused: self.paused,
            workloads: workloads.collect(),
            line: self.line(),
            exit_code: self.report.as_ref().map(|report| report.verdict.exit_code),
        }
    }

    fn phase_name(&self) -> &'static str {
        match self.phase.map(PhaseName::from) {
            _ if self.report.is_some() => "ended",
            None => "starting",
            Some(PhaseName::WarmUp) => "warm_up",
            Some(PhaseName::Measurement) => "measurement",
            Some(PhaseName::Drain) => "drain",
        }
    }

    fn line(&self) -> String {
        let known = self.last.as_ref().zip(self.info.as_ref());
        known.map_or_else(String::new, |(last, info)| progress::line(last, info).trim().to_owned())
    }

    fn name(&self) -> Option<&str> {
        self.plan.get("name")?.as_str().filter(|name| !name.is_empty())
    }
}
