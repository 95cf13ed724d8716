//! From the stamps that the kernel puts on received bytes to instants of the run.

use hammer_measure::{Nanos, Now, WallNanos};

/// How far two readings of both clocks may differ, and a stamp lie in the future, before the wall clock counts as stepped.
const TOLERANCE: Nanos = Nanos(100_000);
/// A drift of one part in this many (1,000 ppm) is no step: twice what Linux slews its clock by.
const DRIFT: u64 = 1_000;
/// The longest that bytes are thought to wait for whoever reads them.
const LONGEST_WAIT: Nanos = Nanos::from_secs(60);

/// The map from the wall clock, with which the kernel stamps what it receives, to the run's clock. It notices when the wall clock
/// is stepped, and trusts no stamp from before.
#[derive(Debug)]
pub(crate) struct ArrivalClock {
    offset: Option<ClockOffset>,
}

/// What the run's clock is ahead of the wall clock, as it was at `sampled`.
#[derive(Clone, Copy, Debug)]
struct ClockOffset {
    /// Nanoseconds, negative in any run that began after 1970.
    ahead: i64,
    sampled: Nanos,
    /// Stamps that map to earlier instants may be from before a step.
    trusted_since: Nanos,
}

impl ArrivalClock {
    /// Starts from what both clocks say now; stamps from before are not trusted.
    pub(crate) fn new(clock: &dyn Now) -> Self {
        let now = clock.now();
        let offset = clock.wall().map(|wall| ClockOffset {
            ahead: ahead(now, wall),
            sampled: now,
            trusted_since: now,
        });
        Self { offset }
    }

    /// The instant of `stamp`, on bytes that were read at `read`, a moment ago and never later than now. `None` where there is no
    /// stamp, no wall clock, or where a step of the wall clock makes the stamp worthless.
    pub(crate) fn instant_of(
        &mut self,
        stamp: Option<WallNanos>,
        read: Nanos,
        clock: &dyn Now,
    ) -> Option<Nanos> {
        let stamp = stamp?;
        let offset = self.offset?.followed(read, clock)?;
        self.offset = Some(offset);
        let at = Nanos(u64::try_from(offset.ahead.wrapping_add(stamp.0 as i64)).ok()?);
        // Two clocks cannot be read at once, so that a stamp may seem to come from a little later than now.
        (at >= offset.trusted_since && at <= read + TOLERANCE).then(|| at.min(read))
    }
}

impl ClockOffset {
    /// The offset after a look at both clocks.
    fn followed(self, read: Nanos, clock: &dyn Now) -> Option<Self> {
        let sample = ahead(read, clock.wall()?);
        if let Some(drifted) = self.drifted(sample, read) {
            return Some(drifted);
        }
        // A thread that lost its core between the two readings sees what looks like a step, but hardly twice in a row.
        let again = clock.now();
        let sample = ahead(again, clock.wall()?);
        Some(self.drifted(sample, again).unwrap_or_else(|| self.stepped(sample, again)))
    }

    /// The offset where `sample` differs by no more than drift and noise allow.
    ///
    /// The wall clock is read second, and so whatever comes between makes a sample too small and never too large. Hence the
    /// largest is the best, as long as no drift can have made it obsolete.
    fn drifted(self, sample: i64, now: Nanos) -> Option<Self> {
        let drift = (now.since(self.sampled).0 / DRIFT) as i64;
        let within = self.ahead.abs_diff(sample) <= TOLERANCE.0 + drift.unsigned_abs();
        within.then(|| Self { ahead: sample.max(self.ahead - drift), sampled: now, ..self })
    }

    /// The offset after a step of the wall clock somewhere between the last sample and this one.
    ///
    /// A stamp from before the step maps to the past where the clock went forward. Where it went back by an hour, such a stamp
    /// maps to the future, and is refused for that; where it went back by less than bytes may have waited, it maps to an instant
    /// that is at most the length of the step from now, and until then nothing is trusted.
    fn stepped(self, sample: i64, now: Nanos) -> Self {
        let back = Nanos(sample.saturating_sub(self.ahead).max(0).unsigned_abs());
        Self { ahead: sample, sampled: now, trusted_since: now + back.min(LONGEST_WAIT) }
    }
}

fn ahead(now: Nanos, wall: WallNanos) -> i64 {
    (now.0 as i64).wrapping_sub(wall.0 as i64)
}

#[cfg(test)]
mod tests;
