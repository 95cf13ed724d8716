//! The signature service of a run: found, or started; and who signs there.

use std::fs;
use std::sync::Arc;

use hammer_cms::signature::KnownSigner;
use hammer_exchange::token::TokenPlan;
use hammer_lab::LabError;
use hammer_lab_pki::{PkiLabHandle, PkiLabPlan};
use hammer_net::Secret;
use hammer_pki::plan::{MadeAuthoritiesPlan, PkiTargetPlan};
use hammer_pki::{Dialect, PkiError, Signer, SignerIssuers, signers};
use hammer_tlog::keys::chain::{ChainError, TrustedAuthorities, certificates_of_pem};
use hammer_values::ServiceUrl;
use http::Uri;

use super::list_server::ListServer;
use super::roots::authorities;
use super::sections::{LAB, TARGET, lab, target};
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::PlanFault;
use crate::plan::path::PlanPath;
use crate::protocol::lab::{Lab, own_url, unstarted};
use crate::protocol::service::permitted;

/// A service that was found or started.
#[derive(Clone)]
pub(super) struct SigningService {
    pub(super) endpoints: Vec<Uri>,
    pub(super) dialect: Dialect,
    pub(super) token: Option<Secret>,
    /// Who signs, in turn.
    pub(super) signers: Vec<Arc<Signer>>,
    /// The same as their signatures are verified by.
    pub(super) known: Arc<[KnownSigner]>,
    /// Who is trusted with timestamps.
    pub(super) timestamps: Option<TrustedAuthorities>,
    pub(super) skew_ms: u64,
    /// The lists of revoked certificates of the authorities that were made, where there are some.
    pub(super) lists: Option<Arc<ListServer>>,
}

/// Finds the service of a plan, or starts it.
///
/// # Errors
/// When it does not start, or what it lets in by cannot be read.
pub(super) fn opened(plan: &Plan, labs: &mut Vec<Box<dyn Lab>>) -> Result<SigningService, CliError> {
    match (lab(plan), target(plan)) {
        (Some(settings), beside) => started(plan, settings, beside, labs),
        (None, Some(written)) => found(plan, written),
        (None, None) => Err(PlanFault::Missing.at(PlanPath::of("target").key(TARGET)).into()),
    }
}

fn started(
    plan: &Plan,
    settings: &PkiLabPlan,
    beside: Option<&PkiTargetPlan>,
    labs: &mut Vec<Box<dyn Lab>>,
) -> Result<SigningService, CliError> {
    let at = PlanPath::of("target.lab").key(LAB);
    let refused = |error: LabError| unstarted(error, &at);
    let signing = signing(plan, &beside.cloned().unwrap_or_default())?;
    let mut settings = settings.clone();
    for authority in signing.lists.iter().flat_map(|lists| lists.authorities.iter()) {
        settings.roots_pem += authority.pem();
    }
    let token = Secret::new(&settings.access_token);
    let unusable = |reason: String| refused(LabError::Plan { key: "access_token".into(), reason });
    let token = token.map_err(|why| unusable(why.to_string()))?;
    let lab = PkiLabHandle::spawn(settings).map_err(refused)?;
    let roots = lab.target().timestamp_authority().pem().join("\n");
    let roots = TrustedAuthorities::from_pem(&roots);
    let opened = SigningService {
        endpoints: vec![own_url(&lab.url).map_err(refused)?.url().clone()],
        token: Some(token),
        timestamps: Some(roots.map_err(|why| refused(of_authority(&why)))?),
        ..signing
    };
    labs.push(Box::new(lab));
    Ok(opened)
}

fn found(plan: &Plan, written: &PkiTargetPlan) -> Result<SigningService, CliError> {
    let at = PlanPath::of("target").key(TARGET);
    let failed = |error: PkiError| PlanFault::failed(error).at(at.clone());
    let token = written.token.as_ref().map(TokenPlan::read);
    let token = token.transpose().map_err(|error| failed(error.into()))?;
    let timestamps = timestamp_roots(written).map_err(failed)?;
    let endpoints = written.url.as_slice().iter().map(|url| url.url().clone()).collect();
    Ok(SigningService { endpoints, token, timestamps, ..signing(plan, written)? })
}

/// The part of a service that is about who signs there.
fn signing(plan: &Plan, written: &PkiTargetPlan) -> Result<SigningService, CliError> {
    let at = PlanPath::of("target").key(TARGET);
    let failed = |error: PkiError| PlanFault::failed(error).at(at.clone());
    let lists = lists(plan, written)?;
    let crl = written.made_authorities.as_ref().and_then(|made| made.crl.url.as_ref());
    let lists_url = crl.map(|url| url.url().to_string());
    let issuers = lists.as_ref().map(|lists| SignerIssuers {
        authorities: &lists.authorities,
        lists_url: lists_url.as_deref().unwrap_or_else(|| lists.url()),
    });
    let signers = signers(written, plan.seed, issuers.unwrap_or_default()).map_err(failed)?;
    let known = signers.iter().map(|signer| KnownSigner::new(signer.key.certificate().to_vec()));
    Ok(SigningService {
        endpoints: Vec::new(),
        dialect: written.dialect,
        token: None,
        known: known.collect::<Result<_, _>>().map_err(|error| failed(PkiError::from(error)))?,
        signers,
        timestamps: None,
        skew_ms: u64::try_from(written.skew.duration().as_millis()).unwrap_or(u64::MAX),
        lists: lists.map(Arc::new),
    })
}

/// Serves the lists of revoked certificates of the authorities that are made.
fn lists(plan: &Plan, written: &PkiTargetPlan) -> Result<Option<ListServer>, CliError> {
    let Some(MadeAuthoritiesPlan { crl, .. }) = &written.made_authorities else { return Ok(None) };
    let at = PlanPath::of("target").key(TARGET).key("made_authorities").key("crl");
    permitted(crl.url.iter().map(ServiceUrl::url), plan.target.authorized.as_deref())?;
    let unserved = |error: LabError| PlanFault::from(error).at(at.key("listen"));
    let server = ListServer::start(authorities(plan)?, crl, written.skew.duration());
    Ok(Some(server.map_err(unserved)?))
}

fn timestamp_roots(written: &PkiTargetPlan) -> Result<Option<TrustedAuthorities>, PkiError> {
    let mut all = Vec::new();
    for path in &written.timestamp_roots_pem_files {
        let text = fs::read_to_string(path).map_err(|source| PkiError::Read {
            path: path.clone(),
            key: "timestamp_roots_pem_files",
            source,
        })?;
        let unusable = |source| PkiError::TimestampRoots { path: path.clone(), source };
        all.extend(certificates_of_pem(&text).map_err(unusable)?);
    }
    // A root may be in one file, and what it issued in another.
    let Some(last) = written.timestamp_roots_pem_files.last() else { return Ok(None) };
    let unusable = |source| PkiError::TimestampRoots { path: last.clone(), source };
    TrustedAuthorities::from_der(all).map(Some).map_err(unusable)
}

fn of_authority(why: &ChainError) -> LabError {
    LabError::Plan { key: "key_seed".into(), reason: why.to_string() }
}

/// By what the observations of lists are called.
pub(super) const LISTS: &str = "crl";
