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
}
