//! What figures say together: that nobody fetched the lists of revoked certificates that are served.

use hammer_report::Report;
use hammer_report::text::number::grouped;

use super::sections::target;
use crate::plan::Plan;
use crate::protocol::Conclusion;

use super::opened::LISTS;

/// All of them.
pub(super) fn all(plan: &Plan, report: &Report) -> Vec<Conclusion> {
    let made = target(plan).and_then(|target| target.made_authorities.as_ref());
    made.and_then(|_| without_a_fetch(report)).into_iter().collect()
}

fn without_a_fetch(report: &Report) -> Option<Conclusion> {
    let seen = |name: &str| {
        let name = format!("{LISTS}/{name}");
        let seen = report.observations.iter().find(|seen| seen.name == name)?;
        Some(seen.last.value as u64)
    };
    if seen(hammer_pki::FETCHES)? > 0 {
        return None;
    }
    let why = match (seen(hammer_pki::GIVEN_UP)?, seen(hammer_pki::ELSEWHERE)?) {
        (0, 0) => "the service does not check revocation, or had the lists already".to_owned(),
        (0, elsewhere) => format!("{} requests asked for something else", grouped(elsewhere)),
        (given_up, _) => format!(
            "{} fetches were given up before `made_authorities.crl.delay` was over",
            grouped(given_up)
        ),
    };
    Some(Conclusion::Note(format!("no list of revoked certificates (CRL) was fetched: {why}")))
}
