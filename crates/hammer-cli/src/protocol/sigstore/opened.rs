//! The services of a run: found where the plan says, or started; and who signs the tokens that Fulcio is shown.

use std::path::PathBuf;
use std::sync::Arc;

use hammer_exchange::WallTime;
use hammer_exchange::grant::GrantedKind;
use hammer_lab::{LabError, LabHandle};
use hammer_lab_sigstore::issuer::IssuerConfig;
use hammer_lab_sigstore::{IssuerLabHandle, IssuerLabPlan, SigstoreLab, SigstoreLabPlan};
use hammer_measure::Nanos;
use hammer_oauth::{IssuerDocuments, IssuerKeys, IssuerUrlError, RotatingIssuer, TokenMinter, jwt};
use hammer_sigstore::{
    CLOCKS_APART, FlowTokens, FulcioInterface, IdentityPlan, LocatedPlan, ServiceEndpoints, SigstoreError,
    SigstoreTarget, SigstoreTargetPlan, Trust, TrustedRoot, TufTargetPlan,
};
use hammer_synth::Seed;
use hammer_values::{OneOrMany, TimeSpan};

use super::embedded::EmbeddedPlan;
use super::issuer::{
    NOWHERE_TO_LISTEN, OWN_ISSUER, algorithm_of, issuer_keys, listen, publish, published, trusted_issuer,
    unserved,
};
use super::rotation::IssuerRotation;
use super::sections::{LAB, TARGET, mixed, signs, uses, verify};
use super::served::served_trust;
use super::tokens::{expect_good, failed as of_no_use, subject};
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::protocol::lab::{Lab, own_url, unstarted};
use crate::protocol::tokens::{OAUTH, PlannedGrant, RunTokens, granted, of_place};

/// The services, and where the plan says so.
pub(super) struct OpenTarget {
    /// Where the plan has them.
    pub(super) at: PlanPath,
    /// The services.
    pub(super) target: SigstoreTarget,
    /// The tokens that flows show, where they are not hammer's own.
    pub(super) tokens: Option<RunTokens>,
    /// By what these were found, for another run.
    identity: Option<IdentityPlan>,
    /// Who changes the key of hammer's own issuer, where it is changed.
    pub(super) rotation: Option<IssuerRotation>,
    /// The root that clients of the TUF repository come with, where there is one.
    pub(super) tuf_root: Option<Vec<u8>>,
    /// What the reader of the report must be told of where they are, and of who is trusted.
    pub(super) notes: Vec<String>,
}

impl OpenTarget {
    /// Whether its services were started with the run.
    pub(super) fn is_embedded(&self) -> bool {
        self.at == PlanPath::of("target.lab").key(LAB)
    }
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
    if let Some(lab) = plan.target.lab.as_ref().and_then(|lab| lab.kind.get::<EmbeddedPlan>(LAB)) {
        return embedded(plan, lab, epoch_unix_ms, labs);
    }
    let at = PlanPath::of("target").key(TARGET);
    let Some(written) = plan.target.unnamed.get::<SigstoreTargetPlan>(TARGET) else {
        return Err(PlanFault::Missing.at(at).into());
    };
    let failed = |error: SigstoreError| CliError::from(PlanFault::failed(error).at(at.clone()));
    let LocatedPlan { plan: written, note } = written.located(epoch_unix_ms / 1000).map_err(failed)?;
    let written = &*written;
    let endpoints = ServiceEndpoints::of(written);
    for (_, services) in plan.workloads.iter().filter_map(uses) {
        services.into_iter().try_for_each(|service| endpoints.needed(service).map(drop)).map_err(failed)?;
    }
    let served = served_trust(plan, written, &at)?;
    let fetched = match &served {
        Some(served) => Some(served.root().clone()),
        None => super::tuf::trusted_root(plan, written, &at)?,
    };
    let trust = Trust::of(written, fetched.as_ref()).map_err(failed)?;
    let said = served.and_then(|served| Some((served.note()?, trust.knows_ct_logs())));
    let said = said.map(|(said, knows_ct_logs)| match knows_ct_logs {
        true => said,
        false => format!("{said}; SCTs are not verified, since no key of a CT log is known"),
    });
    let said =
        said.or_else(|| (!trust.knows_ct_logs() && shows_certificates(plan)).then(|| NO_CT_LOG.to_owned()));
    let tuf_root = written.tuf.as_ref().map(TufTargetPlan::first_root).transpose().map_err(failed)?;
    let identity = written.identity();
    expect_good(&identity, epoch_unix_ms).map_err(failed)?;
    let shown = tokens(plan, &identity, epoch_unix_ms, &at, labs)?;
    let target = SigstoreTarget {
        endpoints,
        trust: Arc::new(trust),
        tokens: shown.as_ref().map(IdentityTokens::of_flows),
        certified_issuer: certified_issuer(&identity),
        certified_subject: identity.certified_subject.clone(),
    };
    let (tokens, rotation) = shown.map_or((None, None), IdentityTokens::kept);
    let notes = note.into_iter().chain(said).collect();
    let identity = tokens.is_some().then_some(identity);
    Ok(OpenTarget { at, target, tokens, identity, rotation, tuf_root, notes })
}

