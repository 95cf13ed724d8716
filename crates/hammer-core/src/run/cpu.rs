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

impl CpuMarks {
    /// The share of all cores that was used over the phase, until `now` where it has not ended.
    pub(super) fn share(&self, now: Nanos, used: Resources) -> f64 {
        let Some((start, before)) = self.start else { return 0.0 };
        let (end, after) = self.end.unwrap_or((now, used.cpu_seconds()));
        let available = end.since(start).as_secs_f64() * f64::from(used.cores.max(1));
        if available > SHORTEST_JUDGED { (after - before) / available } else { 0.0 }
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
        assert_eq!(marks.share(Nanos::from_secs(11), used), 0.4);
        marks.end = Some((Nanos::from_secs(5), 6.0));
        assert_eq!(marks.share(Nanos::from_secs(11), used), 0.5);
        assert_eq!(CpuMarks::default().share(Nanos::from_secs(11), used), 0.0);
    }
}
