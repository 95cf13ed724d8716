//! A workload as the plan names it, and as it was steered since.

use hammer_measure::Command;

use crate::tui::spec::{PanelSide, WorkloadSpec};

/// A workload and its load.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::tui) struct SteeredWorkload {
    /// Its name in the plan.
    pub(in crate::tui) name: String,
    /// Where it stands in the panel.
    pub(in crate::tui) side: PanelSide,
    /// Its planned rate, arrivals a second, where that is one number.
    pub(in crate::tui) rate: Option<f64>,
    /// The limit of operations in flight; in a closed loop its users.
    pub(in crate::tui) in_flight: usize,
    /// Whether its load waits for answers.
    pub(in crate::tui) closed_loop: bool,
    /// The multiple of the planned rate.
    pub(in crate::tui) factor: f64,
}

/// Which way a key leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui) enum KeyDirection {
    Up,
    Down,
}

impl SteeredWorkload {
    /// It as it was planned.
    pub(in crate::tui) fn planned(spec: WorkloadSpec) -> Self {
        let WorkloadSpec { name, side, rate, in_flight, closed_loop } = spec;
        Self { name, side, rate, in_flight, closed_loop, factor: 1.0 }
    }

    /// The rate that it is to offer now, where that is one number.
    pub(in crate::tui) fn current_rate(&self) -> Option<f64> {
        self.rate.map(|rate| rate * self.factor)
    }

    /// A tenth more, or back; `None` where a key changes nothing: a closed loop, or an end of the range.
    pub(in crate::tui) fn change_rate(&mut self, direction: KeyDirection) -> Option<Command> {
        let factor = match direction {
            KeyDirection::Up => self.factor * RATE_STEP,
            KeyDirection::Down => self.factor / RATE_STEP,
        };
        // Rounded, so that as many steps back as forth end at the plan's rate.
        let factor = (factor * 1e9).round() / 1e9;
        if self.closed_loop || !FACTORS.contains(&factor) {
            return None;
        }
        self.factor = factor;
        Some(Command::Rate { workload: Some(self.name.clone()), factor })
    }

    /// A tenth more or less, one at least; `None` when it is one already.
    pub(in crate::tui) fn change_in_flight(&mut self, direction: KeyDirection) -> Option<Command> {
        let by = (self.in_flight / 10).max(1);
        let limit = match direction {
            KeyDirection::Up => self.in_flight.saturating_add(by),
            KeyDirection::Down => self.in_flight.saturating_sub(by).max(1),
        };
        if limit == self.in_flight {
            return None;
        }
        self.in_flight = limit;
        Some(Command::InFlight { workload: Some(self.name.clone()), limit })
    }
}

const RATE_STEP: f64 = 1.1;
const FACTORS: std::ops::RangeInclusive<f64> = 0.001..=1_000.0;
