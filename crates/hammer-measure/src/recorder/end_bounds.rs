//! The bounds of the phases, by which ends are counted.

use crate::series::Phase;
use crate::timing::Nanos;

/// When the phases with arrivals end: what is done in them counts in their rates, whichever phase it was intended in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndBounds {
    /// The end of warm-up.
    pub measurement_start: Nanos,
    /// The end of measurement, or of warm-up where it comes before that; [`Nanos::MAX`] while it is not known.
    pub arrivals_end: Nanos,
}

/// All of the run is measurement.
impl Default for EndBounds {
    fn default() -> Self {
        Self { measurement_start: Nanos::ZERO, arrivals_end: Nanos::MAX }
    }
}

impl EndBounds {
    /// The phase in which something ended that was done at that instant.
    pub fn phase_of(&self, done: Nanos) -> Phase {
        if done >= self.arrivals_end {
            Phase::Drain
        } else if done < self.measurement_start {
            Phase::WarmUp
        } else {
            Phase::Measurement
        }
    }

    /// The one phase in which all crossed that crossed from one instant to another, if it was one.
    pub(super) fn only_phase_of(&self, (from, to): (Nanos, Nanos)) -> Option<Phase> {
        let last = self.phase_of(to);
        (to <= from || self.phase_of(from) == last).then_some(last)
    }

    /// The part of `bytes` that crossed within a phase, where they crossed evenly from one instant to another, rounded down; those of one
    /// instant crossed in its phase.
    pub(super) fn share_of(&self, bytes: u64, (from, to): (Nanos, Nanos), phase: Phase) -> u64 {
        if let Some(only) = self.only_phase_of((from, to)) {
            return if only == phase { bytes } else { 0 };
        }
        let (start, end) = match phase {
            Phase::WarmUp => (Nanos::ZERO, self.measurement_start.min(self.arrivals_end)),
            Phase::Measurement => (self.measurement_start, self.arrivals_end),
            Phase::Drain => (self.arrivals_end, Nanos::MAX),
        };
        let within = to.min(end).since(from.max(start));
        let share = u128::from(bytes) * u128::from(within.0) / u128::from(to.since(from).0);
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_is_the_first_instant_of_the_next_phase() {
        let bounds = EndBounds { measurement_start: Nanos(10), arrivals_end: Nanos(30) };
        let phases = [0, 9, 10, 29, 30].map(|at| bounds.phase_of(Nanos(at)));
        let [warm_up, measurement] = Phase::WITH_ARRIVALS;
        assert_eq!(phases, [warm_up, warm_up, measurement, measurement, Phase::Drain]);
        let stopped = EndBounds { arrivals_end: Nanos(5), ..bounds };
        assert_eq!([4, 5, 20].map(|at| stopped.phase_of(Nanos(at))), [warm_up, Phase::Drain, Phase::Drain]);
        assert_eq!(EndBounds::default().phase_of(Nanos::ZERO), measurement);
    }

    #[test]
    fn bytes_are_of_the_phases_that_they_crossed_in() {
        let bounds = EndBounds { measurement_start: Nanos(10), arrivals_end: Nanos(30) };
        let shares = |from, to| {
            [Phase::WarmUp, Phase::Measurement, Phase::Drain]
                .map(|phase| bounds.share_of(100, (Nanos(from), Nanos(to)), phase))
        };
        assert_eq!(shares(0, 9), [100, 0, 0]);
        assert_eq!(shares(5, 15), [50, 50, 0]);
        assert_eq!(shares(20, 60), [0, 25, 75]);
        assert_eq!(shares(0, 40), [25, 50, 25]);
        assert_eq!(shares(30, 40), [0, 0, 100]);
        assert_eq!(shares(12, 12), [0, 100, 0]);
        let unbounded = EndBounds::default().share_of(7, (Nanos(1), Nanos(1_000)), Phase::Measurement);
        assert_eq!(unbounded, 7);
    }
}
