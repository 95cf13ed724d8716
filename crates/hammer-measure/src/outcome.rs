//! How an arrival ended.

use std::fmt;

use serde::{Deserialize, Serialize};

mod names;

/// How an operation that was dispatched ended. The answer as said; what it promised goes to the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The server did what it was asked.
    Accepted,
    /// The server said no: a 4xx other than 429, or what the protocol calls a refusal.
    Refused,
    /// 429 or 503, with or without `Retry-After`.
    Pushback,
    /// Any other 5xx.
    ServerError,
    /// An answer that cannot be understood, whatever its status.
    Malformed,
    /// No answer: refused, reset or closed connection, failed dial, TLS or name look-up.
    Unreachable,
    /// No answer within the operation's deadline.
    TimedOut,
    /// Cut off by the end of drain.
    Abandoned,
}

/// How an arrival ended, those that were never dispatched included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// See [`Outcome::Accepted`].
    Accepted,
    /// See [`Outcome::Refused`].
    Refused,
    /// See [`Outcome::Pushback`].
    Pushback,
    /// See [`Outcome::ServerError`].
    ServerError,
    /// See [`Outcome::Malformed`].
    Malformed,
    /// See [`Outcome::Unreachable`].
    Unreachable,
    /// See [`Outcome::TimedOut`].
    TimedOut,
    /// See [`Outcome::Abandoned`].
    Abandoned,
    /// The backlog was full: the plan's bound met the server's slowness.
    Shed,
    /// It was due and supply had not prepared it: the generator's own fault.
    Starved,
}

/// What lies behind an outcome, for the breakdown by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Nothing more to say.
    #[default]
    None,
    /// An HTTP status.
    Status(u16),
    /// A named failure (`connection refused`).
    Failure(&'static str),
}

impl Detail {
    /// The process has no descriptor left: the generator's own fault, which health looks for.
    pub const DESCRIPTORS_EXHAUSTED: Self = Self::Failure("descriptors exhausted");
    /// The machine has no local port left: likewise.
    pub const PORTS_EXHAUSTED: Self = Self::Failure("local ports exhausted");
    /// A large answer could not be kept, since the folder for temporary files takes no more: likewise.
    pub const FILES_EXHAUSTED: Self = Self::Failure("no room for the answer");
}

impl Fate {
    /// All fates, in the order of the identity in which they are printed.
    pub const ALL: [Self; 10] = [
        Self::Accepted,
        Self::Refused,
        Self::Pushback,
        Self::ServerError,
        Self::Malformed,
        Self::Unreachable,
        Self::TimedOut,
        Self::Abandoned,
        Self::Shed,
        Self::Starved,
    ];

    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Its name in reports and thresholds.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::Pushback => "pushback",
            Self::ServerError => "server_error",
            Self::Malformed => "malformed",
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::Abandoned => "abandoned",
            Self::Shed => "shed",
            Self::Starved => "starved",
        }
    }

    /// The fate of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fate| fate.name() == name)
    }

    /// Whether a server's answer, right or wrong, was received.
    pub const fn answered(self) -> bool {
        matches!(self, Self::Accepted | Self::Refused | Self::Pushback | Self::ServerError | Self::Malformed)
    }

    /// Whether it ended with a response time (an answer, a failure or a timeout); the others count as infinite.
    pub const fn timed(self) -> bool {
        !matches!(self, Self::Abandoned | Self::Shed | Self::Starved)
    }
}

impl Outcome {
    /// The outcome that an HTTP status says: 2xx accepted, 429 and 503 pushback, 5xx server error, all else refused.
    pub const fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Accepted,
            429 | 503 => Self::Pushback,
            500..=599 => Self::ServerError,
            _ => Self::Refused,
        }
    }
}

impl From<Outcome> for Fate {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Accepted => Self::Accepted,
            Outcome::Refused => Self::Refused,
            Outcome::Pushback => Self::Pushback,
            Outcome::ServerError => Self::ServerError,
            Outcome::Malformed => Self::Malformed,
            Outcome::Unreachable => Self::Unreachable,
            Outcome::TimedOut => Self::TimedOut,
            Outcome::Abandoned => Self::Abandoned,
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Status(status) => write!(f, "HTTP {status}"),
            Self::Failure(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests;
