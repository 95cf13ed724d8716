//! CPU seconds that start from zero again with each new process.

/// What a counter comes to over all that counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CpuCounter {
    last: Option<f64>,
    used: f64,
}

impl CpuCounter {
    /// CPU seconds since the first look. A counter that fell is that of a new process, which used all of it since.
    pub(super) fn look(&mut self, now: f64) -> f64 {
        self.used += match self.last.replace(now) {
            None => 0.0,
            Some(before) if now >= before => now - before,
            Some(_) => now,
        };
        self.used
    }

    /// The same as at the last look.
    pub(super) const fn used(&self) -> f64 {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_starts_again_goes_on() {
        let mut counter = CpuCounter::default();
        assert_eq!([10.0, 12.5, 0.5, 1.0].map(|now| counter.look(now)), [0.0, 2.5, 3.0, 3.5]);
        assert_eq!(counter.used(), 3.5);
    }
}
