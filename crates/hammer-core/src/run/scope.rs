//! Where a threshold applies.

use hammer_measure::{Ledger, SeriesInfo};

/// What a threshold is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All operations of the run together.
    Total,
    /// All operations of a workload together.
    Workload(String),
    /// One series, as `workload/name`.
    Series(String),
}

impl Scope {
    pub(super) fn covers(&self, series: &SeriesInfo) -> bool {
        match self {
            Self::Total => series.operation,
            Self::Workload(name) => series.operation && series.workload == *name,
            Self::Series(path) => series.path() == *path,
        }
    }

    /// The promises of its workloads.
    pub(super) fn promises(&self, promises: &[(String, Ledger)]) -> Ledger {
        let mut ledger = Ledger::default();
        let covered = promises.iter().filter(|(workload, _)| self.covers_workload(workload));
        covered.for_each(|(_, promises)| ledger.add(promises));
        ledger
    }

    fn covers_workload(&self, workload: &str) -> bool {
        match self {
            Self::Total => true,
            Self::Workload(name) => name == workload,
            Self::Series(path) => path.split('/').next() == Some(workload),
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Total => "total",
            Self::Workload(name) | Self::Series(name) => name,
        }
    }
}
