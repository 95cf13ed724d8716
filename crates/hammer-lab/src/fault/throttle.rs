//! Targets that work a share of the time, as under a limit of CPU or stopped and continued in turn.

use std::time::Duration;

use hammer_values::{KeyConflict, PlanBlock, Share, TimeSpan};
use serde::{Deserialize, Serialize};

/// A time in which answers leave during a share of each period only.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// The share of each period in which the target works; above 0.
    pub duty: Share,
    /// The length of a period: 100 ms is that of CPU limits of cgroups.
    #[serde(default = "Throttle::a_tenth")]
    pub period: TimeSpan,
    /// Start, from the start of the target (or the last restart of its faults).
    #[serde(default)]
    pub at: TimeSpan,
    /// Length; for good without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<TimeSpan>,
}

impl Throttle {
    const fn a_tenth() -> TimeSpan {
        TimeSpan::from_millis(100)
    }

    /// When the target works again, if it stands still this long after the start of faults.
    pub(super) fn held_until(&self, since: Duration) -> Option<Duration> {
        let within = since.checked_sub(self.at.duration())?;
        if self.duration.is_some_and(|length| within >= length.duration()) {
            return None;
        }
        let period = self.period.duration();
        let working = period.mul_f64(self.duty.of_1());
        // A period of no time is refused as the plan is read.
        let in_period = Duration::from_nanos((within.as_nanos() % period.as_nanos().max(1)) as u64);
        (in_period >= working).then(|| since + (period - in_period))
    }
}

impl PlanBlock for Throttle {
    fn conflict(&self) -> Option<KeyConflict> {
        if self.duty == Share::NONE {
            return Some(KeyConflict::at("duty", "it is 0: a target that never works is one that stalls"));
        }
        (self.period == TimeSpan::ZERO).then(|| KeyConflict::at("period", "it is no time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_works_at_the_start_of_each_period_and_outside_of_the_time() {
        let duty = Share::try_from(0.25).unwrap();
        let (at, duration) = (TimeSpan::from_secs(1), Some(TimeSpan::from_secs(1)));
        let throttle = Throttle { duty, period: TimeSpan::from_millis(100), at, duration };
        let millis = Duration::from_millis;
        for (since, until) in [
            (500, None),
            (1_000, None),
            (1_024, None),
            (1_025, Some(1_100)),
            (1_199, Some(1_200)),
            (2_050, None),
        ] {
            assert_eq!(throttle.held_until(millis(since)), until.map(millis), "{since}");
        }
    }

    #[test]
    fn a_throttle_that_never_works_is_refused() {
        for (json, key) in [(r#"{"duty": 0}"#, "duty"), (r#"{"duty": 0.5, "period": "0s"}"#, "period")] {
            let error =
                serde_json::from_str::<hammer_values::Agreed<Throttle>>(json).unwrap_err().to_string();
            assert!(error.starts_with(&format!("at key {key}: ")), "{error}");
        }
    }
}
