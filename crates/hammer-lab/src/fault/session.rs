//! A script at work: which fault meets which request.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::Duration,
};

use hammer_values::Share;

use super::restart::Restart;
use super::retry_after::RetryAfter;
use super::rule_state::RuleState;
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
    /// It is above the rate that the service can do, and refused with this status, or by gRPC with the code for it.
    Overloaded {
        /// HTTP status.
        status: u16,
    },
    /// Its connection is reset.
    Reset,
}

/// A [`FaultScript`] with the count of requests that it has met and the instant from which its stalls count.
#[derive(Debug)]
pub struct FaultSession {
    script: FaultScript,
    /// By the rules of the script.
    states: Vec<RuleState>,
    requests: AtomicU64,
    origin_ns: AtomicU64,
    /// Restarts of the script that are over, in the order of the script.
    restarted: AtomicUsize,
}

impl FaultSession {
    /// A session whose stalls count from `now` of the target's clock.
    #[must_use]
    pub fn new(script: FaultScript, now: Duration) -> Self {
        let mut script = script;
        script.restarts.sort_by_key(|restart| restart.at.duration());
        let states = script.rules.iter().map(|_| RuleState::default()).collect();
        let (requests, origin_ns) = (AtomicU64::new(0), AtomicU64::new(0));
        let session = Self { script, states, requests, origin_ns, restarted: AtomicUsize::new(0) };
        session.restart(now);
        session
    }

