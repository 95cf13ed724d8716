//! Targets that can do so much at once.

use hammer_values::Count;
use serde::{Deserialize, Serialize};

use super::latency::Latency;

/// Each request occupies one of so many workers for a while; one that finds none free waits for its turn, however long. So the target has a
/// rate beyond which it only gets slower: that many, divided by the time that each takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workers {
    /// How many there are.
    pub count: Count,
    /// How long a request occupies one.
    pub latency: Latency,
}
