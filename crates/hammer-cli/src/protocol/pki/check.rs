//! What can be said against a plan for a signature service without asking it.

use hammer_net::guard;
use hammer_pki::plan::{
    MadeAuthoritiesPlan, PkiTargetPlan, SignPlan, TimestampBy, TimestampPlan, ValidatePlan,
};
use hammer_pki::{Dialect, DocumentLengths, Documents, PkiError, is_path_segment};
use hammer_values::{ByteSize, TimeSpan};

use super::accounted;
use super::sections::{
    AUTHENTICATE, SIGN, TARGET, TIMESTAMP, VALIDATE, authenticate, lab, sign, target, timestamp, uses,
    validate,
};
use crate::plan::Plan;
use crate::plan::compat::CompatPlan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;

/// Finds what contradicts itself.
///
/// # Errors
/// What does.
pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    if plan.workloads.iter().any(uses) {
        check_uses(plan)?;
    }
    // Behind what is wrong with a workload, which may be why it counts nothing.
    if plan.compat == Some(CompatPlan::RestPki) && accounted::jobs(plan).is_empty() {
        return Err(PlanFault::Misfit(NOTHING_TO_COUNT.to_owned()).at(PlanPath::of("compat")));
    }
    Ok(())
}

fn check_uses(plan: &Plan) -> Result<(), PlanError> {
    let at_target = PlanPath::of("target").key(TARGET);
    if let Some(target) = target(plan) {
        check_signers(plan, target, &at_target)?;
    }
    let (dialect, has_roots) = match (lab(plan), target(plan)) {
        (Some(_), beside) => {
            beside.map_or(Ok(()), |beside| check_beside_lab(beside, &at_target))?;
            (Dialect::RestPki, true)
        }
        (None, Some(target)) => {
            if target.url.is_empty() {
                return Err(PlanFault::Missing.at(at_target.key("url")));
            }
            check_urls(target, &at_target)?;
            (target.dialect, !target.timestamp_roots_pem_files.is_empty())
        }
        (None, None) => return Err(PlanFault::Misfit(NO_TARGET.to_owned()).at(at_target)),
    };
    for (place, workload) in plan.workloads.iter().enumerate() {
        let at = |key| PlanPath::workload(place).key(key);
        let limit = plan.target.connection_of(None).response_limit;
        let needs_roots = match (sign(workload), validate(workload)) {
            (Some(signs), _) => {
                check_sign(signs, dialect, limit, at(SIGN))?;
                signs.mix.drawn().any(|(kind, _)| kind.has_timestamp())
            }
            (None, Some(validates)) => {
                check_validate(validates, dialect, limit, at(VALIDATE))?;
                !validates.has_files() && validates.mix.drawn().any(|(kind, _)| kind.has_timestamp())
            }
            (None, None) => timestamp(workload).is_some(),
        };
        if authenticate(workload).is_some() && dialect == Dialect::Dss {
            return Err(PlanFault::failed(PkiError::NotOfDss("log in")).at(at(AUTHENTICATE)));
        }
        if let Some(asked) = timestamp(workload) {
            check_timestamp(asked, dialect, at(TIMESTAMP))?;
        }
        if needs_roots && !has_roots {
            return Err(PlanFault::failed(PkiError::NoTimestampRoots).at(at_target));
        }
    }
    Ok(())
}

/// What hammer puts behind a URL itself stands in none.
fn check_urls(target: &PkiTargetPlan, at: &PlanPath) -> Result<(), PlanError> {
    let behind = match target.dialect {
        Dialect::RestPki => "/api",
        Dialect::Dss => "/signature",
    };
    let mut paths = target.url.as_slice().iter().map(|url| url.url().path().trim_end_matches('/'));
    match paths.find(|path| path.to_ascii_lowercase().ends_with(behind)) {
        Some(path) => {
            let why = format!(
                "it ends in `{}`, which hammer puts behind it itself",
                &path[path.len() - behind.len()..]
            );
            Err(PlanFault::Misfit(why).at(at.clone().key("url")))
        }
        None => Ok(()),
    }
}

