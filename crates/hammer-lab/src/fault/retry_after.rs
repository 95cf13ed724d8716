//! The time after which a client that was refused may ask again.

use hammer_values::{TimeSpan, ValueError};
use serde::{Deserialize, Serialize};

/// The time of a Retry-After header, which has whole seconds (RFC 9110 section 10.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "TimeSpan", into = "TimeSpan")]
pub struct RetryAfter(u32);

impl RetryAfter {
    /// So many seconds.
    #[must_use]
    pub const fn from_secs(seconds: u32) -> Self {
        Self(seconds)
    }

    /// In seconds.
    #[must_use]
    pub const fn seconds(self) -> u32 {
        self.0
    }
}

impl TryFrom<TimeSpan> for RetryAfter {
    type Error = ValueError;

    fn try_from(span: TimeSpan) -> Result<Self, ValueError> {
        let duration = span.duration();
        let seconds = u32::try_from(duration.as_secs()).ok().filter(|_| duration.subsec_nanos() == 0);
        let expected = "time of whole seconds, as Retry-After has it";
        seconds.map(Self).ok_or_else(|| ValueError::Form { text: span.to_string(), expected })
    }
}

impl From<RetryAfter> for TimeSpan {
    fn from(after: RetryAfter) -> Self {
        Self::from_secs(after.0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_told_to_wait_for_whole_seconds() {
        let after = serde_json::from_str::<RetryAfter>("\"1m\"").unwrap();
        assert_eq!((after.seconds(), serde_json::to_string(&after).unwrap().as_str()), (60, "\"1m\""));
        let error = serde_json::from_str::<RetryAfter>("\"1500ms\"").unwrap_err().to_string();
        assert!(error.starts_with("`1500ms` is no time of whole seconds"), "{error}");
    }
}
