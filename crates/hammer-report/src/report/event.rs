//! What happened in a run besides its load.

use hammer_measure::RunEvent;
use hammer_measure::event::CommandRefusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::finite;
use super::phase::PhaseName;
use super::promises::Breach;

/// Something that happened besides the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A phase started.
    Phase {
        /// When.
        at_ns: u64,
        /// Which.
        phase: PhaseName,
    },
    /// A command was answered. Unless every workload that it asked refused it, the run was touched by hand.
    Command {
        /// When it took effect.
        at_ns: u64,
        /// What it was.
        command: Command,
        /// The workloads that refused it; absent where all did what it asked for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<Refusal>,
    },
    /// A promise was found broken.
    Breach {
        /// When it was found.
        at_ns: u64,
        /// Which, and how.
        breach: Breach,
    },
    /// Something that the reader of the figures should know.
    Note {
        /// When.
        at_ns: u64,
        /// What, as a sentence without its full stop.
        text: String,
    },
}

/// A change to a running run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Command {
    /// Arrivals were suspended.
    Pause,
    /// They were taken up again.
    Resume,
    /// The planned rate was multiplied.
    Rate {
        /// The workload; `null` for all.
        workload: Option<String>,
        /// The multiple of the plan's rate.
        factor: f64,
    },
    /// The in-flight limit was changed.
    InFlight {
        /// The workload; `null` for all.
        workload: Option<String>,
        /// The new limit over all shards.
        limit: u64,
    },
    /// The arrivals were ended.
    Stop {
        /// Why.
        reason: String,
    },
}

/// A workload's refusal of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// The workload.
    pub workload: String,
    /// Why, as a sentence without its full stop.
    pub why: String,
}

impl Event {
    /// The event, or `None` for a start, an interval and an end, which have their own places in a report.
    pub fn of(event: &RunEvent) -> Option<Self> {
        Some(match event {
            RunEvent::Started(_) | RunEvent::Interval(_) | RunEvent::Finished(_) => return None,
            RunEvent::Phase { phase, at } => Self::Phase { at_ns: at.0, phase: (*phase).into() },
            RunEvent::Command { at, command, refused } => Self::Command {
                at_ns: at.0,
                command: command.into(),
                refused: refused.iter().map(Refusal::from).collect(),
            },
            RunEvent::Breach { at, breach } => Self::Breach { at_ns: at.0, breach: breach.into() },
            RunEvent::Note { at, text } => Self::Note { at_ns: at.0, text: text.clone() },
        })
    }

    /// When it happened, nanoseconds since the epoch.
    pub const fn at_ns(&self) -> u64 {
        match self {
            Self::Phase { at_ns, .. }
            | Self::Command { at_ns, .. }
            | Self::Breach { at_ns, .. }
            | Self::Note { at_ns, .. } => *at_ns,
        }
    }
}

impl Command {
    /// The workload that it is for; `None` for all.
    pub fn workload(&self) -> Option<&str> {
        match self {
            Self::Rate { workload, .. } | Self::InFlight { workload, .. } => workload.as_deref(),
            Self::Pause | Self::Resume | Self::Stop { .. } => None,
        }
    }

    /// What was done, in words.
    pub fn words(&self) -> String {
        let of = |workload: &Option<String>| workload.clone().unwrap_or_else(|| "all workloads".to_owned());
        match self {
            Self::Pause => "arrivals paused by hand".to_owned(),
            Self::Resume => "arrivals resumed by hand".to_owned(),
            Self::Rate { workload, factor } => {
                format!("rate of {} set to {factor} times the plan's by hand", of(workload))
            }
            Self::InFlight { workload, limit } => {
                format!("in-flight limit of {} set to {limit} by hand", of(workload))
            }
            Self::Stop { reason } => format!("stopped: {reason}"),
        }
    }
}

impl From<&CommandRefusal> for Refusal {
    fn from(refusal: &CommandRefusal) -> Self {
        Self { workload: refusal.workload.clone(), why: refusal.why.clone() }
    }
}

impl From<&hammer_measure::Command> for Command {
    fn from(command: &hammer_measure::Command) -> Self {
        match command {
            hammer_measure::Command::Pause => Self::Pause,
            hammer_measure::Command::Resume => Self::Resume,
            hammer_measure::Command::Rate { workload, factor } => {
                Self::Rate { workload: workload.clone(), factor: finite(*factor) }
            }
            hammer_measure::Command::InFlight { workload, limit } => {
                Self::InFlight { workload: workload.clone(), limit: *limit as u64 }
            }
            hammer_measure::Command::Stop { reason } => Self::Stop { reason: reason.clone() },
        }
    }
}

#[cfg(test)]
mod tests;
