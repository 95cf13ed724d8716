//! A workload as the plan names it, and as it was steered since.

use hammer_measure::Command;
use hammer_measure::event::CommandRefusal;

use crate::tui::spec::{PanelSide, WorkloadSpec};

/// A workload and its load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SteeredWorkload {
    /// Its name in the plan.
    pub(crate) name: String,
    /// Where it stands in the panel.
    pub(in crate::tui) side: PanelSide,
    /// Its planned rate, arrivals a second, where that is one number.
    pub(crate) rate: Option<f64>,
    /// The limit of operations in flight; in a closed loop its users.
    pub(crate) in_flight: usize,
    /// Steps of the keys away from the limit that was last set in another way, and that limit.
    limit_steps: (i32, usize),
    /// The place of its protocol among the pages, where that has one.
    pub(in crate::tui) page: Option<usize>,
    /// The limit of its plan: the users of a closed loop, who are all that there are.
    pub(crate) planned_in_flight: usize,
    /// Whether its load waits for answers.
    pub(crate) closed_loop: bool,
    /// The multiple of the planned rate.
    pub(crate) factor: f64,
}

/// Takes over what a command changed of these workloads, and of whether arrivals are suspended, whoever gave it and whoever refused it.
pub(crate) fn steered(
    workloads: &mut [SteeredWorkload],
    paused: &mut bool,
    command: &Command,
    refused: &[CommandRefusal],
) {
    let did = |name: &str| refused.iter().all(|refusal| refusal.workload != name);
    match command {
        Command::Pause | Command::Resume => {
            if workloads.iter().any(|workload| did(&workload.name)) {
                *paused = matches!(command, Command::Pause);
            }
        }
        Command::Rate { workload: of, .. } | Command::InFlight { workload: of, .. } => {
            let asked = |name: &String| of.as_ref().is_none_or(|of| of == name) && did(name);
            workloads
                .iter_mut()
                .filter(|workload| asked(&workload.name))
                .for_each(|workload| workload.take(command));
        }
        Command::Stop { .. } | Command::Mark { .. } => {}
    }
}

/// Which way a key leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui) enum KeyDirection {
    Up,
    Down,
}

impl SteeredWorkload {
    /// It as it was planned.
    pub(crate) fn planned(spec: WorkloadSpec) -> Self {
        let WorkloadSpec { name, side, rate, in_flight, closed_loop, page } = spec;
        let planned_in_flight = in_flight;
        let limit_steps = (0, in_flight);
        Self { name, side, rate, in_flight, limit_steps, page, planned_in_flight, closed_loop, factor: 1.0 }
    }

    /// The rate that it is to offer now, where that is one number.
    pub(crate) fn current_rate(&self) -> Option<f64> {
        self.rate.map(|rate| rate * self.factor)
    }

    /// Takes over what a command that it carried out has changed.
    const fn take(&mut self, command: &Command) {
        match command {
            Command::Rate { factor, .. } => self.factor = *factor,
            Command::InFlight { limit, .. } if *limit != self.in_flight => {
                self.in_flight = *limit;
                self.limit_steps = (0, *limit);
            }
            Command::InFlight { .. }
            | Command::Pause
            | Command::Resume
            | Command::Stop { .. }
            | Command::Mark { .. } => {}
        }
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

    /// A tenth more or less, one at least, so that one way undoes the other; `None` where it goes no further.
    pub(in crate::tui) fn change_in_flight(&mut self, direction: KeyDirection) -> Option<Command> {
        let most = if self.closed_loop { self.planned_in_flight } else { usize::MAX };
        let (steps, from) = self.limit_steps;
        let steps = match direction {
            KeyDirection::Up => steps + 1,
            KeyDirection::Down => steps - 1,
        };
        let limit = stepped(from, steps).min(most);
        if limit == self.in_flight {
            return None;
        }
        self.limit_steps = (steps, from);
        self.in_flight = limit;
        Some(Command::InFlight { workload: Some(self.name.clone()), limit })
    }
}

/// A limit so many steps away: counted from where they started, so that each way back is the way there.
fn stepped(from: usize, steps: i32) -> usize {
    let by = |limit: usize| (limit / 10).max(1);
    (0..steps.unsigned_abs()).fold(from, |limit, _| match steps > 0 {
        true => limit.saturating_add(by(limit)),
        false => limit.saturating_sub(by(limit)).max(1),
    })
}

const RATE_STEP: f64 = 1.1;
/// Multiples of a planned rate that somebody can ask for.
pub(crate) const FACTORS: std::ops::RangeInclusive<f64> = 0.001..=1_000.0;
