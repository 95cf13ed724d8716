//! Which logs a workload goes to.

use super::fault::LogFault;
use super::sections::{READ, SUBMIT, read, submission};
use crate::plan::WorkloadPlan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;

/// The places in `logs` of those that the workload at `place` of the plan names, or of all; none where it is no workload on
/// logs.
///
/// # Errors
/// When there is no log, or none of a name, or a name stands there twice.
pub(super) fn places(workload: &WorkloadPlan, logs: &[&str], place: usize) -> Result<Vec<usize>, PlanError> {
    let (of, key, names) = match (submission(workload), read(workload)) {
        (Some(submit), _) => (SUBMIT, "logs", submit.logs.as_slice()),
        (None, Some(read)) => (READ, "log", read.log.as_slice()),
        (None, None) => return Ok(Vec::new()),
    };
    let at = PlanPath::workload(place).key(of);
    if logs.is_empty() {
        return Err(PlanFault::said(LogFault::NoLog).at(at));
    }
    if names.is_empty() {
        return Ok((0..logs.len()).collect());
    }
    let mut places = Vec::new();
    for name in names {
        let refused = |fault: LogFault| PlanFault::said(fault).at(at.clone().key(key));
        let Some(place) = logs.iter().position(|log| *log == name.as_str()) else {
            return Err(refused(LogFault::UnknownLog(name.to_string())));
        };
        if places.contains(&place) {
            return Err(refused(LogFault::LogTwice(name.to_string())));
        }
        places.push(place);
    }
    Ok(places)
}