    /// Counts stalls, throttles and restarts from `now`, and requests from zero.
    pub fn restart(&self, now: Duration) {
        self.cool_down();
        self.restarted.store(0, Ordering::Relaxed);
        self.origin_ns.store(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.requests.store(0, Ordering::Relaxed);
    }

    /// The target was started again: it is cold.
    pub(crate) fn cool_down(&self) {
        self.states.iter().for_each(RuleState::restart);
    }

    /// When the target is killed next, on its clock; `None` where that is not planned any more.
    pub(crate) fn next_restart(&self) -> Option<(Duration, Restart)> {
        let restart = *self.script.restarts.get(self.restarted.load(Ordering::Relaxed))?;
        Some((self.origin() + restart.at.duration(), restart))
    }

    /// The restart that was due is under way.
    pub(crate) fn restarts(&self) {
        self.restarted.fetch_add(1, Ordering::Relaxed);
    }

    fn origin(&self) -> Duration {
        Duration::from_nanos(self.origin_ns.load(Ordering::Relaxed))
    }

    /// The script that is at work.
    #[must_use]
    pub fn script(&self) -> &FaultScript {
        &self.script
    }

    /// Draws what happens to the next request to `endpoint`, which comes `now`.
    #[must_use]
    pub fn verdict(&self, endpoint: &str, now: Duration) -> Verdict {
        if self.script.rules.is_empty() {
            return Verdict::Serve(Duration::ZERO);
        }
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        let mut delay = Duration::ZERO;
        for (place, rule) in self.rules(endpoint, now) {
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
            let state = &self.states[place];
            if let Some(overload) = rule.above.filter(|overload| state.is_above(overload, now)) {
                return Verdict::Overloaded { status: overload.status.code() };
            }
            if let Some(cold) = rule.cold.filter(|cold| state.is_among(cold.requests)) {
                delay += cold.latency.sample(draw(2), draw(3));
            }
            delay += rule.latency.map_or(Duration::ZERO, |latency| latency.sample(draw(2), draw(3)));
            if let Some(workers) = &rule.workers {
                delay += state.occupies(workers.count, workers.latency.sample(draw(2), draw(3)), now);
            }
        }
        Verdict::Serve(delay)
    }

    /// The end, on the target's clock, of the stall, or of the pause of a throttle, that holds answers of `endpoint` at `now`.
    #[must_use]
    pub fn held_until(&self, endpoint: &str, now: Duration) -> Option<Duration> {
        let origin = self.origin();
        let since = now.saturating_sub(origin);
        let throttles = self.rules(endpoint, now).flat_map(|(_, rule)| &rule.throttle);
        let paused = throttles.filter_map(|throttle| throttle.held_until(since)).map(|until| origin + until);
        let stalled = self
            .rules(endpoint, now)
            .flat_map(|(_, rule)| &rule.stalls)
            .map(|stall| {
                (origin + stall.at.duration(), origin + stall.at.duration() + stall.duration.duration())
            })
            .filter(|(start, end)| (*start..*end).contains(&now))
            .map(|(_, end)| end);
        stalled.chain(paused).max()
    }

    /// Those that hold `now` for the endpoint.
    fn rules(&self, endpoint: &str, now: Duration) -> impl Iterator<Item = (usize, &FaultRule)> {
        let since = now.saturating_sub(self.origin());
        self.script.rules.iter().enumerate().filter(move |(_, rule)| {
            let is_its = rule.endpoints.is_empty() || rule.endpoints.iter().any(|name| name == endpoint);
            is_its && rule.is_on(since)
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
            (0..10_000).map(|_| session.verdict("add-chain", Duration::ZERO)).collect()
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
        assert_eq!(session.verdict("tile", Duration::ZERO), Verdict::Reset);
        assert_eq!(session.verdict("checkpoint", Duration::ZERO), Verdict::Serve(Duration::ZERO));
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
    fn above_a_rate_all_but_a_burst_is_refused() {
        let overload = serde_json::from_str(r#"{"rate": "100/s"}"#).unwrap();
        let session = FaultSession::new(
            script(FaultRule { above: Some(overload), ..FaultRule::default() }),
            Duration::ZERO,
        );
        let served = |rate: u64| {
            let verdicts = (0..rate * 10)
                .map(|n| session.verdict("get", Duration::from_nanos(n * 1_000_000_000 / rate)));
            verdicts.filter(|verdict| matches!(verdict, Verdict::Serve(_))).count()
        };
        assert_eq!(served(90), 900, "all are served at a lower rate");
        session.restart(Duration::ZERO);
        let most = served(300);
        assert!((1_000..=1_011).contains(&most), "{most}");
        let at_once: Vec<_> = (0..20).map(|_| session.verdict("get", Duration::from_secs(20))).collect();
        assert_eq!(at_once[19], Verdict::Overloaded { status: 504 });
    }

    #[test]
    fn the_first_requests_after_each_start_are_slow() {
        let cold = serde_json::from_str(r#"{"requests": 2, "latency": {"constant": "50ms"}}"#).unwrap();
        let rule = FaultRule { endpoints: vec!["get".into()], cold: Some(cold), ..FaultRule::default() };
        let session = FaultSession::new(script(rule), Duration::ZERO);
        let slow = Verdict::Serve(Duration::from_millis(50));
        let verdicts =
            |count: usize| (0..count).map(|_| session.verdict("get", Duration::ZERO)).collect::<Vec<_>>();
        assert_eq!(session.verdict("post", Duration::ZERO), Verdict::Serve(Duration::ZERO));
        assert_eq!(verdicts(3), [slow, slow, Verdict::Serve(Duration::ZERO)]);
        session.cool_down();
        assert_eq!(verdicts(1), [slow]);
    }

    #[test]
    fn a_rule_holds_in_its_time_alone() {
        let rule: FaultRule =
            serde_json::from_str(r#"{"at": "2s", "duration": "1s", "refuse": {"share": 1, "status": 500}}"#)
                .unwrap();
        let session = FaultSession::new(script(rule), Duration::from_secs(10));
        let is_refused = |ms: u64| {
            let verdict = session.verdict("get", Duration::from_secs(10) + Duration::from_millis(ms));
            verdict == Verdict::Refuse { status: 500, retry_after_s: None }
        };
        assert_eq!([0, 1_999, 2_000, 2_999, 3_000].map(is_refused), [false, false, true, true, false]);
        session.restart(Duration::from_secs(20));
        assert_eq!(
            [12_000, 13_000].map(is_refused),
            [true, false],
            "its time moves with a restart of faults"
        );
    }

    #[test]
    fn what_finds_no_worker_waits_for_its_turn() {
        let rule: FaultRule =
            serde_json::from_str(r#"{"workers": {"count": 2, "latency": {"constant": "10ms"}}}"#).unwrap();
        let session = FaultSession::new(script(rule), Duration::ZERO);
        let at = |ms: u64| match session.verdict("get", Duration::from_millis(ms)) {
            Verdict::Serve(delay) => delay.as_millis(),
            refused => panic!("{refused:?}"),
        };
        // Two at once, and then two in ten milliseconds: a fifth of a second for forty.
        assert_eq!([0, 0, 0, 0, 0].map(at), [10, 10, 20, 20, 30]);
        assert_eq!([25, 25].map(at), [10, 15], "one is free from 20 ms on, the other from 30");
        assert_eq!([1_000, 1_000].map(at), [10, 10]);
        session.cool_down();
        assert_eq!(at(1_001), 10, "what was under way died with the target");
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
