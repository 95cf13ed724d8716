//! A rate that changes linearly, then holds.

/// From `from` to `to` arrivals a second over `over` seconds, then `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Arrivals a second at the start.
    pub from: f64,
    /// Arrivals a second at the end and after it.
    pub to: f64,
    /// Seconds.
    pub over: f64,
}

impl Ramp {
    /// The inverse of `from*t + (to-from)*t^2/(2*over)`.
    pub(super) fn seconds_at(&self, count: f64) -> Option<f64> {
        let during = (self.from + self.to) / 2.0 * self.over;
        if count > during {
            return (self.to > 0.0).then(|| self.over + (count - during) / self.to);
        }
        if count <= 0.0 {
            return Some(0.0);
        }
        let slope = (self.to - self.from) / self.over;
        let root = (self.from * self.from + 2.0 * slope * count).max(0.0).sqrt();
        // The form without cancellation: 2c / (b + sqrt(b^2 + 2ac)).
        Some((2.0 * count / (self.from + root)).min(self.over))
    }
}
