//! Refusals above a rate.

use hammer_values::{Rate, Status};
use serde::{Deserialize, Serialize};

/// Requests above a rate are refused: over REST with a status, over gRPC with the code that says the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overload {
    /// So many requests are served, evenly over time but for a tenth of a second's at once.
    pub rate: Rate,
    /// Status of the others.
    #[serde(default = "Overload::gateway_timeout")]
    pub status: Status<400, 599>,
}

impl Overload {
    /// 504, as a proxy answers in the place of a service that is too slow.
    const fn gateway_timeout() -> Status<400, 599> {
        Status::nearest(504)
    }
}
