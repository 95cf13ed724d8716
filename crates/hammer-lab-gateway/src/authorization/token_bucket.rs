//! The rate limit of a client of Kubernetes (client-go, `flowcontrol`, over Go's `rate.Limiter`): who finds no token waits for one.

use std::time::Duration;

/// Tokens that come at a rate, up to a burst. Their number is negative while somebody waits.
#[derive(Debug)]
pub(super) struct TokenBucket {
    per_second: f64,
    burst: f64,
    tokens: f64,
    /// When `tokens` was right.
    at: Duration,
}

impl TokenBucket {
    /// A full one.
    pub(super) fn new(per_second: f64, burst: usize) -> Self {
        Self { per_second, burst: burst as f64, tokens: burst as f64, at: Duration::ZERO }
    }

    /// Takes a token, and says how long after `now` it is there. Who comes later waits for a later one.
    pub(super) fn reserve(&mut self, now: Duration) -> Duration {
        let since = now.saturating_sub(self.at);
        self.at = self.at.max(now);
        self.tokens = (self.tokens + since.as_secs_f64() * self.per_second).min(self.burst) - 1.0;
        let missing = (-self.tokens).max(0.0);
        // A rate of a few a day leads to no time that a clock could not tell, but waiters without end might.
        Duration::try_from_secs_f64(missing / self.per_second)
            .unwrap_or(Duration::from_secs(u64::from(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_each_one_behind_it_waits_for_its_turn() {
        let mut bucket = TokenBucket::new(10.0, 3);
        let waits: Vec<_> = (0..6).map(|_| bucket.reserve(Duration::ZERO).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 100, 200, 300]);
        assert_eq!(bucket.reserve(Duration::from_millis(250)).as_millis(), 150);
        assert_eq!(bucket.reserve(Duration::from_secs(60)).as_millis(), 0, "a pause fills it");
        let waits: Vec<_> = (0..3).map(|_| bucket.reserve(Duration::from_secs(60)).as_millis()).collect();
        assert_eq!(waits, [0, 0, 100], "and no further than its burst");
    }

    #[test]
    fn in_the_long_run_the_rate_holds() {
        let mut bucket = TokenBucket::new(29.0, 10);
        let last = (0..300).map(|_| bucket.reserve(Duration::ZERO)).max().unwrap();
        assert_eq!(last.as_secs_f64().round(), 10.0, "290 of 300 at 29/s");
    }
}
