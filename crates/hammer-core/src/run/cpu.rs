//! The generator's own CPU over the measurement phase.

use hammer_measure::Nanos;
use hammer_measure::snapshot::Resources;

/// CPU seconds at the edges of the measurement phase.
#[derive(Debug, Default)]
pub(super) struct CpuMarks {
    /// At its start.
    pub(super) start: Option<(Nanos, f64)>,
    /// At its end.
    pub(super) end: Option<(Nanos, f64)>,
}

/// What was used over the measurement phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CpuUse {
    /// The share of all cores, 0 to 1; 0 of a phase too short to say.
    pub(super) share: f64,
    /// How long the phase was, in seconds.
    pub(super) seconds: f64,
}

impl CpuMarks {
    /// What was used over the phase, until `now` where it has not ended.
    pub(super) fn used(&self, now: Nanos, used: Resources) -> CpuUse {
        let Some((start, before)) = self.start else { return CpuUse::default() };
        let (end, after) = self.end.unwrap_or((now, used.cpu_seconds()));
        let seconds = end.since(start).as_secs_f64();
        let available = seconds * f64::from(used.cores.max(1));
        let share = if available > SHORTEST_JUDGED { (after - before) / available } else { 0.0 };
        CpuUse { share, seconds }
    }
}

/// CPU seconds are counted in ticks of 10 ms: below half a second a share of them says nothing.
const SHORTEST_JUDGED: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_of_all_cores_and_of_the_phase_alone() {
        let used = Resources { cpu_user: 9.0, cpu_system: 1.0, cores: 2, ..Resources::default() };
        let mut marks = CpuMarks { start: Some((Nanos::from_secs(1), 2.0)), end: None };
        assert_eq!(marks.used(Nanos::from_secs(11), used), CpuUse { share: 0.4, seconds: 10.0 });
        marks.end = Some((Nanos::from_secs(5), 6.0));
        assert_eq!(marks.used(Nanos::from_secs(11), used), CpuUse { share: 0.5, seconds: 4.0 });
        assert_eq!(CpuMarks::default().used(Nanos::from_secs(11), used), CpuUse::default());
    }
}
