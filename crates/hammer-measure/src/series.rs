//! Series: the named lines of a report, and the phases that their operations belong to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What one line of a report is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesInfo {
    /// The workload that it belongs to.
    pub workload: String,
    /// Its name within the workload (`add-chain`, `get`).
    pub name: String,
    /// Whether it is a whole operation (`true`), or one step within it (`false`), which the identity of fates leaves out.
    pub operation: bool,
    /// Whether its load waits for answers (closed loop), so that waiting is not in its figures.
    pub closed_loop: bool,
    /// Whether what it sends is wrong on purpose, so that a refusal is an answer as good as acceptance.
    #[serde(default)]
    pub refusals_meant: bool,
}

impl SeriesInfo {
    /// `workload/name`, as thresholds and tables say it.
    pub fn path(&self) -> String {
        format!("{}/{}", self.workload, self.name)
    }
}

/// The phase of an operation is that of its intended start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Load whose figures do not count, but whose errors stay visible.
    WarmUp,
    /// What the report is about.
    Measurement,
    /// No new arrivals: what is under way may end until a deadline.
    Drain,
}

impl Phase {
    /// The phases in which operations can be intended.
    pub const WITH_ARRIVALS: [Self; 2] = [Self::WarmUp, Self::Measurement];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm_up",
            Self::Measurement => "measurement",
            Self::Drain => "drain",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests;
