//! The signature service of a run: found, or started; and who signs there.

use std::fs;
use std::sync::Arc;

use hammer_cms::signature::KnownSigner;
use hammer_exchange::token::TokenPlan;
use hammer_lab::LabError;
use hammer_lab_pki::{PkiLabHandle, PkiLabPlan};
use hammer_net::Secret;
use hammer_pki::plan::PkiTargetPlan;
use hammer_pki::{Dialect, PkiError, Signer, signers};
use hammer_tlog::keys::chain::{ChainError, TrustedAuthorities};
use http::Uri;

use super::sections::{LAB, TARGET, lab, target};
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::protocol::lab::{Lab, own_url, unstarted};

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
}

/// Finds the service of a plan, or starts it.
///
/// # Errors
/// When it does not start, or what it lets in by cannot be read.
pub(super) fn opened(plan: &Plan, labs: &mut Vec<Box<dyn Lab>>) -> Result<SigningService, CliError> {
    match (lab(plan), target(plan)) {
        (Some(settings), _) => started(plan, settings, labs),
        (None, Some(written)) => Ok(found(plan, written)?),
        (None, None) => Err(PlanFault::Missing.at(PlanPath::of("target").key(TARGET)).into()),
    }
}

fn started(
    plan: &Plan,
    settings: &PkiLabPlan,
    labs: &mut Vec<Box<dyn Lab>>,
) -> Result<SigningService, CliError> {
    let at = PlanPath::of("target.lab").key(LAB);
    let refused = |error: LabError| unstarted(error, &at);
    let lab = PkiLabHandle::spawn(settings.clone()).map_err(refused)?;
    let unusable = |reason: String| refused(LabError::Plan { key: "access_token".into(), reason });
    let token = Secret::new(&settings.access_token).map_err(|why| unusable(why.to_string()))?;
    let roots = lab.target().timestamp_authority().pem().join("\n");
    let roots = TrustedAuthorities::from_pem(&roots);
    let opened = SigningService {
        endpoints: vec![own_url(&lab.url).map_err(refused)?.url().clone()],
        token: Some(token),
        timestamps: Some(roots.map_err(|why| refused(of_authority(&why)))?),
        ..signing(plan, &PkiTargetPlan::default()).map_err(|error| PlanFault::failed(error).at(at.clone()))?
    };
    labs.push(Box::new(lab));
    Ok(opened)
}

fn found(plan: &Plan, written: &PkiTargetPlan) -> Result<SigningService, PlanError> {
    let at = PlanPath::of("target").key(TARGET);
    let failed = |error: PkiError| PlanFault::failed(error).at(at.clone());
    let token = written.token.as_ref().map(TokenPlan::read);
    let token = token.transpose().map_err(|error| failed(error.into()))?;
    let timestamps = timestamp_roots(written).map_err(failed)?;
    let endpoints = written.url.as_slice().iter().map(|url| url.url().clone()).collect();
    Ok(SigningService { endpoints, token, timestamps, ..signing(plan, written).map_err(failed)? })
}

/// The part of a service that is about who signs there.
fn signing(plan: &Plan, written: &PkiTargetPlan) -> Result<SigningService, PkiError> {
    let signers = signers(written, plan.seed)?;
    let known = signers.iter().map(|signer| KnownSigner::new(signer.key.certificate().to_vec()));
    Ok(SigningService {
        endpoints: Vec::new(),
        dialect: written.dialect,
        token: None,
        known: known.collect::<Result<_, _>>()?,
        signers,
        timestamps: None,
        skew_ms: u64::try_from(written.skew.duration().as_millis()).unwrap_or(u64::MAX),
    })
}

fn timestamp_roots(written: &PkiTargetPlan) -> Result<Option<TrustedAuthorities>, PkiError> {
    let mut all = Vec::new();
    for path in &written.timestamp_roots_pem_files {
        let text =
            fs::read_to_string(path).map_err(|source| PkiError::Read { path: path.clone(), source })?;
        let unusable = |source| PkiError::TimestampRoots { path: path.clone(), source };
        let roots = TrustedAuthorities::from_pem(&text).map_err(unusable)?;
        all.extend(roots.certificates().map(<[u8]>::to_vec));
    }
    let Some(last) = written.timestamp_roots_pem_files.last() else { return Ok(None) };
    let unusable = |source| PkiError::TimestampRoots { path: last.clone(), source };
    TrustedAuthorities::from_der(all).map(Some).map_err(unusable)
}

fn of_authority(why: &ChainError) -> LabError {
    LabError::Plan { key: "key_seed".into(), reason: why.to_string() }
}
