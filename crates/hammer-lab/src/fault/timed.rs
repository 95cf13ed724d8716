//! What a script does at some time, in words.

use std::time::Duration;

use hammer_values::{Count, TimeSpan};

use super::restart::DataKept;
use super::{FaultRule, FaultScript};

/// Something that a target does on purpose, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedFault {
    /// From the start of the target (or the last restart of its faults).
    pub at: Duration,
    /// What happens then; whoever shows it says to whom.
    pub text: String,
}

impl TimedFault {
    /// What happens then.
    #[must_use]
    pub fn new(at: Duration, text: impl Into<String>) -> Self {
        Self { at, text: text.into() }
    }

    /// What starts then and, where it has a length, is over after that.
    #[must_use]
    pub fn lasting(at: TimeSpan, length: Option<TimeSpan>, text: &str) -> Vec<Self> {
        let start = at.duration();
        let over = |length: TimeSpan| Self::new(start + length.duration(), format!("{text}: over"));
        std::iter::once(Self::new(start, text)).chain(length.map(over)).collect()
    }
}

impl FaultScript {
    /// What it does at some time, and not from the start on for good, in the order of time.
    #[must_use]
    pub fn timed(&self) -> Vec<TimedFault> {
        let mut all: Vec<TimedFault> = self.rules.iter().flat_map(FaultRule::timed).collect();
        for restart in &self.restarts {
            let at = restart.at.duration();
            let back = match restart.data {
                DataKept::Keep => "up again",
                DataKept::Lose => "up again, without its data",
            };
            all.extend([TimedFault::new(at, "killed"), TimedFault::new(at + restart.down.duration(), back)]);
        }
        all.sort_by_key(|fault| fault.at);
        all
    }
}

impl FaultRule {
    fn timed(&self) -> Vec<TimedFault> {
        let whom = if self.endpoints.is_empty() { "all".to_owned() } else { self.endpoints.join(", ") };
        let stalls = self.stalls.iter().map(|stall| (stall.at, Some(stall.duration), "stalled".to_owned()));
        let throttled = self.throttle.iter().filter(|one| one.at > TimeSpan::ZERO || one.duration.is_some());
        let throttled = throttled.map(|one| {
            (one.at, one.duration, format!("working {:.0} % of the time", one.duty.of_1() * 100.0))
        });
        let own = (self.at > TimeSpan::ZERO || self.duration.is_some()).then(|| self.words());
        let own = own.flatten().map(|words| (self.at, self.duration, words));
        let all = stalls.chain(throttled).chain(own);
        all.flat_map(|(at, length, words)| TimedFault::lasting(at, length, &format!("{whom} {words}")))
            .collect()
    }

    /// What it does as long as it holds, but for what has times of its own.
    fn words(&self) -> Option<String> {
        let mut words = Vec::new();
        words.extend(self.refuse.map(|refusal| {
            format!("refused with {} ({:.0} %)", refusal.status.code(), refusal.share.of_1() * 100.0)
        }));
        words.extend(
            self.above
                .map(|overload| format!("refused with {} above {}", overload.status.code(), overload.rate)),
        );
        words.extend(
            (self.reset_share.of_1() > 0.0)
                .then(|| format!("reset ({:.0} %)", self.reset_share.of_1() * 100.0)),
        );
        words.extend(self.workers.map(|workers| match workers.count {
            Count::ONE => "served by one worker".to_owned(),
            count => format!("served by {count} workers"),
        }));
        words.extend((self.latency.is_some() || self.cold.is_some()).then(|| "slow".to_owned()));
        (!words.is_empty()).then(|| words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_does_at_some_time_is_told_in_order_and_what_it_always_does_is_not() {
        let script: FaultScript = serde_json::from_str(
            r#"{"rules": [
                {"latency": {"constant": "5ms"}},
                {"endpoints": ["get"], "at": "4s", "duration": "2s", "refuse": {"share": 1, "status": 500}},
                {"stalls": [{"at": "1s", "duration": "1s"}], "throttle": [{"duty": 0.05, "at": "9s"}, {"duty": 0.5}]},
                {"endpoints": ["get", "post"], "at": "10s", "above": {"rate": "5/s"}, "workers": {"count": 2, "latency": {"constant": "1s"}}}
            ], "restarts": [{"at": "3s", "down": "500ms", "data": "lose"}]}"#,
        )
        .unwrap();
        let told: Vec<(u64, String)> =
            script.timed().into_iter().map(|fault| (fault.at.as_millis() as u64, fault.text)).collect();
        let expected = [
            (1_000, "all stalled"),
            (2_000, "all stalled: over"),
            (3_000, "killed"),
            (3_500, "up again, without its data"),
            (4_000, "get refused with 500 (100 %)"),
            (6_000, "get refused with 500 (100 %): over"),
            (9_000, "all working 5 % of the time"),
            (10_000, "get, post refused with 504 above 5/s, served by 2 workers"),
        ];
        assert_eq!(told, expected.map(|(at, text)| (at, text.to_owned())));
        assert!(FaultScript::default().timed().is_empty());
    }
}
