//! Operations as the stress test counts them that was published for Rest PKI: by type, without what they consist of.

use hammer_pki::SignatureKind;
use hammer_report::report::AccountedJob;

use super::sections::{authenticate, sign, timestamp};
use crate::plan::Plan;

/// The types of which operations are in the run of `plan` that is measured, in the order in which that test has them.
pub(super) fn jobs(plan: &Plan) -> Vec<AccountedJob> {
    let mut jobs =
        TYPES.map(|(job, _)| AccountedJob { job, operations: Vec::new(), requests: Vec::new(), not_sent: 0 });
    for (_, workload) in plan.measured() {
        let signed = sign(workload).into_iter().flat_map(|plan| plan.mix.drawn());
        let signed = signed.map(|(kind, _)| SignatureKind::name(*kind));
        let login = authenticate(workload).map(|_| "authentication");
        let stamped = timestamp(workload).map(|_| "timestamp");
        for name in signed.chain(login).chain(stamped) {
            let of_type = TYPES.iter().zip(&mut jobs).find(|((_, series), _)| *series == name);
            let path = format!("{}/{name}", workload.name);
            of_type.into_iter().for_each(|(_, job)| job.operations.push(path.clone()));
        }
    }
    jobs.into_iter().filter(|job| !job.operations.is_empty()).collect()
}

/// What a type is called there, and the series of it here.
const TYPES: [(&str, &str); 6] = [
    ("Authentication", "authentication"),
    ("CAdES", "cades"),
    ("CAdES-T", "cades-t"),
    ("PAdES", "pades"),
    ("PAdES-T", "pades-t"),
    ("Timestamp", "timestamp"),
];
