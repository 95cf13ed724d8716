//! Services that are not those which answers are held to, found before the first arrival.

use std::fmt;
use std::rc::Rc;

use hammer_core::clock::MonotonicClock;
use hammer_core::runtime::Clock;
use hammer_sigstore::{SigstoreService, SigstoreTargetPlan, TrustMismatch, TrustSource};

use super::opened::OpenTarget;
use super::sections::{TARGET, uses};
use crate::before_run;
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::PlanFault;

/// Asks each service that flows of the plan go to, at each of its URLs, who it is. Those that do not say it are noted: the run shows what
/// is of them.
///
/// # Errors
/// The first service that is another than the trusted one.
pub(super) fn look(plan: &Plan, open: &OpenTarget) -> Result<Vec<String>, CliError> {
    let stated = plan.target.unnamed.get::<SigstoreTargetPlan>(TARGET);
    // What an embedded service trusts is its own, and what servers said of themselves was read just now.
    if open.is_embedded() || stated.is_none_or(|target| target.trust == TrustSource::Servers) {
        return Ok(Vec::new());
    }
    let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::starting_now());
    let (mut asked, mut services) = (Vec::new(), Vec::new());
    for service in told(plan) {
        for url in open.target.endpoints.at(service) {
            let client = plan.target.client(None, vec![url.clone()], 1, plan.seed)?;
            asked.push(open.target.trust.look(service, client, Rc::clone(&clock)));
            services.push((service, url));
        }
    }
    let found = before_run::ask(futures::future::join_all(asked))?;
    let mut notes = Vec::new();
    for ((service, url), found) in services.into_iter().zip(found) {
        match found {
            Ok(None) => {}
            Ok(Some(mismatch)) => {
                let at = open.at.clone().key(mismatch.keys()[0]);
                return Err(PlanFault::said(UntrustedService { mismatch }).at(at).into());
            }
            Err(why) => notes.push(format!(
                "before the run {} at {url} did not say who it is ({why}): what it signs is held to what is trusted all the same",
                service.name()
            )),
        }
    }
    Ok(notes)
}

/// The services that flows go to and that say who they are, each once; Rekor v2 says it where its log is read.
fn told(plan: &Plan) -> Vec<SigstoreService> {
    let mut told = Vec::new();
    for service in plan.workloads.iter().filter_map(uses).flat_map(|(_, services)| services) {
        let service = match service {
            SigstoreService::RekorTiles | SigstoreService::RekorTilesGrpc => SigstoreService::RekorTilesRead,
            SigstoreService::Tuf => continue,
            other => other,
        };
        if !told.contains(&service) {
            told.push(service);
        }
    }
    told
}

/// What is wrong, and the keys that mend it: a sentence.
#[derive(Debug)]
struct UntrustedService {
    mismatch: TrustMismatch,
}

impl fmt::Display for UntrustedService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [own, root] = self.mismatch.keys();
        let mismatch = &self.mismatch;
        write!(f, "{mismatch}: `{own}` or the `{root}` says whom to trust, ")?;
        f.write_str(match mismatch {
            TrustMismatch::Origin { .. } => "by default it is the host of `rekor_tiles_url`, ",
            _ => "`trust: servers` believes what services say of themselves, ",
        })?;
        f.write_str("and `--no-preflight` goes on all the same")
    }
}

impl std::error::Error for UntrustedService {}
