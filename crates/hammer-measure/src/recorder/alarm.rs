//! How late a shard's alarms were heard.

use serde::{Deserialize, Serialize};

use crate::histogram::Distribution;
use crate::timing::Nanos;

/// What an alarm was late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateAlarm {
    /// Heard − due.
    pub late: Nanos,
    /// How much of that the shard's thread did not run, at least; nothing where that is below a millisecond.
    pub stood: Nanos,
}

/// The alarms of shards over some time. They ring for every arrival that is due, and each 10 ms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlarmRecord {
    /// Heard − due.
    pub late: Distribution,
    /// How long shards stood still, added up over them.
    pub stood: Nanos,
}

impl AlarmRecord {
    pub(super) fn heard(&mut self, alarm: LateAlarm) {
        self.late.record(alarm.late);
        self.stood = self.stood.saturating_add(alarm.stood);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.late.merge(&other.late);
        self.stood = self.stood.saturating_add(other.stood);
    }

    /// Forgets everything and keeps the allocation.
    pub(super) fn clear(&mut self) {
        self.late.clear();
        self.stood = Nanos::ZERO;
    }
}
