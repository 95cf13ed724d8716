//! From the instants of a run to the seconds by which tokens live.

use hammer_measure::Nanos;

/// What the wall clock showed at the epoch of a run's instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallTime {
    /// Milliseconds since the Unix epoch.
    pub epoch_unix_ms: u64,
}

impl WallTime {
    /// Milliseconds since the Unix epoch at an instant.
    pub fn unix_ms(self, at: Nanos) -> i64 {
        i64::try_from(self.epoch_unix_ms.saturating_add(at.0 / 1_000_000)).unwrap_or(i64::MAX)
    }

    /// Seconds since the Unix epoch at an instant.
    pub fn unix_seconds(self, at: Nanos) -> i64 {
        self.unix_ms(at).div_euclid(1000)
    }

    /// The instant at which a second since the Unix epoch begins; the epoch of the run where it had begun by then.
    pub fn instant_of(self, unix_seconds: i64) -> Nanos {
        let unix_ms = u64::try_from(unix_seconds).unwrap_or_default().saturating_mul(1000);
        Nanos(unix_ms.saturating_sub(self.epoch_unix_ms).saturating_mul(1_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_begun_at_its_instant_and_not_before() {
        let wall = WallTime { epoch_unix_ms: 1_000_500 };
        let at = wall.instant_of(1_002);
        assert_eq!(at, Nanos::from_millis(1_500));
        assert_eq!((wall.unix_seconds(at), wall.unix_seconds(Nanos(at.0 - 1))), (1_002, 1_001));
        assert_eq!((wall.instant_of(1), wall.instant_of(i64::MIN)), (Nanos::ZERO, Nanos::ZERO));
        assert_eq!(wall.unix_ms(Nanos::from_millis(1)), 1_000_501);
    }
}
