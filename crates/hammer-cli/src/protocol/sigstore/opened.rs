//! The services of a run: found where the plan says, or started; and who signs the tokens that Fulcio is shown.

use std::path::PathBuf;
use std::sync::Arc;

use hammer_lab::{LabError, LabHandle};
use hammer_lab_sigstore::issuer::IssuerConfig;
use hammer_lab_sigstore::{IssuerLabPlan, SigstoreLab, SigstoreLabPlan};
use hammer_oauth::{IssuerDocuments, IssuerKeys, IssuerUrlError, TokenMinter, jwt};
use hammer_sigstore::{
    FlowTokens, IdentityPlan, ServiceEndpoints, SigstoreError, SigstoreTarget, SigstoreTargetPlan, Trust,
    TrustedRoot, TufTargetPlan,
};
use hammer_values::OneOrMany;

use super::issuer::{
    NOWHERE_TO_LISTEN, OWN_ISSUER, issuer_keys, listen, published, signer_of, trusted_issuer,
};
use super::sections::{LAB, TARGET};
use super::tokens::{RunTokens, granted, of_place};
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::PlanFault;
use crate::plan::path::PlanPath;
use crate::protocol::lab::{Lab, own_url, unstarted};

/// The services, and where the plan says so.
pub(super) struct OpenTarget {
    /// Where the plan has them.
    pub(super) at: PlanPath,
    /// The services.
    pub(super) target: SigstoreTarget,
    /// The tokens that flows show, where they are not hammer's own.
    pub(super) tokens: Option<RunTokens>,
    /// The root that clients of the TUF repository come with, where there is one.
    pub(super) tuf_root: Option<Vec<u8>>,
}

/// Finds the plan's services, or starts them, where they are embedded; what was started is added to `labs`.
///
/// # Errors
/// When what is trusted cannot be read, or an embedded service does not start.
pub(super) fn opened(
    plan: &Plan,
    epoch_unix_ms: u64,
    labs: &mut Vec<Box<dyn Lab>>,
) -> Result<OpenTarget, CliError> {
    if let Some(lab) = plan.target.lab.as_ref().and_then(|lab| lab.kind.get::<SigstoreLabPlan>(LAB)) {
        return embedded(plan, lab, epoch_unix_ms, labs);
    }
    let at = PlanPath::of("target").key(TARGET);
    let Some(written) = plan.target.unnamed.get::<SigstoreTargetPlan>(TARGET) else {
        return Err(PlanFault::Missing.at(at).into());
    };
    let failed = |error: SigstoreError| CliError::from(PlanFault::failed(error).at(at.clone()));
    let fetched = super::tuf::trusted_root(plan, written, &at)?;
    let trust = Trust::of(written, fetched.as_ref()).map_err(failed)?;
    let tuf_root = written.tuf.as_ref().map(TufTargetPlan::first_root).transpose().map_err(failed)?;
    let (tokens, run_tokens) = match tokens(plan, &written.identity, epoch_unix_ms, &at, labs)? {
        None => (None, None),
        Some(IdentityTokens::Own(own)) => (Some(own), None),
        Some(IdentityTokens::Others(others)) => {
            (Some(FlowTokens::Stocked(others.stock.clone())), Some(*others))
        }
    };
    let target = SigstoreTarget {
        endpoints: ServiceEndpoints::of(written),
        trust: Arc::new(trust),
        tokens: tokens.map(Arc::new),
        certified_issuer: certified_issuer(&written.identity),
    };
    Ok(OpenTarget { at, target, tokens: run_tokens, tuf_root })
}

