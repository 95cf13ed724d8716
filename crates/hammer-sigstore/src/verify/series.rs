//! The series of a verify flow, in the order of its steps.

use hammer_core::workload::SeriesSpec;

use crate::plan::{ReadRekor, VerifyBy, VerifyPlan};

/// The places of the steps' series among those of the workload.
#[derive(Debug)]
pub(super) struct VerifySeries {
    names: Vec<&'static str>,
    pub(super) entry: EntrySeries,
    pub(super) timestamp_chain: Option<usize>,
}

/// Those of the steps that read the entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntrySeries {
    Rekor(RekorSeries),
    Tiles(TilesSeries),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RekorSeries {
    pub(super) search: Option<usize>,
    pub(super) entry: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TilesSeries {
    pub(super) checkpoint: usize,
    pub(super) bundle: usize,
    pub(super) tile: usize,
}

impl VerifySeries {
    pub(super) fn of(plan: &VerifyPlan) -> Self {
        let mut names = vec!["verify"];
        let mut step = |name: &'static str| {
            names.push(name);
            names.len() - 1
        };
        let entry = match plan.rekor {
            ReadRekor::V1 => {
                let search = (plan.by == VerifyBy::Search).then(|| step("rekor-search"));
                EntrySeries::Rekor(RekorSeries { search, entry: step("rekor-entry") })
            }
            ReadRekor::V2 => {
                let [checkpoint, bundle, tile] =
                    ["rekor-checkpoint", "rekor-bundle", "rekor-tile"].map(&mut step);
                EntrySeries::Tiles(TilesSeries { checkpoint, bundle, tile })
            }
        };
        let timestamp_chain = plan.timestamp_chain.then(|| step("timestamp-chain"));
        Self { names, entry, timestamp_chain }
    }

    pub(super) fn specs(&self) -> Vec<SeriesSpec> {
        let spec = |(place, name): (usize, &&str)| SeriesSpec::new(*name, place == 0);
        self.names.iter().enumerate().map(spec).collect()
    }
}
