//! The generator's own CPU over the measurement phase, and what took it.

use hammer_measure::Nanos;
use hammer_measure::health::CpuEvidence;
use hammer_measure::snapshot::Resources;

/// What was used at the edges of the measurement phase.
#[derive(Debug, Default)]
pub(super) struct CpuMarks {
    /// At its start.
    pub(super) start: Option<(Nanos, Resources)>,
    /// At its end.
    pub(super) end: Option<(Nanos, Resources)>,
}

impl CpuMarks {
    /// What was used over the phase, until `now` where it has not ended, in which the busiest thread that sends ran for so long.
    pub(super) fn used(&self, now: Nanos, used: Resources, busiest: Nanos) -> CpuEvidence {
        let Some((start, before)) = self.start else { return CpuEvidence::default() };
        let (end, after) = self.end.unwrap_or((now, used));
        let seconds = end.since(start).as_secs_f64();
        let available = seconds * used.available_cores();
        // Of less than half a second nothing can be said.
        let share = |of: f64, whole: f64| if whole > SHORTEST_JUDGED { of / whole } else { 0.0 };
        let (earlier, later) = (before.surroundings, after.surroundings);
        CpuEvidence {
            seconds,
            share: share(after.cpu_seconds() - before.cpu_seconds(), available),
            busiest_shard: share(busiest.as_secs_f64(), seconds),
            throttled: later.throttled - earlier.throttled,
            stolen: share(later.stolen - earlier.stolen, seconds * f64::from(used.cores.max(1))),
            pressed: share(later.pressed - earlier.pressed, seconds),
        }
    }
}

/// CPU seconds are counted in ticks of 10 ms: below half a second a share of them says nothing.
const SHORTEST_JUDGED: f64 = 0.5;

#[cfg(test)]
mod tests {
    use hammer_measure::snapshot::Surroundings;

    use super::*;

    fn used(cpu_user: f64, surroundings: Surroundings) -> Resources {
        Resources { cpu_user, cores: 2, surroundings, ..Resources::default() }
    }

    #[test]
    fn the_share_is_of_all_cores_and_of_the_phase_alone() {
        let (before, now) = (used(2.0, Surroundings::default()), used(10.0, Surroundings::default()));
        let mut marks = CpuMarks { start: Some((Nanos::from_secs(1), before)), end: None };
        let of = |marks: &CpuMarks| marks.used(Nanos::from_secs(11), now, Nanos::from_secs(4));
        let found = of(&marks);
        assert_eq!((found.share, found.seconds, found.busiest_shard), (0.4, 10.0, 0.4));
        marks.end = Some((Nanos::from_secs(5), used(6.0, Surroundings::default())));
        assert_eq!((of(&marks).share, of(&marks).seconds, of(&marks).busiest_shard), (0.5, 4.0, 1.0));
        assert_eq!(of(&CpuMarks::default()), CpuEvidence::default());
    }

    #[test]
    fn a_quota_is_cores_and_what_took_them_is_told_of_the_phase() {
        let before = Surroundings { quota: Some(0.5), throttled: 1.0, stolen: 2.0, pressed: 3.0 };
        let after = Surroundings { throttled: 1.5, stolen: 4.0, pressed: 8.0, ..before };
        let marks = CpuMarks { start: Some((Nanos::ZERO, used(1.0, before))), end: None };
        let found = marks.used(Nanos::from_secs(10), used(6.0, after), Nanos::ZERO);
        assert_eq!((found.share, found.throttled, found.stolen, found.pressed), (1.0, 0.5, 0.1, 0.5));
    }
}
