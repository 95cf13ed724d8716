//! How long an arrival may wait for those behind it, so that they go out together.

use std::cell::Cell;

use hammer_measure::Nanos;

/// A span that follows the service time of a lane's target: where an answer takes long, a release that is later by a
/// hundredth of it shows in no figure, and each wake-up less is a good part of an operation's cost.
#[derive(Debug, Default)]
pub(super) struct Quantum {
    /// A low estimate of the service time in nanoseconds, so that it is the fast answers that are measured finely.
    service: Cell<u64>,
}

impl Quantum {
    /// An answer took `service`.
    pub(super) fn answered(&self, Nanos(took): Nanos) {
        let known = self.service.get();
        let next = if took < known { known - (known - took) / FALL } else { known + (took - known) / RISE };
        self.service.set(next);
    }

    /// Arrivals within this span are released together.
    pub(super) fn span(&self) -> Nanos {
        Nanos((self.service.get() / SHARE).clamp(SHORTEST.0, LONGEST.0))
    }
}

/// Bounds the generator's own lateness on an idle core.
pub(super) const SHORTEST: Nanos = Nanos::from_micros(50);
const LONGEST: Nanos = Nanos::from_micros(250);
/// Of the service time.
const SHARE: u64 = 100;
/// Parts of the difference to a shorter, and to a longer service time, that one answer makes up for.
const FALL: u64 = 4;
const RISE: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn after(answers: impl IntoIterator<Item = Nanos>) -> Nanos {
        let quantum = Quantum::default();
        answers.into_iter().for_each(|service| quantum.answered(service));
        quantum.span()
    }

    #[test]
    fn fast_answers_keep_the_span_short() {
        assert_eq!(after([]), SHORTEST);
        assert_eq!(after([Nanos::from_micros(300); 10_000]), SHORTEST);
    }

    #[test]
    fn slow_answers_lengthen_it_to_its_bound() {
        assert_eq!(after([Nanos::from_millis(10); 10_000]), Nanos::from_micros(99) + Nanos(999));
        assert_eq!(after([Nanos::from_secs(2); 10_000]), LONGEST);
    }

    #[test]
    fn a_few_fast_answers_among_slow_ones_shorten_it_at_once() {
        let slow = [Nanos::from_millis(100); 1_000];
        assert_eq!(after(slow), LONGEST);
        assert_eq!(after(slow.into_iter().chain([Nanos::from_micros(200); 16])), SHORTEST);
    }

    #[test]
    fn an_even_mix_of_fast_and_slow_answers_is_measured_as_fast_ones() {
        let mix = after((0..10_000).map(|turn| Nanos::from_millis(if turn % 2 == 0 { 1 } else { 20 })));
        assert!(mix <= SHORTEST, "{mix}");
    }
}
