//! Several arrivals together, again and again.

/// `size` arrivals every `every` seconds, spread evenly over `within` seconds (zero: all at once).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Arrivals in a burst.
    pub size: u64,
    /// Seconds from the start of one to the start of the next.
    pub every: f64,
    /// Seconds over which a burst is spread.
    pub within: f64,
}

impl Burst {
    pub(super) fn seconds_at(&self, count: f64) -> Option<f64> {
        if self.size == 0 {
            return None;
        }
        let size = self.size as f64;
        let burst = (count / size).floor();
        Some(burst * self.every + (count - burst * size) / size * self.within)
    }
}
