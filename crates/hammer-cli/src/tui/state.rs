//! What the dashboard knows: the last snapshot, a bounded history, the loads as they were steered. No I/O, no clock.

use std::sync::Arc;

use hammer_measure::event::Beside;
use hammer_measure::headline::target_of;
use hammer_measure::snapshot::{RunInfo, Snapshot};
use hammer_measure::{Command, CommandId, Nanos, Phase, RunEvent, SeriesInfo};
use hammer_report::StandingSoFar;
use hammer_report::progress::judging;
use hammer_report::report::Event;

use super::spec::{DashboardSpec, PanelSide, PanelSpec, ProtocolPage, RunPlace};

pub(super) mod causes;
pub(super) mod history;
pub(super) mod log;
pub(super) mod panel;
pub(super) mod rated;
#[cfg(test)]
mod tests;
pub(super) mod workload;

use history::History;
use log::{EntryKind, Log};
use rated::RatedInterval;
use workload::{SteeredWorkload, steered};

/// Everything that is drawn.
#[derive(Debug)]
pub(super) struct DashboardState {
    /// The plan's name.
    pub(super) title: String,
    /// Where the load goes.
    pub(super) targets: Vec<String>,
    /// By workload, in the order of the plan.
    pub(super) workloads: Vec<SteeredWorkload>,
    /// The words and observations of the panel, where there is one.
    pub(super) panel: Option<PanelSpec>,
    /// What is shown of each protocol, in its users' words.
    pub(super) pages: Vec<ProtocolPage>,
    /// The run, once it started.
    pub(super) run: Option<Arc<RunInfo>>,
    /// The end of the last interval.
    pub(super) last: Option<Arc<Snapshot>>,
    /// The last interval that was long enough for rates; that one, but where phases meet.
    pub(super) rated: Option<RatedInterval>,
    /// What the report would say if the run had ended with the last interval.
    pub(super) standing: Option<StandingSoFar>,
    /// Thresholds of the plan, judged yet or not.
    pub(super) thresholds: usize,
    /// The planned length of an interval.
    interval: Nanos,
    /// How long drain may take.
    pub(super) drain: Option<Nanos>,
    /// Which of the command's runs it is, where there are several.
    pub(super) place: Option<RunPlace>,
    /// What was before it.
    pub(super) history: History,
    /// Notes, breaches, commands and phases.
    pub(super) log: Log,
    /// The phase, and its start.
    pub(super) phase: Option<(Phase, Nanos)>,
    /// The start of the run's first phase.
    pub(super) start: Option<Nanos>,
    /// What is waited for, once every operation has ended.
    pub(super) judging: Option<String>,
    /// Events that did not reach the dashboard.
    pub(super) dropped: u64,
    /// Whether arrivals are suspended.
    pub(super) paused: bool,
    /// How far the operator has come with the end of the run.
    pub(super) ending: RunEnding,
    /// The last command that a key gave.
    pub(super) asked_last: Option<CommandId>,
    /// What is on the screen.
    pub(super) screen: Screen,
}

/// Which page is shown, and where it was scrolled to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Screen {
    /// The page.
    pub(super) tab: Tab,
    /// The series that is marked on its page.
    pub(super) series: usize,
    /// Entries of the log below the screen.
    pub(super) below: usize,
    /// Lines of a page of the protocol or of help above the screen.
    pub(super) above: usize,
    /// How far the page that is shown can be scrolled at most, as the screen is now.
    pub(super) furthest: usize,
    /// Series: the whole measurement instead of the last interval.
    pub(super) whole: bool,
}

/// How far an operator has come with the end of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunEnding {
    /// It goes on.
    #[default]
    None,
    /// The operator was asked whether it is to end.
    Asked,
    /// Arrivals end, and what is under way drains.
    Draining,
    /// The drain was ended as well: the report comes.
    Reporting,
}

/// A page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tab {
    #[default]
    Overview,
    Series,
    Log,
    /// What is loaded, in its users' words.
    Protocol,
    Help,
}

impl Tab {
    /// All pages, in their order.
    pub(super) const ALL: [Self; 5] = [Self::Overview, Self::Series, Self::Log, Self::Protocol, Self::Help];

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Series => "Series",
            Self::Log => "Log",
            Self::Protocol => "Target",
            Self::Help => "Help",
        }
    }
}