/// Whether a workload is answered with certificates, or reads entries that may hold some.
fn shows_certificates(plan: &Plan) -> bool {
    let is_certified = |workload| signs(workload).is_some_and(|sign| sign.fulcio != FulcioInterface::None);
    let reads = |workload| verify(workload).is_some() || mixed(workload).is_some();
    plan.workloads.iter().any(|workload| is_certified(workload) || reads(workload))
}

/// What is said where SCTs are held to nothing.
const NO_CT_LOG: &str = "SCTs of certificates are not verified, since no key of a CT log is known: neither `ct_log_key` nor the trusted root's `ctlogs` has one";

/// The same services, trusted as at first, for another run of the plan, which has an epoch of its own. Tokens of somebody else are read,
/// or asked for, anew: what keeps them fresh goes by the run's own instants.
///
/// # Errors
/// When there is none any more.
pub(super) fn reopened(open: &OpenTarget, plan: &Plan, epoch_unix_ms: u64) -> Result<OpenTarget, CliError> {
    let OpenTarget { at, target, tokens: _, identity, rotation, tuf_root, notes } = open;
    // A fill before it has taken of the life of those that were made for it.
    let renewed = target.tokens.as_ref().and_then(|tokens| tokens.renewed((epoch_unix_ms / 1000) as i64));
    let renewed = renewed.map(Arc::new).or_else(|| target.tokens.clone());
    let target = &SigstoreTarget { tokens: renewed, ..target.clone() };
    let wall = WallTime { epoch_unix_ms };
    let rotation = rotation.clone().map(|rotation| IssuerRotation { wall, ..rotation });
    let unchanged = || OpenTarget {
        at: at.clone(),
        target: target.clone(),
        tokens: None,
        identity: identity.clone(),
        rotation: rotation.clone(),
        tuf_root: tuf_root.clone(),
        notes: notes.clone(),
    };
    let Some(identity) = identity else { return Ok(unchanged()) };
    let found = tokens(plan, identity, epoch_unix_ms, at, &mut Vec::new())?;
    let Some(IdentityTokens::Others(others)) = found else { return Ok(unchanged()) };
    let shown = FlowTokens::Stocked(others.stock.clone());
    let target = SigstoreTarget { tokens: Some(Arc::new(shown)), ..target.clone() };
    Ok(OpenTarget { target, tokens: Some(*others), ..unchanged() })
}

