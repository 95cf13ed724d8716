//! Arrivals that know nothing of each other.

use crate::draw::Draws;

/// The running sum of unit exponentials: the n-th is the count at which a Poisson process of unit rate has its n-th arrival.
#[derive(Clone, Copy, Debug)]
pub struct Poisson {
    draws: Draws,
    index: u64,
    sum: f64,
}

impl Poisson {
    /// The stream of that seed and label.
    pub fn new(seed: u64, label: u64) -> Self {
        Self { draws: Draws::new(seed, label ^ 0x0070_6f69_7373_6f6e), index: 0, sum: 0.0 }
    }

    pub(super) fn next(&mut self) -> f64 {
        self.sum -= (1.0 - self.draws.unit(self.index)).ln();
        self.index += 1;
        self.sum
    }
}