impl DashboardState {
    /// Before the run.
    pub(super) fn new(spec: DashboardSpec) -> Self {
        let DashboardSpec { title, targets, workloads, panel, pages, interval, thresholds, drain, run } =
            spec;
        Self {
            title,
            targets,
            workloads: workloads.into_iter().map(SteeredWorkload::planned).collect(),
            panel,
            pages,
            run: None,
            last: None,
            rated: None,
            standing: None,
            thresholds,
            drain,
            place: run,
            interval,
            history: History::default(),
            log: Log::default(),
            phase: None,
            start: None,
            judging: None,
            dropped: 0,
            paused: false,
            ending: RunEnding::None,
            asked_last: None,
            screen: Screen::default(),
        }
    }

    /// Takes what happened.
    pub(super) fn take(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => self.run = Some(info.clone()),
            RunEvent::Phase { phase, at } => {
                self.phase = Some((*phase, *at));
                self.start.get_or_insert(*at);
                self.say(*at, EntryKind::Phase, format!("{} starts", words(*phase)));
            }
            RunEvent::Interval(snapshot) => self.interval(snapshot),
            RunEvent::Command { at, command: Command::Mark { .. }, .. } => {
                if let Some((_, words)) = Event::of(event).and_then(|event| event.beside_words()) {
                    self.say(*at, EntryKind::Mark, words);
                }
            }
            RunEvent::Command { id, at, command, refused } => {
                // What was asked by key since then stands already as it will be.
                if self.asked_last.is_none_or(|last| *id >= last) {
                    steered(&mut self.workloads, &mut self.paused, command, refused);
                }
                self.say(*at, EntryKind::Command, log::answered(command, refused));
            }
            RunEvent::Breach { at, breach } => {
                let text = format!("{}: {}: {}", breach.subject(), breach.kind, breach.detail);
                self.say(*at, EntryKind::Broken, text);
            }
            RunEvent::Note { at, text } => self.say(*at, EntryKind::Note, text.clone()),
            RunEvent::Beside { at, what } => {
                let kind = match what {
                    Beside::HookStarted { .. } | Beside::HookEnded { .. } => EntryKind::Hook,
                    Beside::RecordHigh { .. } => EntryKind::Note,
                    Beside::Mark { .. } | Beside::MarksLeftOut { .. } => EntryKind::Mark,
                    Beside::NotReady { .. }
                    | Beside::ReadyAgain { .. }
                    | Beside::PeerJoined { .. }
                    | Beside::PeerSilent { .. }
                    | Beside::PeerBack { .. } => EntryKind::Server,
                };
                if let Some((_, words)) = Event::of(event).and_then(|event| event.beside_words()) {
                    self.say(*at, kind, words);
                }
            }
            RunEvent::Judging { at, awaited, until } => self.judging = Some(judging(*at, *awaited, *until)),
            RunEvent::Finished(_) => {}
        }
    }

    fn interval(&mut self, snapshot: &Arc<Snapshot>) {
        // The first interval's own length counts from the epoch, and connecting took some of it.
        let start = self.start.unwrap_or(Nanos::ZERO);
        let span =
            if self.last.is_none() { snapshot.at.since(start).min(snapshot.span) } else { snapshot.span };
        let size = self.panel.and_then(|panel| panel.size);
        self.history.take(snapshot, span, size.map(|size| size.observation));
        let rated = RatedInterval::of(snapshot, (span, self.interval), self.last.as_deref());
        self.rated = rated.or_else(|| self.rated.take());
        self.standing = self.run.as_ref().map(|run| StandingSoFar::of(run, snapshot));
        let was_healthy = self.last.replace(snapshot.clone()).is_some_and(|last| last.health.is_healthy());
        if was_healthy && !snapshot.health.is_healthy() {
            self.say(snapshot.at, EntryKind::Note, format!("UNHEALTHY: {}", snapshot.health));
        }
    }

    /// Adds a line to the log; a log that was scrolled up stays where it is.
    pub(super) fn say(&mut self, at: Nanos, kind: EntryKind, text: String) {
        self.log.push(at, kind, text);
        if self.screen.below > 0 {
            self.screen.below = (self.screen.below + 1).min(self.log.len().saturating_sub(1));
        }
    }

    /// The pages that there are, in their order.
    pub(super) fn tabs(&self) -> impl DoubleEndedIterator<Item = Tab> {
        let is_there = |tab: &Tab| *tab != Tab::Protocol || !self.pages.is_empty();
        Tab::ALL.into_iter().filter(is_there)
    }

    /// What a page is called.
    pub(super) fn name_of(&self, tab: Tab) -> &'static str {
        match (tab, self.pages.as_slice()) {
            (Tab::Protocol, [page]) => page.name,
            (tab, _) => tab.name(),
        }
    }

    /// The instant of the last interval.
    pub(super) fn now(&self) -> Nanos {
        self.last.as_ref().map_or(Nanos::ZERO, |last| last.at)
    }

    /// The phase: that of the last event about it, or of the last interval.
    pub(super) fn phase(&self) -> Option<Phase> {
        let seen = self.last.as_ref().map(|last| last.phase);
        self.phase.map(|(phase, _)| phase).max(seen)
    }

    /// The places of the whole operations of workloads on that side (of all without one), in the order of the series.
    pub(super) fn operations(&self, side: Option<PanelSide>) -> Vec<usize> {
        let Some(run) = &self.run else { return Vec::new() };
        let on_side = |series: &SeriesInfo| side.is_none() || self.side(series) == side;
        let series = run.series.iter().enumerate();
        series.filter(|(_, series)| series.operation && on_side(series)).map(|(place, _)| place).collect()
    }

    /// On which side whole operations of that series stand: on that of their workload, but for reads of one that writes as well.
    fn side(&self, series: &SeriesInfo) -> Option<PanelSide> {
        let workload = self.workloads.iter().find(|workload| workload.name == series.workload)?;
        let reads = self.panel.map_or(&[][..], |panel| panel.read_series);
        // Where a workload has parts, the name of a series starts with that of its part.
        let name = series.name.rsplit('/').next().unwrap_or_default();
        match workload.side {
            PanelSide::Writes if reads.contains(&name) => Some(PanelSide::Reads),
            side => Some(side),
        }
    }

    /// The sides on which operations of that workload stand.
    pub(super) fn has_on(&self, workload: &SteeredWorkload, side: PanelSide) -> bool {
        let its = self.run.iter().flat_map(|run| &run.series);
        let mut its = its.filter(|series| series.operation && series.workload == workload.name);
        workload.side == side || its.any(|series| self.side(series) == Some(side))
    }

    /// Whether there is a workload on that side.
    pub(super) fn has(&self, side: PanelSide) -> bool {
        self.workloads.iter().any(|workload| workload.side == side)
    }

    /// Whether the plan has a warm-up, whose operations are apart from those of measurement.
    pub(super) fn has_warm_up(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.warm_up > Nanos::ZERO)
    }

    /// Whether there is a workload on that side whose rate can be steered: a closed loop has none.
    pub(super) fn has_rate(&self, side: PanelSide) -> bool {
        self.workloads.iter().any(|workload| workload.side == side && !workload.closed_loop)
    }

    /// What the keys of writes apply to: where nothing writes, whatever else the plan sends.
    pub(super) fn written(&self) -> PanelSide {
        if self.has(PanelSide::Writes) || !self.has(PanelSide::Neither) {
            PanelSide::Writes
        } else {
            PanelSide::Neither
        }
    }

    /// What the workloads of a side are called: as the panel says, or plainly where there is none.
    pub(super) fn plural(&self, side: PanelSide) -> &'static str {
        match (side, self.panel) {
            (PanelSide::Reads, panel) => panel.map_or("reads", |panel| panel.reads.plural),
            (PanelSide::Writes, panel) => panel.map_or("writes", |panel| panel.writes.plural),
            (PanelSide::Neither, _) => "operations",
        }
    }

    /// What observers saw last under that name, of each target that is named before it.
    pub(super) fn observed_of_all(&self, name: &str) -> Vec<f64> {
        let observations = self.last.iter().flat_map(|last| &last.observations);
        let of_name = observations.filter(|seen| target_of(&seen.name, name).is_some());
        of_name.map(|seen| seen.value).collect()
    }

    /// What an observer saw last under that name.
    pub(super) fn observed(&self, name: &str) -> Option<f64> {
        let observations = &self.last.as_ref()?.observations;
        observations.iter().find(|observation| observation.name == name).map(|observation| observation.value)
    }
}

/// The phase in a sentence.
pub(super) const fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::WarmUp => "warm-up",
        Phase::Measurement => "measurement",
        Phase::Drain => "drain",
    }
}