/// The embedded services, which trust the run's own tokens, and those that their issuer grants.
fn embedded(
    plan: &Plan,
    embedded: &EmbeddedPlan,
    epoch_unix_ms: u64,
    labs: &mut Vec<Box<dyn Lab>>,
) -> Result<OpenTarget, CliError> {
    let at = PlanPath::of("target.lab").key(LAB);
    let refused = |error: LabError| unstarted(error, &at);
    let content = |reason: String| CliError::from(PlanFault::Misfit(reason).at(at.clone()));
    let (identity, mut lab) = (embedded.identity(None), embedded.lab());
    let keys = issuer_keys(plan.seed, identity.signer);
    let issuer = trusted_issuer(&keys).map_err(|why| content(why.to_string()))?;
    let mut shown = None;
    let mut granted_by = None;
    let mut certified_issuer = Some(OWN_ISSUER.to_owned());
    if let Some(every) = identity.rotate_every {
        let served =
            rotating((plan.seed, epoch_unix_ms), &identity, every, None, &at.clone().key("identity"))?;
        certified_issuer = Some(served.handle.url.clone());
        lab.fulcio.issuers.push(served.handle.url.clone());
        shown = Some(served.kept(labs));
    }
    let started = SigstoreLab::spawn(lab.clone(), vec![issuer]).map_err(refused)?;
    if embedded.is_granted() {
        let identity = embedded.identity(Some(own_url(&started.issuer.url).map_err(refused)?));
        certified_issuer = identity.certified_issuer.clone();
        shown = tokens(plan, &identity, epoch_unix_ms, &at, labs)?;
        granted_by = Some(identity);
    }
    let root = TrustedRoot::parse(started.trusted_root()).map_err(content)?;
    let written = served(&started, &lab).map_err(refused)?;
    let failed = |error: SigstoreError| CliError::from(PlanFault::failed(error).at(at.clone()));
    let trust = Trust::of(&written, Some(&root)).map_err(failed)?;
    let own = || IdentityTokens::Own(Arc::new(minted(OWN_ISSUER, keys, &identity, epoch_unix_ms)), None);
    let shown = shown.unwrap_or_else(own);
    let target = SigstoreTarget {
        endpoints: ServiceEndpoints::of(&written),
        trust: Arc::new(trust),
        tokens: Some(shown.of_flows()),
        certified_issuer,
        certified_subject: None,
    };
    let (tokens, rotation) = shown.kept();
    let tuf_root = Some(started.tuf.target().first_root());
    let SigstoreLab { fulcio, ct_log, rekor, rekor_tiles, timestamp_authority, tuf, issuer, .. } = started;
    labs.extend(ct_log.map(|log| -> Box<dyn Lab> { Box::new(log) }));
    let others: [Box<dyn Lab>; 6] = [
        Box::new(fulcio),
        Box::new(rekor),
        Box::new(rekor_tiles),
        Box::new(timestamp_authority),
        Box::new(tuf),
        Box::new(issuer),
    ];
    labs.extend(others);
    Ok(OpenTarget { at, target, tokens, identity: granted_by, rotation, tuf_root, notes: Vec::new() })
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
    /// Those of hammer's own issuer, and who changes its key, where it is changed.
    Own(Arc<FlowTokens>, Option<IssuerRotation>),
    /// Those of somebody else.
    Others(Box<RunTokens>),
}

impl IdentityTokens {
    /// As flows have them.
    fn of_flows(&self) -> Arc<FlowTokens> {
        match self {
            Self::Own(tokens, _) => Arc::clone(tokens),
            Self::Others(others) => Arc::new(FlowTokens::Stocked(others.stock.clone())),
        }
    }

    /// Who looks after them while the run lasts.
    fn kept(self) -> (Option<RunTokens>, Option<IssuerRotation>) {
        match self {
            Self::Own(_, rotation) => (None, rotation),
            Self::Others(others) => (Some(*others), None),
        }
    }
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
    let at = &at.clone().key("identity");
    // It has one of them at most.
    match (&identity.token, &identity.grant, &identity.issuer) {
        (None, None, None) => Ok(None),
        (Some(token), ..) => {
            let tokens = of_place(plan, token, &subject(identity), epoch_unix_ms);
            let tokens = tokens.map_err(|fault| failed(of_no_use(fault)))?;
            Ok(Some(IdentityTokens::Others(Box::new(tokens))))
        }
        (None, Some(grant), _) => {
            let planned = PlannedGrant {
                grant,
                at: at.clone().key("grant"),
                name: OAUTH.to_owned(),
                subject: subject(identity),
                otherwise: GrantedKind::Either,
            };
            let tokens = granted(plan, planned, epoch_unix_ms)?;
            Ok(Some(IdentityTokens::Others(Box::new(tokens))))
        }
        (None, None, Some(issuer)) => {
            if identity.rotate_every.is_none() {
                check_lifetime(plan, identity, at)?;
            }
            let issuer = issuer.to_string();
            let keys = issuer_keys(plan.seed, identity.signer);
            let documents = documents(&issuer, &keys, at)?;
            let listen = listen(identity, &issuer).ok_or_else(|| {
                CliError::from(PlanFault::Misfit(NOWHERE_TO_LISTEN.to_owned()).at(at.clone().key("listen")))
            })?;
            if let Some(every) = identity.rotate_every {
                let place = Some((issuer.as_str(), listen));
                let served = rotating((plan.seed, epoch_unix_ms), identity, every, place, at)?;
                return Ok(Some(served.kept(labs)));
            }
            let mut served = IssuerLabPlan::default();
            served.serve.listen = listen;
            let config = IssuerConfig::new(served, |_| published(documents));
            let server = LabHandle::spawn(config).map_err(|error| unserved(error, identity, at))?;
            labs.push(Box::new(server));
            Ok(Some(IdentityTokens::Own(Arc::new(minted(&issuer, keys, identity, epoch_unix_ms)), None)))
        }
    }
}

