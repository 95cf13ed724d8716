//! Scripted faults: what goes wrong, where and when, as data that a plan carries.

pub mod draw;
mod latency;
mod overload;
mod restart;
mod retry_after;
mod rule_state;
mod session;
mod sigma;
mod throttle;
mod timed;
mod workers;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use hammer_values::{Agreed, Count, RenamedKey, Share, Status, TimeSpan};

pub use latency::{Latency, UniformLatency};
pub use overload::Overload;
pub use restart::{DataKept, Restart};
pub use retry_after::RetryAfter;
pub use session::{FaultSession, Verdict};
pub use sigma::Sigma;
pub use throttle::Throttle;
pub use timed::TimedFault;
pub use workers::{BusyWorkers, Workers};

/// Everything that a target does wrong on purpose. The default does nothing wrong.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultScript {
    /// Seed of every draw: the n-th request of a target meets the same fault in every run.
    pub seed: u64,
    /// Rules, of which each that names the endpoint applies, in order.
    pub rules: Vec<FaultRule>,
    /// Closes a connection that has had no request under way for this long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close_idle_after: Option<TimeSpan>,
    /// Closes a new connection that has sent no request for this long (TesseraCT's ReadHeaderTimeout is 5 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close_unused_after: Option<TimeSpan>,
    /// Times at which the target is killed and started again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub restarts: Vec<Restart>,
    /// Extra delay between sequencing and the checkpoint that covers it (slow integration); logs only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publication_delay: Option<TimeSpan>,
}

/// One rule of a [`FaultScript`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultRule {
    /// Names of the endpoints that it holds for, such as `add-chain` or `tile`; empty is every endpoint.
    pub endpoints: Vec<String>,
    /// From when on it holds, from the start of the target (or the last restart of its faults).
    #[serde(skip_serializing_if = "is_at_once")]
    pub at: TimeSpan,
    /// How long it holds; for good without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<TimeSpan>,
    /// Added to every answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Windows within which no answer leaves: all are held until the end, while connections are still accepted.
    pub stalls: Vec<Stall>,
    /// Requests that are refused before they are looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuse: Option<Refusal>,
    /// Share of requests, 0 to 1, whose connection is reset (RST) instead of answered.
    pub reset_share: Share,
    /// Requests above a rate, which are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<Overload>,
    /// The first requests after a start, which are slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold: Option<ColdStart>,
    /// How many requests are served at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<Workers>,
    /// Times in which the target works a share of the time only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throttle: Vec<Agreed<Throttle>>,
}

fn is_at_once(at: &TimeSpan) -> bool {
    *at == TimeSpan::ZERO
}

impl FaultRule {
    /// Whether it holds this long after the start of faults.
    fn is_on(&self, since: Duration) -> bool {
        let at = self.at.duration();
        since >= at && self.duration.is_none_or(|length| since < at + length.duration())
    }
}

/// A target that is slow until its caches are warm: after its start, and after each restart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColdStart {
    /// So many requests are slow.
    pub requests: Count,
    /// Added to each of their answers.
    pub latency: Latency,
}

/// A window in which every answer is held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// Start, from the start of the target (or the last restart of its faults).
    pub at: TimeSpan,
    /// Length.
    pub duration: TimeSpan,
}

/// A share of requests that is refused with 429 or 503.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// Share of requests, 0 to 1.
    pub share: Share,
    /// Status of the refusal.
    #[serde(default = "Refusal::too_many_requests")]
    pub status: Status<400, 599>,
    /// The time of the Retry-After header; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<RetryAfter>,
}

impl Refusal {
    /// 429.
    const fn too_many_requests() -> Status<400, 599> {
        Status::nearest(429)
    }
}

impl FaultScript {
    /// The first name of a rule that is none of these endpoints: the key, and what is wrong with it.
    pub(crate) fn unknown_endpoint(&self, known: &[&str]) -> Option<(String, String)> {
        self.rules.iter().enumerate().find_map(|(rule, FaultRule { endpoints, .. })| {
            let place = endpoints.iter().position(|name| !known.contains(&name.as_str()))?;
            let key = format!("faults.rules[{rule}].endpoints[{place}]");
            let reason =
                format!("there is no endpoint `{}`; there are {}", endpoints[place], known.join(", "));
            Some((key, reason))
        })
    }

    /// What the key of Retry-After was called before, in a plan that has this script as `faults`.
    pub(crate) const RENAMED_RETRY_AFTER: RenamedKey =
        RenamedKey { old: "faults.rules.*.refuse.retry_after_s", new: "retry_after", unit: "s" };
}
