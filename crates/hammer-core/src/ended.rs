//! How what was carried out ended.

use hammer_measure::{Detail, Outcome};

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The answer as said.
    pub outcome: Outcome,
    /// The cause behind it.
    pub detail: Detail,
}

impl Ended {
    /// Accepted, by that status.
    pub const fn accepted(status: u16) -> Self {
        Self { outcome: Outcome::Accepted, detail: Detail::Status(status) }
    }

    /// What an HTTP status says.
    pub const fn of_status(status: u16) -> Self {
        Self { outcome: Outcome::of_status(status), detail: Detail::Status(status) }
    }

    /// A failure of that name.
    pub const fn failed(outcome: Outcome, failure: &'static str) -> Self {
        Self { outcome, detail: Detail::Failure(failure) }
    }
}