/// The same services, trusted as at first, for another run of the plan, which has an epoch of its own. Tokens of somebody else are read,
/// or asked for, anew: what keeps them fresh goes by the run's own instants.
///
/// # Errors
/// When there is none any more.
pub(super) fn reopened(open: &OpenTarget, plan: &Plan, epoch_unix_ms: u64) -> Result<OpenTarget, CliError> {
    let OpenTarget { at, target, tokens: had, tuf_root } = open;
    let unchanged =
        || OpenTarget { at: at.clone(), target: target.clone(), tokens: None, tuf_root: tuf_root.clone() };
    let written = plan.target.unnamed.get::<SigstoreTargetPlan>(TARGET).filter(|_| had.is_some());
    let Some(written) = written else { return Ok(unchanged()) };
    let found = tokens(plan, &written.identity, epoch_unix_ms, at, &mut Vec::new())?;
    let Some(IdentityTokens::Others(others)) = found else { return Ok(unchanged()) };
    let shown = FlowTokens::Stocked(others.stock.clone());
    let target = SigstoreTarget { tokens: Some(Arc::new(shown)), ..target.clone() };
    Ok(OpenTarget { target, tokens: Some(*others), ..unchanged() })
}

/// The embedded services, which trust the run's own tokens.
fn embedded(
    plan: &Plan,
    lab: &SigstoreLabPlan,
    epoch_unix_ms: u64,
    labs: &mut Vec<Box<dyn Lab>>,
) -> Result<OpenTarget, CliError> {
    let at = PlanPath::of("target.lab").key(LAB);
    let refused = |error: LabError| unstarted(error, &at);
    let identity = IdentityPlan {
        signer: signer_of(lab.token_signature),
        audience: lab.fulcio.audience.clone(),
        ..IdentityPlan::default()
    };
    let keys = issuer_keys(plan.seed, identity.signer);
    let content = |reason: String| CliError::from(PlanFault::Misfit(reason).at(at.clone()));
    let issuer = trusted_issuer(&keys).map_err(|why| content(why.to_string()))?;
    let started = SigstoreLab::spawn(lab.clone(), vec![issuer]).map_err(refused)?;
    let root = TrustedRoot::parse(started.trusted_root()).map_err(content)?;
    let written = served(&started, lab).map_err(refused)?;
    let failed = |error: SigstoreError| CliError::from(PlanFault::failed(error).at(at.clone()));
    let trust = Trust::of(&written, Some(&root)).map_err(failed)?;
    let tokens = minted(OWN_ISSUER, keys, &identity, epoch_unix_ms);
    let target = SigstoreTarget {
        endpoints: ServiceEndpoints::of(&written),
        trust: Arc::new(trust),
        tokens: Some(Arc::new(tokens)),
        certified_issuer: Some(OWN_ISSUER.to_owned()),
    };
    let tuf_root = Some(started.tuf.target().first_root());
    let SigstoreLab { fulcio, ct_log, rekor, rekor_tiles, timestamp_authority, tuf, .. } = started;
    labs.extend(ct_log.map(|log| -> Box<dyn Lab> { Box::new(log) }));
    let others: [Box<dyn Lab>; 5] = [
        Box::new(fulcio),
        Box::new(rekor),
        Box::new(rekor_tiles),
        Box::new(timestamp_authority),
        Box::new(tuf),
    ];
    labs.extend(others);
    Ok(OpenTarget { at, target, tokens: None, tuf_root })
}

/// Where the embedded services are.
fn served(lab: &SigstoreLab, plan: &SigstoreLabPlan) -> Result<SigstoreTargetPlan, LabError> {
    let url = |url: &str| own_url(url).map(OneOrMany::One);
    Ok(SigstoreTargetPlan {
        fulcio_url: url(&lab.fulcio.url)?,
        fulcio_grpc_url: url(&lab.fulcio.url)?,
        rekor_url: url(&lab.rekor.url)?,
        rekor_tiles_url: url(&lab.rekor_tiles.url)?,
        rekor_tiles_grpc_url: url(&lab.rekor_tiles.url)?,
        timestamp_url: url(&lab.timestamp_authority.url)?,
        tuf: Some(TufTargetPlan {
            url: url(&lab.tuf.url)?,
            root: PathBuf::new(),
            target: "trusted_root.json".to_owned(),
        }),
        rekor_tiles_origin: Some(plan.rekor_tiles.hostname.clone()),
        ..SigstoreTargetPlan::default()
    })
}