/// An issuer whose key changes, and which is served from now on.
struct RotatingServer {
    handle: IssuerLabHandle,
    rotation: IssuerRotation,
}

impl RotatingServer {
    /// Its tokens; it is served for as long as `labs` are there.
    fn kept(self, labs: &mut Vec<Box<dyn Lab>>) -> IdentityTokens {
        let Self { handle, rotation } = self;
        labs.push(Box::new(handle));
        let tokens = FlowTokens::Rotated(Arc::clone(&rotation.issuer));
        IdentityTokens::Own(Arc::new(tokens), Some(rotation))
    }
}

/// Serves the issuer of that name and address; without them at an address of loopback, by whose name it goes.
fn rotating(
    (seed, epoch_unix_ms): (u64, u64),
    identity: &IdentityPlan,
    every: TimeSpan,
    place: Option<(&str, std::net::SocketAddr)>,
    at: &PlanPath,
) -> Result<RotatingServer, CliError> {
    let every = Nanos::from(every.duration());
    if every < Nanos::from_secs(1) {
        let fault = PlanFault::Misfit("a key is used for a second at least".to_owned());
        return Err(fault.at(at.clone().key("rotate_every")).into());
    }
    let mut served = IssuerLabPlan::default();
    if let Some((_, listen)) = place {
        served.serve.listen = listen;
    }
    let handle = LabHandle::spawn(IssuerConfig::new(served, |_| std::collections::BTreeMap::new()));
    let handle: IssuerLabHandle = handle.map_err(|error| unserved(error, identity, at))?;
    let name = place.map_or(handle.url.as_str(), |(name, _)| name);
    let of = (Seed::from_u64(seed), algorithm_of(identity.signer));
    let lifetime = identity.lifetime.duration().as_secs() as i64;
    let unusable = |error: IssuerUrlError| {
        CliError::from(PlanFault::Misfit(error.to_string()).at(at.clone().key("issuer")))
    };
    let issuer = RotatingIssuer::new(name, &identity.audience, of, lifetime).map_err(unusable)?;
    let target = handle.shared_target();
    publish(&target, issuer.documents().map_err(unusable)?);
    let wall = WallTime { epoch_unix_ms };
    Ok(RotatingServer {
        handle,
        rotation: IssuerRotation { issuer: Arc::new(issuer), served: target, every, wall },
    })
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
    let minter = Arc::new(TokenMinter::new(issuer, &identity.audience, keys));
    let now = (epoch_unix_ms / 1000) as i64;
    let lifetime = identity.lifetime.duration().as_secs() as i64;
    FlowTokens::Minted { minter, issued_at: now - CLOCKS_APART, expires_at: now + lifetime }
}

/// Tokens that are made ahead have to last as long as what is measured.
fn check_lifetime(plan: &Plan, identity: &IdentityPlan, at: &PlanPath) -> Result<(), PlanError> {
    let Some(measurement) = plan.phases.measurement else { return Ok(()) };
    let takes = plan.phases.warm_up.duration().saturating_add(measurement.duration());
    if identity.lifetime.duration() >= takes {
        return Ok(());
    }
    let reason = format!(
        "tokens are valid for {} from the start, and warm-up and measurement take {takes:?}: flows behind that would be refused",
        identity.lifetime
    );
    Err(PlanFault::Misfit(reason).at(at.clone().key("lifetime")))
}
