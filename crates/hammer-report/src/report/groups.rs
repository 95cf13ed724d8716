//! What each group of a workload's users did.

use hammer_measure::recorder::{GroupRecord, phase_index};
use hammer_measure::snapshot::{RunInfo, RunResult};
use hammer_measure::{Nanos, Phase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::series::{Series, SeriesKind};

/// The groups that the users of a workload are counted by, in measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadGroups {
    /// The workload.
    pub workload: String,
    /// Each group, in order.
    pub groups: Vec<GroupFigures>,
    /// All of them together.
    pub all: GroupFigures,
}

/// Operations of a group that ended by an answer, a failure or their deadline; of all series of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupFigures {
    /// How many.
    pub operations: u64,
    /// Those that were accepted.
    pub accepted: u64,
    /// The others.
    pub failed: u64,
    /// The mean of their response times; `null` where there are none.
    pub mean_ns: Option<u64>,
    /// The longest of these; `null` where there are none.
    pub max_ns: Option<u64>,
    /// When the longest was done; `null` where there are none.
    pub max_at_ns: Option<u64>,
}

impl WorkloadGroups {
    /// Every workload whose users are counted by group, in the order of the plan.
    pub(crate) fn all(info: &RunInfo, result: &RunResult) -> Vec<Self> {
        let of_series = info.series.iter().zip(&result.total.series);
        let records = of_series
            .map(|(info, records)| (&info.workload, &records[phase_index(Phase::Measurement)].groups));
        let counted = records.filter(|(_, groups)| !groups.is_empty());
        counted.map(|(workload, groups)| Self::of(workload, groups)).collect()
    }

    fn of(workload: &str, groups: &[GroupRecord]) -> Self {
        let all = groups.iter().fold(GroupRecord::default(), |mut all, group| {
            all.add(group);
            all
        });
        Self {
            workload: workload.to_owned(),
            groups: groups.iter().map(GroupFigures::of).collect(),
            all: GroupFigures::of(&all),
        }
    }

    /// What contradicts the series of the report, which are told by operations and not by users.
    pub(super) fn problem(&self, series: &[Series]) -> Option<String> {
        let operations = series.iter().filter(|series| series.kind == SeriesKind::Operation);
        let of_workload = operations.filter(|series| series.workload == self.workload);
        let completed: u64 = of_workload.map(|series| series.measurement.counts.completed).sum();
        let of_groups: u64 = self.groups.iter().map(|group| group.operations).sum();
        let is_sum = of_groups == completed && self.all.operations == completed;
        (!is_sum).then(|| format!("{}: {completed} completed, but {of_groups} of its groups", self.workload))
    }
}

impl GroupFigures {
    fn of(record: &GroupRecord) -> Self {
        let GroupRecord { completed, accepted, time, longest, longest_done } = *record;
        let of_some = |nanos: Nanos| (completed > 0).then_some(nanos.0);
        Self {
            operations: completed,
            accepted,
            failed: completed - accepted,
            mean_ns: time.0.checked_div(completed),
            max_ns: of_some(longest),
            max_at_ns: of_some(longest_done),
        }
    }
}
