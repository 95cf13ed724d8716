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
    /// What tells it from all others that were shown, fills as well, and from those of other commands at the same address.
    pub(super) identity: String,
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
    report: Option<Arc<Report>>,
    /// Nothing is told any more.
    is_closed: bool,
}

/// What a page is made of.
pub(super) struct PageDraft {
    identity: String,
    of: DraftOf,
}

enum DraftOf {
    Ended(Arc<Report>),
    /// As far as it has come, and how it goes.
    Running(Box<Report>, [String; 2]),
    /// By its name, and how it stands.
    Unmeasured(Option<String>, &'static str),
}

impl PageDraft {
    /// The page; it takes milliseconds, and more of a long run.
    ///
    /// # Errors
    /// Where a chart cannot be drawn.
    pub(super) fn page(self) -> Result<LivePage, DrawError> {
        match self.of {
            DraftOf::Ended(report) => LivePage::ended(&self.identity, &report),
            DraftOf::Running(mut report, lines) => {
                report.add_curves();
                LivePage::running(&self.identity, &report, &lines)
            }
            DraftOf::Unmeasured(name, standing) => {
                Ok(LivePage::unmeasured(&self.identity, name.as_deref(), standing))
            }
        }
    }
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
    /// `starting`, `fill` (ahead of the run), `warm_up`, `measurement`, `drain` or `ended`.
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
            identity: String::new(),
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
            is_closed: false,
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
        self.report = Some(Arc::new(report.clone()));
    }

    pub(super) fn close(&mut self) {
        self.control = None;
        self.is_closed = true;
    }

    /// What its page is made of now.
    pub(super) fn draft(&self) -> PageDraft {
        let of = match (&self.report, self.builder.so_far(self.plan.clone())) {
            (Some(report), _) => DraftOf::Ended(Arc::clone(report)),
            (None, Some(report)) => DraftOf::Running(Box::new(report), [self.line(), self.by_hand()]),
            (None, None) => DraftOf::Unmeasured(self.name().map(str::to_owned), self.standing()),
        };
        PageDraft { identity: self.identity.clone(), of }
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

    /// How a run stands of which no interval has ended.
    fn standing(&self) -> &'static str {
        match self.phase {
            _ if self.is_closed => "it left no report",
            None => "about to start",
            Some(_) => "under way; its first figures come as its first interval ends",
        }
    }

    fn phase_name(&self) -> &'static str {
        let is_fill = self.info.as_ref().is_some_and(|info| info.goal.is_some());
        match self.phase.map(PhaseName::from) {
            _ if self.report.is_some() => "ended",
            Some(_) if is_fill => "fill",
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

    /// What commands have made of the load; empty where it is as planned.
    fn by_hand(&self) -> String {
        let paused = self.paused.then(|| "arrivals are paused".to_owned());
        let steered = self.workloads.iter().filter(|workload| (workload.factor - 1.0).abs() > f64::EPSILON);
        let rates = steered.map(|workload| {
            let factor = (workload.factor * 1e4).round() / 1e4;
            format!("{} goes at {factor} times its planned rate", workload.name)
        });
        let limited =
            self.workloads.iter().filter(|workload| workload.in_flight != workload.planned_in_flight);
        let limits = limited.map(|workload| {
            let of = if workload.closed_loop { "users go on" } else { "in flight at most" };
            format!(
                "{} {of} in {} (planned: {})",
                workload.in_flight, workload.name, workload.planned_in_flight
            )
        });
        let all: Vec<String> = paused.into_iter().chain(rates).chain(limits).collect();
        if all.is_empty() { String::new() } else { format!("By hand: {}.", all.join(", ")) }
    }

    fn name(&self) -> Option<&str> {
        self.plan.get("name")?.as_str().filter(|name| !name.is_empty())
    }
}
