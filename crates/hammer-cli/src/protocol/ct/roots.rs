//! The roots that a log must accept.

use hammer_ct::{Roots, SubmitPlan};

use super::sections::{SUBMIT, submission};
use crate::error::TargetError;
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;

/// The roots of every chain that the plan submits, in DER.
///
/// # Errors
/// When the user's own CA cannot be read, or chains come from files.
pub(crate) fn roots(plan: &Plan) -> Result<Vec<Roots>, PlanError> {
    roots_of(plan, |_| true)
}

/// Those of the chains that are minted, for a log that is given the roots of others.
///
/// # Errors
/// When the user's own CA cannot be read.
pub(super) fn minted_roots(plan: &Plan) -> Result<Vec<Roots>, PlanError> {
    roots_of(plan, |submit| submit.chains.is_empty())
}

/// Those of the chains that `hammer ct submit` sends in a run of that seed.
///
/// # Errors
/// Never, since they are derived.
pub(crate) fn of_one_line(seed: u64) -> Result<Roots, TargetError> {
    hammer_ct::roots(&SubmitPlan::default(), seed).map_err(TargetError::failed)
}

fn roots_of(plan: &Plan, is_meant: impl Fn(&SubmitPlan) -> bool) -> Result<Vec<Roots>, PlanError> {
    let submits = plan.workloads.iter().enumerate();
    let submits = submits.filter_map(|(place, workload)| Some((place, submission(workload)?)));
    let submits = submits.filter(|(_, submit)| is_meant(submit));
    let roots = |(place, submit)| {
        let at = PlanPath::workload(place).key(SUBMIT);
        hammer_ct::roots(submit, plan.seed).map_err(|error| PlanFault::failed(error).at(at))
    };
    submits.map(roots).collect()
}
