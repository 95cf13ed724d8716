//! The interval that rates are told of.

use std::sync::Arc;

use hammer_measure::Nanos;
use hammer_measure::snapshot::{SeriesFigures, Snapshot};

/// The last interval that was long enough to tell how fast anything went.
#[derive(Clone, Debug)]
pub(in crate::tui) struct RatedInterval {
    snapshot: Arc<Snapshot>,
    /// Its length.
    pub(in crate::tui) span: Nanos,
    /// The share of its cores that the process used over it, 0 to 1; `None` of the first, which nothing was read before.
    pub(in crate::tui) cpu_share: Option<f64>,
}

impl RatedInterval {
    /// That of a snapshot, so long, behind another one. `None` where it is less than a tenth of what was planned: where phases meet an interval may
    /// last microseconds, in which a single operation is thousands a second, and a tick of the CPU's clock is hundreds of cores.
    pub(super) fn of(
        snapshot: &Arc<Snapshot>,
        (span, planned): (Nanos, Nanos),
        before: Option<&Snapshot>,
    ) -> Option<Self> {
        if span == Nanos::ZERO || span * SHORTEST_PART < planned {
            return None;
        }
        let cpu_share = before.map(|before| {
            let available = span.as_secs_f64() * f64::from(snapshot.resources.cores.max(1));
            let used = snapshot.resources.cpu_seconds() - before.resources.cpu_seconds();
            (used / available).max(0.0)
        });
        Some(Self { snapshot: Arc::clone(snapshot), span, cpu_share })
    }

    /// The figures of the series at that place over it.
    pub(in crate::tui) fn series(&self, place: usize) -> Option<&SeriesFigures> {
        self.snapshot.series.get(place).map(|series| &series.interval)
    }

    /// So many of it, a second.
    pub(in crate::tui) fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.span.as_secs_f64()
    }
}

/// Of how many of the planned intervals one is too short.
const SHORTEST_PART: u64 = 10;
