//! The series of a sign flow, in the order of its steps.

use hammer_core::workload::SeriesSpec;

use crate::plan::{FulcioInterface, RekorVersion, SignPlan};

/// The place of each step's series among those of the workload; none where a flow has no such step.
#[derive(Debug)]
pub(super) struct SignSeries {
    names: Vec<&'static str>,
    pub(super) fulcio: Option<usize>,
    pub(super) rekor: Option<usize>,
    pub(super) timestamp: Option<usize>,
    pub(super) timestamp_entry: Option<usize>,
}

impl SignSeries {
    pub(super) fn of(plan: &SignPlan) -> Self {
        let mut names = vec!["sign"];
        let mut step = |name: Option<&'static str>| {
            names.push(name?);
            Some(names.len() - 1)
        };
        let fulcio = step((plan.fulcio != FulcioInterface::None).then_some("fulcio"));
        let rekor = step(match plan.rekor {
            RekorVersion::V1 => Some("rekor"),
            RekorVersion::V2 | RekorVersion::V2Grpc => Some("rekor-tiles"),
            RekorVersion::None => None,
        });
        let timestamp = step(plan.timestamp.then_some("timestamp"));
        let timestamp_entry = step(plan.timestamp_entry.then_some("rekor-timestamp"));
        Self { names, fulcio, rekor, timestamp, timestamp_entry }
    }

    pub(super) fn specs(&self) -> Vec<SeriesSpec> {
        let spec = |(place, name): (usize, &&str)| SeriesSpec::new(*name, place == 0);
        self.names.iter().enumerate().map(spec).collect()
    }
}
