use std::time::Duration;

use hammer_measure::Nanos;

/// For how long no server of a log has had a newer head, while promises are due that none of its heads covers: one of them may lag behind
/// others, or serve what a cache has kept.
#[derive(Debug)]
pub(super) struct DueSurvey {
    patience: Nanos,
    since: Option<Nanos>,
}

impl DueSurvey {
    /// Of a log that is read so often.
    pub(super) fn new(every: Duration) -> Self {
        Self { patience: Nanos::from(every * LOOKS).max(PATIENCE), since: None }
    }

    /// Takes that nothing is due, or that a newer head came.
    pub(super) fn is_over(&mut self) {
        self.since = None;
    }

    /// Takes that no server had a newer head at `now`; whether that has been so for long enough.
    pub(super) fn none_is_newer(&mut self, now: Nanos) -> bool {
        now.since(*self.since.get_or_insert(now)) >= self.patience
    }
}

const LOOKS: u32 = 8;
const PATIENCE: Nanos = Nanos::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_waits_two_seconds_or_eight_looks_for_a_newer_head() {
        for (every_ms, patience_ms) in [(50, 2_000), (1_000, 8_000)] {
            let mut survey = DueSurvey::new(Duration::from_millis(every_ms));
            let mut at = |ms| survey.none_is_newer(Nanos::from_millis(ms));
            assert_eq!([at(100), at(99 + patience_ms), at(100 + patience_ms)], [false, false, true]);
            survey.is_over();
            assert!(!survey.none_is_newer(Nanos::from_millis(200 + patience_ms)));
        }
    }
}
