//! Targets that are killed and started again.

use hammer_values::TimeSpan;
use serde::{Deserialize, Serialize};

/// A target is killed as by SIGKILL: every connection is reset, what was under way is lost, and who dials is refused until it is up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restart {
    /// When, from the start of the target (or the last restart of its faults).
    pub at: TimeSpan,
    /// How long it is down.
    #[serde(default = "Restart::a_second")]
    pub down: TimeSpan,
    /// What becomes of what it holds.
    #[serde(default)]
    pub data: DataKept,
}

/// What becomes of a target's data when it is killed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataKept {
    /// They are there again, as those of a database are.
    #[default]
    Keep,
    /// They are gone, as those of a memory or of a volume that is not there any more.
    Lose,
}

impl Restart {
    const fn a_second() -> TimeSpan {
        TimeSpan::from_secs(1)
    }
}
