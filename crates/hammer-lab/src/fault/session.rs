//! A script at work: which fault meets which request.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use hammer_values::Share;

use super::retry_after::RetryAfter;
use super::{FaultRule, FaultScript, draw};

/// What happens to a request before it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is served, and its answer leaves this much later than it could.
    Serve(Duration),
    /// It is refused with this status and, perhaps, Retry-After in whole seconds.
    Refuse {
        /// HTTP status.
        status: u16,
        /// Seconds of Retry-After.
        retry_after_s: Option<u32>,
    },
    /// Its connection is reset.
    Reset,
}

/// A [`FaultScript`] with the count of requests that it has met and the instant from which its stalls count.
#[derive(Debug)]
pub struct FaultSession {
    script: FaultScript,
    requests: AtomicU64,
    origin_ns: AtomicU64,
}

impl FaultSession {
    /// A session whose stalls count from `now` of the target's clock.
    #[must_use]
    pub fn new(script: FaultScript, now: Duration) -> Self {
        let session = Self { script, requests: AtomicU64::new(0), origin_ns: AtomicU64::new(0) };
        session.restart(now);
        session
    }

    /// Counts stalls from `now`, and requests from zero.
    pub fn restart(&self, now: Duration) {
        self.origin_ns.store(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.requests.store(0, Ordering::Relaxed);
    }

    /// The script that is at work.
    #[must_use]
    pub fn script(&self) -> &FaultScript {
        &self.script
    }

    /// Draws what happens to the next request to `endpoint`.
    #[must_use]
    pub fn verdict(&self, endpoint: &str) -> Verdict {
        if self.script.rules.is_empty() {
            return Verdict::Serve(Duration::ZERO);
        }
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        let mut delay = Duration::ZERO;
        for (place, rule) in self.rules(endpoint) {
            let draw = |purpose: u64| draw::uniform(self.script.seed, request, place as u64 * 4 + purpose);
            if rule.reset_share > Share::NONE && draw(0) < rule.reset_share.of_1() {
                return Verdict::Reset;
            }
            if let Some(refusal) = rule.refuse.filter(|refusal| draw(1) < refusal.share.of_1()) {
                return Verdict::Refuse {
                    status: refusal.status.code(),
                    retry_after_s: refusal.retry_after.map(RetryAfter::seconds),
                };
            }
            delay += rule.latency.map_or(Duration::ZERO, |latency| latency.sample(draw(2), draw(3)));
        }
        Verdict::Serve(delay)
    }

    /// The end, on the target's clock, of the stall that holds answers of `endpoint` at `now`.
    #[must_use]
    pub fn held_until(&self, endpoint: &str, now: Duration) -> Option<Duration> {
        let origin = Duration::from_nanos(self.origin_ns.load(Ordering::Relaxed));
        self.rules(endpoint)
            .flat_map(|(_, rule)| &rule.stalls)
            .map(|stall| {
                (origin + stall.at.duration(), origin + stall.at.duration() + stall.duration.duration())
            })
            .filter(|(start, end)| (*start..*end).contains(&now))
            .map(|(_, end)| end)
            .max()
    }

    fn rules(&self, endpoint: &str) -> impl Iterator<Item = (usize, &FaultRule)> {
        self.script.rules.iter().enumerate().filter(move |(_, rule)| {
            rule.endpoints.is_empty() || rule.endpoints.iter().any(|name| name == endpoint)
        })
    }
}

#[cfg(test)]
mod tests {
    use hammer_values::{Status, TimeSpan};

    use super::*;
    use crate::fault::{Refusal, Stall};

    fn script(rule: FaultRule) -> FaultScript {
        FaultScript { seed: 5, rules: vec![rule], ..FaultScript::default() }
    }

    #[test]
    fn the_same_seed_refuses_the_same_requests_in_the_stated_share() {
        let (share, status) = (Share::try_from(0.25).unwrap(), Status::nearest(503));
        let refuse = Some(Refusal { share, status, retry_after: Some(RetryAfter::from_secs(3)) });
        let script = script(FaultRule { refuse, ..FaultRule::default() });
        let verdicts = |script: &FaultScript| -> Vec<Verdict> {
            let session = FaultSession::new(script.clone(), Duration::ZERO);
            (0..10_000).map(|_| session.verdict("add-chain")).collect()
        };
        let first = verdicts(&script);
        assert_eq!(first, verdicts(&script));
        let refused =
            first.iter().filter(|verdict| matches!(verdict, Verdict::Refuse { status: 503, .. })).count();
        assert!((2300..2700).contains(&refused), "{refused}");
    }

    #[test]
    fn a_rule_holds_only_for_the_endpoints_that_it_names() {
        let rule =
            FaultRule { endpoints: vec!["tile".into()], reset_share: Share::ALL, ..FaultRule::default() };
        let session = FaultSession::new(script(rule), Duration::ZERO);
        assert_eq!(session.verdict("tile"), Verdict::Reset);
        assert_eq!(session.verdict("checkpoint"), Verdict::Serve(Duration::ZERO));
    }

    #[test]
    fn a_stall_holds_from_its_begin_up_to_its_end_and_moves_with_a_restart() {
        let stalls = vec![Stall { at: TimeSpan::from_millis(100), duration: TimeSpan::from_millis(50) }];
        let session = FaultSession::new(script(FaultRule { stalls, ..FaultRule::default() }), Duration::ZERO);
        let held = |ms| session.held_until("tile", Duration::from_millis(ms));
        assert_eq!(held(99), None);
        assert_eq!(held(100), Some(Duration::from_millis(150)));
        assert_eq!(held(150), None);
        session.restart(Duration::from_millis(1000));
        let held = |ms| session.held_until("tile", Duration::from_millis(ms));
        assert_eq!((held(120), held(1120)), (None, Some(Duration::from_millis(1150))));
    }

    #[test]
    fn a_script_reads_from_text_and_refuses_unknown_keys() {
        let text = r#"{"seed": 1, "rules": [{"endpoints": ["add-chain"], "latency": {"exponential": {"mean": "5ms"}},
            "stalls": [{"at": "10s", "duration": "2s"}], "refuse": {"share": 0.1, "retry_after": "2s"}}],
            "close_idle_after": "5s"}"#;
        let script: FaultScript = serde_json::from_str(text).unwrap();
        assert_eq!(script.rules[0].refuse.unwrap().status.code(), 429);
        assert!(serde_json::from_str::<FaultScript>(r#"{"sead": 1}"#).is_err());
        for nonsense in [
            r#"{"rules": [{"reset_share": 1.5}]}"#,
            r#"{"rules": [{"refuse": {"share": -1}}]}"#,
            r#"{"rules": [{"refuse": {"share": 1, "status": 200}}]}"#,
        ] {
            assert!(serde_json::from_str::<FaultScript>(nonsense).is_err(), "{nonsense}");
        }
    }
}
