//! How often a log is asked for its tree head.

use std::str::FromStr;
use std::time::Duration;

use hammer_values::{TimeSpan, ValueError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time from one look at a log to the next; 50 ms at least, since more would be load of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "TimeSpan", into = "TimeSpan")]
#[schemars(with = "TimeSpan")]
pub struct AuditInterval(TimeSpan);

impl AuditInterval {
    /// The shortest one.
    pub const LEAST: Self = Self(TimeSpan::from_millis(50));

    /// The time.
    pub const fn duration(self) -> Duration {
        self.0.duration()
    }
}

/// 250 ms.
impl Default for AuditInterval {
    fn default() -> Self {
        Self(TimeSpan::from_millis(250))
    }
}

impl TryFrom<TimeSpan> for AuditInterval {
    type Error = ValueError;

    fn try_from(every: TimeSpan) -> Result<Self, ValueError> {
        match every < Self::LEAST.0 {
            true => Err(ValueError::below(Self::LEAST.0.to_string())),
            false => Ok(Self(every)),
        }
    }
}

impl FromStr for AuditInterval {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        text.parse::<TimeSpan>()?.try_into()
    }
}

impl From<AuditInterval> for TimeSpan {
    fn from(interval: AuditInterval) -> Self {
        interval.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_not_asked_more_often_than_it_can_bear() {
        assert_eq!("50ms".parse::<AuditInterval>().unwrap().duration(), Duration::from_millis(50));
        assert_eq!("49ms".parse::<AuditInterval>().unwrap_err().to_string(), "it must be 50ms at least");
        let read = serde_json::from_str::<AuditInterval>("\"1s\"").unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"1s\"");
        assert!(serde_json::from_str::<AuditInterval>("\"0s\"").is_err());
    }
}
