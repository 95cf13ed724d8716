//! The series of verify flows.

use hammer_core::workload::SeriesSpec;

use crate::plan::VerifyPlan;

/// The places of the series, behind the flow's own.
#[derive(Clone, Debug)]
pub(super) struct VerifySeries {
    pub(super) new_session: usize,
    pub(super) evidence: usize,
    pub(super) poll: usize,
    pub(super) result: Option<usize>,
    pub(super) delete: Option<usize>,
    pub(super) provision: Option<usize>,
    names: Vec<&'static str>,
}

impl VerifySeries {
    pub(super) fn of(plan: &VerifyPlan) -> Self {
        let mut names = vec!["verify"];
        let mut place = |name: &'static str| {
            names.push(name);
            names.len() - 1
        };
        let (new_session, evidence, poll) = (place("new-session"), place("evidence"), place("poll"));
        let result = plan.read_result.then(|| place("result"));
        let delete = plan.delete.then(|| place("delete"));
        let provision = plan.provision_at_start.then(|| place("provision"));
        Self { new_session, evidence, poll, result, delete, provision, names }
    }

    pub(super) fn specs(&self) -> Vec<SeriesSpec> {
        self.names.iter().enumerate().map(|(place, name)| SeriesSpec::new(*name, place == 0)).collect()
    }
}
