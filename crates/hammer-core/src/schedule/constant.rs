//! One rate for ever.

/// `rate` arrivals a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// Arrivals a second; zero is none at all.
    pub rate: f64,
}

impl Constant {
    pub(super) fn seconds_at(&self, count: f64) -> Option<f64> {
        (self.rate > 0.0).then(|| count / self.rate)
    }
}
