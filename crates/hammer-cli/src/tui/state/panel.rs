//! The figures of the panel, whatever its words.

use hammer_measure::{Nanos, Phase};

use super::DashboardState;
use super::history::Spread;
use super::workload::SteeredWorkload;
use crate::tui::spec::{PanelSide, PanelSpec};

/// The figures of the panel.
#[derive(Debug)]
pub(in crate::tui) struct PanelFigures {
    /// Its words.
    pub(in crate::tui) spec: PanelSpec,
    /// Reads, when the plan has any.
    pub(in crate::tui) read: Option<Throttle>,
    /// Writes, when the plan has any.
    pub(in crate::tui) write: Option<Throttle>,
    /// The size, once seen.
    pub(in crate::tui) size: Option<f64>,
    /// Its growth a second over the last 30 s or what there is of them, and over how long that was.
    pub(in crate::tui) growth: Option<(f64, Nanos)>,
    /// Service time of a write over the last 30 s.
    pub(in crate::tui) service_time: Option<Spread>,
    /// The times that observers tell: least, mean and greatest.
    pub(in crate::tui) times: Option<[Nanos; 3]>,
    /// The same from the instant that the plan named.
    pub(in crate::tui) from_intended: Option<[Nanos; 3]>,
}

/// One side's load.
#[derive(Debug, PartialEq)]
pub(in crate::tui) struct Throttle {
    /// Its limit of operations in flight.
    pub(in crate::tui) workers: usize,
    /// The rate that it is to offer; where the plan names no single one, the rate of the last second. `None` in drain, which offers nothing.
    pub(in crate::tui) current_max: Option<f64>,
    /// Arrivals of the last second that were shed or not yet started.
    pub(in crate::tui) oversupply: u64,
}

impl PanelFigures {
    /// The figures so far; `None` where there is no panel.
    pub(in crate::tui) fn of(state: &DashboardState) -> Option<Self> {
        let spec = state.panel?;
        Some(Self {
            spec,
            read: throttle(state, PanelSide::Reads),
            write: throttle(state, PanelSide::Writes),
            size: state.history.recent().rev().find_map(|point| point.size).map(|(_, size)| size),
            growth: growth(state),
            service_time: service_time(state),
            times: spec.times.and_then(|times| observed(state, times.observations)),
            from_intended: spec.times.and_then(|times| observed(state, times.from_intended?)),
        })
    }
}

fn throttle(state: &DashboardState, side: PanelSide) -> Option<Throttle> {
    let workloads = || state.workloads.iter().filter(move |workload| state.has_on(workload, side));
    workloads().next()?;
    // Of one whose operations stand on both sides, the plan names no rate of either.
    let is_mixed = |workload: &SteeredWorkload| {
        [PanelSide::Reads, PanelSide::Writes].iter().all(|side| state.has_on(workload, *side))
    };
    let places = state.operations(Some(side));
    let last = state.history.recent().next_back();
    let tallies = || places.iter().filter_map(|place| last?.series.get(*place));
    let offered: u64 = tallies().map(|tally| tally.offered).sum();
    let seconds = last.map_or(1.0, |point| point.span.as_secs_f64());
    let current_rate = |workload: &SteeredWorkload| workload.current_rate().filter(|_| !is_mixed(workload));
    let planned: Option<f64> = workloads().map(current_rate).sum();
    let is_offering = state.phase() != Some(Phase::Drain);
    Some(Throttle {
        workers: workloads().map(|workload| workload.in_flight).sum(),
        current_max: is_offering.then(|| planned.unwrap_or(offered as f64 / seconds)),
        oversupply: tallies().map(super::history::Tally::oversupply).sum(),
    })
}

fn growth(state: &DashboardState) -> Option<(f64, Nanos)> {
    let [(start, first), (end, last)] = state.history.sizes()?;
    let over = end.since(start);
    (over > Nanos::ZERO).then(|| ((last - first) / over.as_secs_f64(), over))
}

fn service_time(state: &DashboardState) -> Option<Spread> {
    let places = state.operations(Some(PanelSide::Writes));
    let mut all = Spread::default();
    for point in state.history.recent() {
        for tally in places.iter().filter_map(|place| point.series.get(*place)) {
            all.merge(&tally.service_time);
        }
    }
    (all.count > 0).then_some(all)
}

/// What observers tell under `names`, seconds: least, mean and greatest.
fn observed(state: &DashboardState, names: [&str; 3]) -> Option<[Nanos; 3]> {
    let [min, avg, max] = names.map(|name| state.observed(name).map(Nanos::from_secs_f64));
    Some([min?, avg?, max?])
}
