//! How long a run waits for verdicts once every operation has ended.

use hammer_measure::Nanos;

/// The wait for promises that are pending and may still be judged: until there are none, or the time to drain is over. Behind a fill that
/// gave up, it also ends where `patience` goes by without a verdict: what failed so often is as a rule gone, and so is what is asked for them.
#[derive(Debug)]
pub(super) struct VerdictWait {
    deadline: Nanos,
    patience: Nanos,
    awaited: u64,
    /// When that number changed last.
    changed_at: Nanos,
    told_at: Nanos,
}

/// What becomes of the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// It goes on.
    On,
    /// It goes on, and somebody has to be told: until then, at most.
    Told(Nanos),
    /// Nothing is awaited any more, or there is no time left.
    Over,
    /// No verdict came for too long, though there is time left.
    Silent,
}

impl VerdictWait {
    /// One that starts now.
    pub(super) fn new(now: Nanos, deadline: Nanos, patience: Nanos) -> Self {
        Self { deadline, patience, awaited: u64::MAX, changed_at: now, told_at: now }
    }

    /// Ends it then, if it has not ended before.
    pub(super) fn cut(&mut self, at: Nanos) {
        self.deadline = self.deadline.min(at);
    }

    /// Takes how many promises are awaited, and whether a fill gave up.
    pub(super) fn look(&mut self, now: Nanos, awaited: u64, has_given_up: bool) -> Waiting {
        if awaited != self.awaited {
            (self.awaited, self.changed_at) = (awaited, now);
        }
        if awaited == 0 || now >= self.deadline {
            return Waiting::Over;
        }
        let patient_until = self.changed_at.saturating_add(self.patience);
        if has_given_up && now >= patient_until {
            return Waiting::Silent;
        }
        if now.since(self.told_at) < TOLD_EVERY {
            return Waiting::On;
        }
        self.told_at = now;
        Waiting::Told(if has_given_up { self.deadline.min(patient_until) } else { self.deadline })
    }
}

const TOLD_EVERY: Nanos = Nanos::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Nanos {
        Nanos::from_secs(seconds)
    }

    fn wait() -> VerdictWait {
        VerdictWait::new(at(10), at(310), at(30))
    }

    #[test]
    fn it_is_over_once_nothing_is_awaited_or_the_time_to_drain_is() {
        for has_given_up in [false, true] {
            assert_eq!(wait().look(at(10), 0, has_given_up), Waiting::Over);
            assert_eq!(wait().look(at(310), 7, has_given_up), Waiting::Over);
        }
    }

    #[test]
    fn whoever_waits_is_told_each_second() {
        let mut wait = wait();
        let half = at(10) + Nanos::from_millis(500);
        assert_eq!(wait.look(half, 7, false), Waiting::On);
        assert_eq!(wait.look(at(11), 7, false), Waiting::Told(at(310)));
        assert_eq!(wait.look(at(11), 7, false), Waiting::On);
        assert_eq!(wait.look(at(12), 6, false), Waiting::Told(at(310)));
        assert_eq!(wait.look(at(309), 6, false), Waiting::Told(at(310)));
    }

    #[test]
    fn it_is_over_once_it_was_cut() {
        let mut wait = wait();
        assert_eq!(wait.look(at(11), 7, false), Waiting::Told(at(310)));
        wait.cut(at(12));
        assert_eq!(wait.look(at(12), 7, false), Waiting::Over);
    }

    #[test]
    fn a_fill_that_gave_up_is_waited_for_as_long_as_verdicts_come() {
        let mut wait = wait();
        assert_eq!(wait.look(at(10), 7, true), Waiting::On);
        assert_eq!(wait.look(at(39), 7, true), Waiting::Told(at(40)));
        assert_eq!(wait.look(at(40), 6, true), Waiting::Told(at(70)));
        assert_eq!(wait.look(at(69), 6, true), Waiting::Told(at(70)));
        assert_eq!(wait.look(at(70), 6, true), Waiting::Silent);
    }
}
