//! The roots that a log must accept.

use hammer_ct::Roots;

use super::sections::{SUBMIT, submission};
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;

/// The roots of every chain that the plan submits, in DER.
///
/// # Errors
/// When the user's own CA cannot be read, or chains come from files.
pub(crate) fn roots(plan: &Plan) -> Result<Vec<Roots>, PlanError> {
    let submits = plan.workloads.iter().enumerate();
    let submits = submits.filter_map(|(place, workload)| Some((place, submission(workload)?)));
    let roots = |(place, submit)| {
        let at = PlanPath::workload(place).key(SUBMIT);
        hammer_ct::roots(submit, plan.seed).map_err(|error| PlanFault::failed(error).at(at))
    };
    submits.map(roots).collect()
}
