//! What commands do to a schedule: a piecewise linear map from the schedule's time to the run's. Without a command it
//! only adds the load's start, so that planned instants stay pure.

use hammer_measure::Nanos;

/// The map in force.
#[derive(Clone, Copy, Debug)]
pub struct Warp {
    run_anchor: Nanos,
    schedule_anchor: Nanos,
    factor: f64,
    paused: bool,
}

impl Warp {
    /// As planned, the schedule's zero being `start`.
    pub fn starting_at(start: Nanos) -> Self {
        Self { run_anchor: start, schedule_anchor: Nanos::ZERO, factor: 1.0, paused: false }
    }

    /// The run's instant of the schedule's `at`; `None` while nothing arrives.
    pub fn intended(&self, at: Nanos) -> Option<Nanos> {
        if self.paused || self.factor <= 0.0 {
            return None;
        }
        let span = at.since(self.schedule_anchor);
        let stretched = if self.factor == 1.0 { span } else { Nanos((span.0 as f64 / self.factor) as u64) };
        Some(self.run_anchor.saturating_add(stretched))
    }

    /// From `now` on arrivals come `factor` times as fast as planned.
    pub fn set_factor(&mut self, now: Nanos, factor: f64) {
        self.anchor(now);
        self.factor = factor.max(0.0);
    }

    /// From `now` on nothing arrives.
    pub fn pause(&mut self, now: Nanos) {
        self.anchor(now);
        self.paused = true;
    }

    /// From `now` on it goes on where it was paused.
    pub fn resume(&mut self, now: Nanos) {
        self.anchor(now);
        self.paused = false;
    }

    fn anchor(&mut self, now: Nanos) {
        let elapsed = now.since(self.run_anchor);
        if !self.paused {
            let passed = Nanos((elapsed.0 as f64 * self.factor) as u64);
            self.schedule_anchor = self.schedule_anchor.saturating_add(passed);
        }
        self.run_anchor = self.run_anchor.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_command_only_the_start_is_added() {
        let warp = Warp::starting_at(Nanos(500));
        assert_eq!(warp.intended(Nanos(123_456_789)), Some(Nanos(123_457_289)));
    }

    #[test]
    fn a_factor_beyond_all_time_leaves_nothing_to_come() {
        let mut warp = Warp::starting_at(Nanos::ZERO);
        for now in [100, 200, 300] {
            warp.set_factor(Nanos(now), f64::MAX);
        }
        assert_eq!(warp.intended(Nanos::MAX), Some(Nanos(300)), "all of it is due");
    }

    #[test]
    fn a_pause_shifts_what_comes_after_it() {
        let mut warp = Warp::starting_at(Nanos::ZERO);
        warp.pause(Nanos(100));
        assert_eq!(warp.intended(Nanos(150)), None);
        warp.resume(Nanos(300));
        assert_eq!(warp.intended(Nanos(150)), Some(Nanos(350)));
    }

    #[test]
    fn twice_the_rate_halves_the_rest() {
        let mut warp = Warp::starting_at(Nanos::ZERO);
        warp.set_factor(Nanos(100), 2.0);
        assert_eq!(warp.intended(Nanos(300)), Some(Nanos(200)));
        warp.set_factor(Nanos(150), 1.0);
        assert_eq!(warp.intended(Nanos(300)), Some(Nanos(250)));
    }
}