/// An embedded service is where it is, and says whom its timestamps lead to.
fn check_beside_lab(beside: &PkiTargetPlan, at: &PlanPath) -> Result<(), PlanError> {
    let given = [
        ("url", !beside.url.is_empty()),
        ("dialect", beside.dialect != Dialect::default()),
        ("token", beside.token.is_some()),
        ("timestamp_roots_pem_files", !beside.timestamp_roots_pem_files.is_empty()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((key, _)) => Err(PlanFault::Misfit(OF_LAB.to_owned()).at(at.clone().key(key))),
        None => Ok(()),
    }
}

fn check_signers(plan: &Plan, target: &PkiTargetPlan, at: &PlanPath) -> Result<(), PlanError> {
    if target.made_signers.get() > MOST_MADE {
        return Err(PlanFault::Misfit(TOO_MANY.to_owned()).at(at.clone().key("made_signers")));
    }
    let Some(MadeAuthoritiesPlan { number, crl }) = &target.made_authorities else { return Ok(()) };
    let at = at.clone().key("made_authorities");
    let refused = |why: &str, at: PlanPath| Err(PlanFault::Misfit(why.to_owned()).at(at));
    if !target.signers.is_empty() {
        return refused(ISSUED_ELSEWHERE, at);
    }
    if number.get() > target.made_signers.get() {
        return refused(IDLE_AUTHORITIES, at.key("number"));
    }
    let at = at.key("crl");
    if crl.size > LONGEST_LIST {
        return refused(TOO_LONG, at.key("size"));
    }
    if crl.size.bytes().saturating_mul(number.get() as u64) > MOST_OF_LISTS.bytes() {
        return refused(TOO_MUCH, at.key("size"));
    }
    if crl.valid_for < SHORTEST_VALIDITY {
        return refused(TOO_SHORT, at.key("valid_for"));
    }
    if guard::check("", crl.listen, plan.target.authorized.as_deref()).is_err() {
        return refused(PUBLIC, at.key("listen"));
    }
    if crl.listen.ip().is_unspecified() && crl.url.is_none() {
        return refused(NOWHERE, at.key("url"));
    }
    Ok(())
}

fn check_sign(signs: &SignPlan, dialect: Dialect, limit: ByteSize, at: PlanPath) -> Result<(), PlanError> {
    if signs.mix.is_empty() {
        return Err(PlanFault::failed(PkiError::NothingToSign).at(at));
    }
    if signs.most_size.is_some_and(|most| most < signs.size) {
        return Err(PlanFault::Misfit(BACKWARDS.to_owned()).at(at.key("most_size")));
    }
    if signs.by_digest && dialect != Dialect::Dss {
        return Err(PlanFault::Misfit(NO_DIGEST.to_owned()).at(at.key("by_digest")));
    }
    if signs.by_url && dialect == Dialect::Dss {
        return Err(PlanFault::failed(PkiError::NotOfDss("fetch files by their URLs")).at(at.key("by_url")));
    }
    if signs.multipart_from.is_some() && dialect == Dialect::Dss {
        return Err(
            PlanFault::failed(PkiError::NotOfDss("upload documents in parts")).at(at.key("multipart_from"))
        );
    }
    if signs.security_context.is_some() && dialect == Dialect::Dss {
        return Err(
            PlanFault::failed(PkiError::NotOfDss("name a security context")).at(at.key("security_context"))
        );
    }
    let (key, most) = signs.most_size.map_or(("size", signs.size), |most| ("most_size", most));
    for (key, size) in [("size", signs.size), (key, most)] {
        Documents::new(0, 0, DocumentLengths::Of(size.bytes()))
            .map_err(|unfit| PlanFault::Misfit(unfit.to_string()).at(at.clone().key(key)))?;
    }
    // A file comes back with its signature and a timestamp, and in base64 but from a URL of its own.
    let encoded = if signs.by_url { most.bytes() } else { most.bytes().saturating_mul(4).div_ceil(3) };
    let answer = encoded.saturating_add(BESIDE_DOCUMENT);
    if answer > limit.bytes() {
        let least = answer.div_ceil(1 << 20);
        let why = format!(
            "a document of that size comes back in an answer longer than `target.connection.response_limit`, which has to be {least} MiB at least"
        );
        return Err(PlanFault::Misfit(why).at(at.key(key)));
    }
    Ok(())
}

fn check_timestamp(asked: &TimestampPlan, dialect: Dialect, at: PlanPath) -> Result<(), PlanError> {
    if asked.path.is_some() && asked.by != TimestampBy::Http {
        return Err(PlanFault::Misfit(NO_PATH.to_owned()).at(at.key("path")));
    }
    let Some(plan) = &asked.plan else { return Ok(()) };
    let fault = match (asked.by, dialect) {
        (TimestampBy::Http, _) => PlanFault::Misfit(NO_PLAN.to_owned()),
        (TimestampBy::Json, Dialect::Dss) => {
            PlanFault::failed(PkiError::NotOfDss("name a plan of timestamps"))
        }
        _ if !is_path_segment(plan) => PlanFault::Misfit(NO_NAME.to_owned()),
        _ => return Ok(()),
    };
    Err(fault.at(at.key("plan")))
}

fn check_validate(
    plan: &ValidatePlan,
    dialect: Dialect,
    limit: ByteSize,
    at: PlanPath,
) -> Result<(), PlanError> {
    let unstated = ValidatePlan::default();
    if plan.security_context.is_some() && dialect == Dialect::Dss {
        return Err(
            PlanFault::failed(PkiError::NotOfDss("name a security context")).at(at.key("security_context"))
        );
    }
    if !plan.has_files() {
        let signs = SignPlan { mix: plan.mix.clone(), size: plan.size, ..SignPlan::default() };
        return check_sign(&signs, dialect, limit, at);
    }
    for (key, is_stated) in [("mix", plan.mix != unstated.mix), ("size", plan.size != unstated.size)] {
        if is_stated {
            return Err(PlanFault::Misfit(GIVEN.to_owned()).at(at.key(key)));
        }
    }
    if plan.valid.is_empty() && plan.altered.of_1() > 0.0 {
        return Err(PlanFault::Misfit(NONE_TO_ALTER.to_owned()).at(at.key("altered")));
    }
    if !plan.indeterminate.is_empty() && dialect != Dialect::Dss {
        return Err(PlanFault::Misfit(NO_INDETERMINATE.to_owned()).at(at.key("indeterminate")));
    }
    Ok(())
}

/// Signers are made before the run: more take minutes, in which no signal ends it.
const MOST_MADE: usize = 10_000;
/// Of one authority.
const LONGEST_LIST: ByteSize = ByteSize::from_mib(64);
/// Of all, which are kept in memory.
const MOST_OF_LISTS: ByteSize = ByteSize::from_mib(1024);
/// Times in certificates are whole seconds.
const SHORTEST_VALIDITY: TimeSpan = TimeSpan::from_secs(2);
const TOO_LONG: &str = "it is more than 64 MiB, which is the most";
const TOO_MUCH: &str = "the lists of all authorities have more than 1 GiB, which is the most";
const TOO_SHORT: &str = "it is less than 2s, which is the least";
const PUBLIC: &str =
    "it is neither a loopback nor a private address; `target.authorized` must say who allowed it";
const NOWHERE: &str = "it is not given, and nobody can fetch a list from all addresses: say by which one the service reaches hammer";
const ISSUED_ELSEWHERE: &str =
    "the certificates of `signers` are issued already; it is for made signers alone";
const IDLE_AUTHORITIES: &str = "it is more than `made_signers`: some would issue no certificate";
const OF_LAB: &str = "the service is embedded: beside `lab.pki` it is said who signs (`made_signers`, `made_authorities`, `signers`, `skew`), and nothing else";
const TOO_MANY: &str = "it is more than 10000, which is the most";
/// Bytes of an answer beside the document: certificates, a signature, a timestamp, JSON.
const BESIDE_DOCUMENT: u64 = 64 * 1024;
const NOTHING_TO_COUNT: &str =
    "nothing is signed; give a workload `pki_sign`, `pki_authenticate` or `pki_timestamp`";
const NO_TARGET: &str = "there is no signature service; give `target.pki`, or `target.lab.pki`";
const BACKWARDS: &str = "it is less than `size`, which is the least";
const NO_DIGEST: &str = "Rest PKI takes whole documents alone; `dialect: dss` takes digests";
const GIVEN: &str = "files are given, and nothing is signed for this";
const NONE_TO_ALTER: &str = "there is no file among `valid` to be altered";
const NO_INDETERMINATE: &str = "Rest PKI knows valid and invalid alone; `dialect: dss` has INDETERMINATE";
const NO_PATH: &str = "`by: json` has paths of its own; `by: http` has one of yours";
const NO_PLAN: &str = "RFC 3161 knows no plans of timestamps; `by: json` of Rest PKI does";
const NO_NAME: &str = "it is a segment of a path: letters, digits and -._~!$&'()*+,;=:@";
