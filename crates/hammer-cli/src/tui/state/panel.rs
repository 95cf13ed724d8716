//! The panel of TesseraCT's hammer: its figures, by its meanings.

use hammer_measure::Nanos;

use super::State;
use super::history::Spread;
use super::workload::{Kind, Workload};

/// The figures of the panel.
#[derive(Debug)]
pub(in crate::tui) struct Panel {
    /// Reads, when the plan has any.
    pub(in crate::tui) read: Option<Throttle>,
    /// Writes, when the plan has any.
    pub(in crate::tui) write: Option<Throttle>,
    /// The size of the tree, once seen.
    pub(in crate::tui) tree_size: Option<f64>,
    /// Its growth a second over the last 30 s or what there is of them, and over how long that was.
    pub(in crate::tui) growth: Option<(f64, Nanos)>,
    /// Service time of a write over the last 30 s.
    pub(in crate::tui) time_in_queue: Option<Spread>,
    /// From sent to the first tree that holds the leaf: least, mean and greatest.
    pub(in crate::tui) time_to_integrate: Option<[Nanos; 3]>,
    /// The same from the instant that the plan named.
    pub(in crate::tui) from_intended: Option<[Nanos; 3]>,
}

/// One side's load.
#[derive(Debug, PartialEq)]
pub(in crate::tui) struct Throttle {
    /// Its limit of operations in flight.
    pub(in crate::tui) workers: usize,
    /// The rate that it is to offer; where the plan names no single one, the rate of the last second.
    pub(in crate::tui) current_max: f64,
    /// Arrivals of the last second that were shed or not yet started.
    pub(in crate::tui) oversupply: u64,
}

impl Panel {
    /// The panel of the state; `None` when nothing in the plan reads or writes a log.
    pub(in crate::tui) fn of(state: &State) -> Option<Self> {
        let (read, write) = (throttle(state, Kind::Read), throttle(state, Kind::Write));
        if read.is_none() && write.is_none() {
            return None;
        }
        Some(Self {
            read,
            write,
            tree_size: state.history.recent().rev().find_map(|point| point.tree_size),
            growth: growth(state),
            time_in_queue: time_in_queue(state),
            time_to_integrate: observed(state, FROM_SENT),
            from_intended: observed(state, FROM_INTENDED),
        })
    }
}

fn throttle(state: &State, kind: Kind) -> Option<Throttle> {
    let workloads = || state.workloads.iter().filter(move |workload| workload.kind == kind);
    workloads().next()?;
    let places = state.operations(Some(kind));
    let last = state.history.recent().next_back();
    let tallies = || places.iter().filter_map(|place| last?.series.get(*place));
    let offered: u64 = tallies().map(|tally| tally.offered).sum();
    let seconds = last.map_or(1.0, |point| point.span.as_secs_f64());
    let planned: Option<f64> = workloads().map(Workload::current_rate).sum();
    Some(Throttle {
        workers: workloads().map(|workload| workload.in_flight).sum(),
        current_max: planned.unwrap_or(offered as f64 / seconds),
        oversupply: tallies().map(super::history::Tally::oversupply).sum(),
    })
}

fn growth(state: &State) -> Option<(f64, Nanos)> {
    let [(begin, first), (end, last)] = state.history.tree_sizes()?;
    let over = end.since(begin);
    (over > Nanos::ZERO).then(|| ((last - first) / over.as_secs_f64(), over))
}

fn time_in_queue(state: &State) -> Option<Spread> {
    let places = state.operations(Some(Kind::Write));
    let mut all = Spread::default();
    for point in state.history.recent() {
        for tally in places.iter().filter_map(|place| point.series.get(*place)) {
            all.merge(&tally.service_time);
        }
    }
    (all.count > 0).then_some(all)
}

/// What observers tell under `names`, seconds: least, mean and greatest.
fn observed(state: &State, names: [&str; 3]) -> Option<[Nanos; 3]> {
    let [min, avg, max] = names.map(|name| state.observed(name).map(Nanos::from_secs_f64));
    Some([min?, avg?, max?])
}

/// The names under which observers tell the time from sent to the first tree that holds the leaf, over the last 30 s.
const FROM_SENT: [&str; 3] = ["time_to_integrate_min", "time_to_integrate_avg", "time_to_integrate_max"];
/// The same from the intended start.
const FROM_INTENDED: [&str; 3] = [
    "time_to_integrate_from_intended_min",
    "time_to_integrate_from_intended_avg",
    "time_to_integrate_from_intended_max",
];
