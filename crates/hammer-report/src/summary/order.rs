//! In which order the runs of a plan with rounds and a sweep come.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of rounds and combinations of swept values changes from run to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunOrder {
    /// Each combination in all its rounds, then the next one.
    #[default]
    CombinationsFirst,
    /// All combinations, then all again.
    RoundsFirst,
}
