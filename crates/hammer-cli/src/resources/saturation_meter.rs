//! Whether a component uses all of its cores, look by look.

use hammer_measure::Nanos;

use super::greatest_rate::GreatestRate;

/// The looks at a component that may be saturated.
#[derive(Debug)]
pub(super) struct SaturationMeter {
    /// Cores in use above which it is.
    above: f64,
    /// For how long every look has to find it so.
    length: Nanos,
    last: Option<Look>,
    /// The time up to the last look in which all found it so.
    current: Option<LookedSpan>,
    reached: Option<LookedSpan>,
    greatest: GreatestRate,
}

/// An instant, and the CPU seconds that were used by then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub(super) at: Nanos,
    pub(super) cpu: f64,
}

/// The time between two looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LookedSpan {
    pub(super) from: Look,
    pub(super) to: Look,
}

impl SaturationMeter {
    /// A meter that has seen no look: saturated is what uses more than `above` cores between all looks of a time of that length.
    pub(super) const fn new(above: f64, length: Nanos) -> Self {
        let greatest = GreatestRate::over(length);
        Self { above, length, last: None, current: None, reached: None, greatest }
    }

    /// Takes a look.
    pub(super) fn sample(&mut self, at: Nanos, cpu: f64) {
        let to = Look { at, cpu };
        self.greatest.push(at, cpu);
        let Some(before) = self.last.replace(to) else { return };
        let used = LookedSpan { from: before, to };
        // Two looks at one instant say nothing of what lies between them.
        let Some(rate) = used.rate() else { return };
        if rate <= self.above {
            self.current = None;
            return;
        }
        let from = self.current.map_or(before, |current| current.from);
        let current = LookedSpan { from, to };
        self.current = Some(current);
        let is_first = self.reached.is_none_or(|reached| reached.from == from);
        if is_first && current.length() >= self.length {
            self.reached = Some(current);
        }
    }

    /// It was not there.
    pub(super) fn absent(&mut self) {
        (self.last, self.current) = (None, None);
        self.greatest.interrupt();
    }

    /// The first time in which it was saturated, as long as that went on.
    pub(super) const fn reached(&self) -> Option<LookedSpan> {
        self.reached
    }

    /// The most cores in use over a time of the length.
    pub(super) const fn most(&self) -> Option<f64> {
        self.greatest.most()
    }
}

impl LookedSpan {
    fn length(self) -> Nanos {
        self.to.at.since(self.from.at)
    }

    /// CPU seconds between the two.
    pub(super) fn cpu(self) -> f64 {
        self.to.cpu - self.from.cpu
    }

    /// Cores in use between the two; none where that is no time.
    fn rate(self) -> Option<f64> {
        (self.length() > Nanos::ZERO).then(|| self.cpu() / self.length().as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cores in use second by second, of which more than 1.9 for three seconds are saturation.
    fn looked(cores: &[f64]) -> SaturationMeter {
        let mut meter = SaturationMeter::new(1.9, Nanos::from_secs(3));
        let mut used = 40.0;
        meter.sample(Nanos::from_secs(10), used);
        for (second, cores) in (11..).zip(cores) {
            used += cores;
            meter.sample(Nanos::from_secs(second), used);
        }
        meter
    }

    fn reached(cores: &[f64]) -> Option<(u64, u64, f64)> {
        let span = looked(cores).reached()?;
        Some((span.from.at.0 / 1_000_000_000, span.to.at.0 / 1_000_000_000, span.cpu()))
    }

    #[test]
    fn every_look_of_the_time_has_to_find_it_so_and_the_first_such_time_counts_to_its_end() {
        assert_eq!(reached(&[1.0, 2.0, 2.0, 1.0, 2.0, 2.0]), None);
        assert_eq!(reached(&[1.0, 2.0, 2.0, 2.0]), Some((11, 14, 6.0)));
        assert_eq!(reached(&[2.0, 2.0, 2.0, 2.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0]), Some((10, 14, 8.0)));
        assert_eq!(looked(&[1.0, 2.0, 2.0, 0.5]).most(), Some(5.0 / 3.0));
        assert_eq!(looked(&[2.0, 2.0]).most(), None);
    }

    #[test]
    fn a_time_in_which_it_was_not_there_ends_what_went_before() {
        let mut meter = looked(&[2.0, 2.0]);
        meter.absent();
        meter.sample(Nanos::from_secs(13), 46.0);
        meter.sample(Nanos::from_secs(15), 50.0);
        assert_eq!(meter.reached(), None);
        meter.sample(Nanos::from_secs(16), 52.0);
        assert_eq!(meter.reached().map(|span| span.from.at), Some(Nanos::from_secs(13)));
    }
}
