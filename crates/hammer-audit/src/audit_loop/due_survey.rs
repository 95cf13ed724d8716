//! Patience with servers of which another may have a newer head.

use std::time::Duration;

use hammer_measure::Nanos;
use hammer_tlog::logs::audit::{Receipt, ReceiptClock};

/// For how long no server of a log has had a newer head, while promises are due that none of its heads covers: one of them may lag behind
/// others, or serve what a cache has kept.
#[derive(Debug)]
pub(super) struct DueSurvey {
    patience: Nanos,
    clock: ReceiptClock,
    since: Option<Nanos>,
    /// Who served no head last, and may have a newer one.
    silent: Vec<String>,
}

impl DueSurvey {
    /// Of a log that is read so often, and whose deadlines are told by that clock.
    pub(super) fn new(every: Duration, clock: ReceiptClock) -> Self {
        let patience = Nanos::from(every * LOOKS).max(PATIENCE);
        Self { patience, clock, since: None, silent: Vec::new() }
    }

    /// Takes that nothing is due, or that a newer head came.
    pub(super) fn is_over(&mut self) {
        self.since = None;
        self.silent.clear();
    }

    /// Takes that no server had a newer head at `now`, of those that served one; whether that has been so for long enough. Who is silent is
    /// waited for longer.
    pub(super) fn none_is_newer(&mut self, now: Nanos, silent: Vec<String>) -> bool {
        let patience = if silent.is_empty() { self.patience } else { self.patience.max(SILENCE) };
        self.silent = silent;
        now.since(*self.since.get_or_insert(now)) >= patience
    }

    /// Whether a promise that was due by then, in milliseconds since 1970, is not decided since a server is silent.
    pub(super) fn leaves_open(&self, receipt: &Receipt, now_ms: u64) -> bool {
        !self.silent.is_empty() && self.clock.deadline_ms(receipt) < now_ms
    }

    /// Why promises that were due are not decided; none where they are.
    pub(super) fn why_undecided(&self) -> Option<String> {
        let silent = self.silent.join(", ");
        (!silent.is_empty()).then(|| format!("since {silent} served no head, and may have a newer one"))
    }
}

const LOOKS: u32 = 8;
const PATIENCE: Nanos = Nanos::from_secs(2);
/// How long a server is waited for that serves no head.
const SILENCE: Nanos = Nanos::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    use hammer_tlog::hash::Hash;

    const CLOCK: ReceiptClock = ReceiptClock { epoch_unix_ms: 0, skew_ms: 0, is_of_one_server: false };

    #[test]
    fn what_is_due_waits_two_seconds_or_eight_looks_for_a_newer_head() {
        for (every_ms, patience_ms) in [(50, 2_000), (1_000, 8_000)] {
            let mut survey = DueSurvey::new(Duration::from_millis(every_ms), CLOCK);
            let mut at = |ms| survey.none_is_newer(Nanos::from_millis(ms), Vec::new());
            assert_eq!([at(100), at(99 + patience_ms), at(100 + patience_ms)], [false, false, true]);
            survey.is_over();
            assert!(!survey.none_is_newer(Nanos::from_millis(200 + patience_ms), Vec::new()));
        }
    }

    #[test]
    fn a_silent_server_is_waited_for_half_a_minute_and_leaves_open_what_is_due() {
        let mut survey = DueSurvey::new(Duration::from_millis(50), CLOCK);
        let mut at = |ms| survey.none_is_newer(Nanos::from_millis(ms), vec!["one:80".to_owned()]);
        assert_eq!([at(100), at(30_099), at(30_100)], [false, false, true]);
        let promised = Receipt::new(1, Hash([1; 32]), Some(1), 0, 0).within(5);
        assert_eq!([5, 6].map(|now_ms| survey.leaves_open(&promised, now_ms)), [false, true]);
        assert!(survey.why_undecided().is_some_and(|why| why.contains("one:80")));
        survey.is_over();
        assert!(!survey.leaves_open(&promised, 6) && survey.why_undecided().is_none());
    }
}