/// Whose tokens flows show.
enum IdentityTokens {
    /// Those of hammer's own issuer.
    Own(FlowTokens),
    /// Those of somebody else.
    Others(Box<RunTokens>),
}

/// Whose tokens flows show, where the plan says so; hammer's own issuer is served from now on.
fn tokens(
    plan: &Plan,
    identity: &IdentityPlan,
    epoch_unix_ms: u64,
    at: &PlanPath,
    labs: &mut Vec<Box<dyn Lab>>,
) -> Result<Option<IdentityTokens>, CliError> {
    // Errors name their keys from the target on.
    let failed = |error: SigstoreError| CliError::from(PlanFault::failed(error).at(at.clone()));
    let target = at;
    let at = &at.clone().key("identity");
    match (&identity.token, &identity.grant, &identity.issuer) {
        (None, None, None) => Ok(None),
        (Some(_), Some(_), _) => Err(failed(SigstoreError::Both { one: "token", other: "identity.grant" })),
        (Some(_), None, Some(_)) => {
            Err(failed(SigstoreError::Both { one: "issuer", other: "identity.token" }))
        }
        (None, Some(_), Some(_)) => {
            Err(failed(SigstoreError::Both { one: "issuer", other: "identity.grant" }))
        }
        (Some(token), None, None) => {
            let tokens = of_place(plan, token, identity, epoch_unix_ms).map_err(failed)?;
            Ok(Some(IdentityTokens::Others(Box::new(tokens))))
        }
        (None, Some(grant), None) => {
            let tokens = granted(plan, grant, identity, epoch_unix_ms, target)?;
            Ok(Some(IdentityTokens::Others(Box::new(tokens))))
        }
        (None, None, Some(issuer)) => {
            let issuer = issuer.to_string();
            let keys = issuer_keys(plan.seed, identity.signer);
            let documents = documents(&issuer, &keys, at)?;
            let listen = listen(identity, &issuer).ok_or_else(|| {
                CliError::from(PlanFault::Misfit(NOWHERE_TO_LISTEN.to_owned()).at(at.clone().key("listen")))
            })?;
            let mut served = IssuerLabPlan::default();
            served.serve.listen = listen;
            let config = IssuerConfig::new(served, |_| published(documents));
            let server = LabHandle::spawn(config).map_err(|error| unstarted(error, at))?;
            labs.push(Box::new(server));
            Ok(Some(IdentityTokens::Own(minted(&issuer, keys, identity, epoch_unix_ms))))
        }
    }
}

/// By whom certificates have to say that their token was issued, as far as it is known beforehand.
fn certified_issuer(identity: &IdentityPlan) -> Option<String> {
    let own = || identity.issuer.as_ref().map(ToString::to_string);
    let shown = || {
        let token = identity.token.as_ref()?.read().ok()?;
        jwt::parse(token.expose()).ok()?.claims.issuer
    };
    identity.certified_issuer.clone().or_else(own).or_else(shown)
}

fn documents(issuer: &str, keys: &IssuerKeys, at: &PlanPath) -> Result<IssuerDocuments, CliError> {
    IssuerDocuments::new(issuer, &[keys]).map_err(|error: IssuerUrlError| {
        PlanFault::Misfit(error.to_string()).at(at.clone().key("issuer")).into()
    })
}

fn minted(issuer: &str, keys: IssuerKeys, identity: &IdentityPlan, epoch_unix_ms: u64) -> FlowTokens {
    let minter = Box::new(TokenMinter::new(issuer, &identity.audience, keys));
    let now = (epoch_unix_ms / 1000) as i64;
    let lifetime = identity.lifetime.duration().as_secs() as i64;
    // A clock of the service that is a little behind must not find the token to be of the future.
    FlowTokens::Minted { minter, issued_at: now - CLOCKS_APART, expires_at: now + lifetime }
}

const CLOCKS_APART: i64 = 60;
