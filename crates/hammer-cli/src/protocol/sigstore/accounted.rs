//! Flows as the published k6 scripts for Red Hat Trusted Artifact Signer count them: signing is five requests a flow, two of which go to
//! a helper beside k6, and verifying two.

use hammer_report::report::AccountedJob;

use super::sections::{mixed, sign, verify};
use crate::plan::Plan;

/// The jobs that have flows in the run of `plan` that is measured: what only fills is in none of its figures.
pub(super) fn jobs(plan: &Plan) -> Vec<AccountedJob> {
    let mut signing = job("signing", ASKED_OF_HELPER);
    let mut verifying = job("verifying", 0);
    for (_, workload) in plan.measured() {
        let name = workload.name.as_str();
        if sign(workload).is_some() {
            add(&mut signing, &format!("{name}/"), "sign", &SIGN_STEPS);
        }
        if verify(workload).is_some() {
            add(&mut verifying, &format!("{name}/"), "verify", &VERIFY_STEPS);
        }
        if mixed(workload).is_some() {
            add(&mut signing, &format!("{name}/sign/"), "sign", &SIGN_STEPS);
            add(&mut verifying, &format!("{name}/verify/"), "verify", &VERIFY_STEPS);
        }
    }
    [signing, verifying].into_iter().filter(|job| !job.operations.is_empty()).collect()
}

fn job(job: &'static str, not_sent: u64) -> AccountedJob {
    AccountedJob { job, operations: Vec::new(), requests: Vec::new(), not_sent }
}

fn add(job: &mut AccountedJob, below: &str, operation: &str, steps: &[&str]) {
    job.operations.push(format!("{below}{operation}"));
    job.requests.extend(steps.iter().map(|step| format!("{below}{step}")));
}

/// Key and signatures, which hammer makes ahead. The other request to the helper has it ask for the timestamp, for which hammer asks
/// itself.
const ASKED_OF_HELPER: u64 = 1;
const SIGN_STEPS: [&str; 5] = ["fulcio", "rekor", "rekor-tiles", "timestamp", "rekor-timestamp"];
/// Of either Rekor.
const VERIFY_STEPS: [&str; 5] =
    ["rekor-entry", "rekor-checkpoint", "rekor-bundle", "rekor-tile", "timestamp-chain"];
