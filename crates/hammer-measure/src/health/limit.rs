//! A closed loop that was as fast as the generator.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A series of a closed loop whose generator was full: its users would have done more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The series, as `workload/name`.
    pub series: String,
    /// Operations that ended per second: the target does so many at least.
    pub per_s: f64,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { series, per_s } = self;
        write!(f, "hammer was the limit of {series}: at least {per_s:.0}/s")
    }
}
