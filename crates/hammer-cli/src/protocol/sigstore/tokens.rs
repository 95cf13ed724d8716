//! Tokens that somebody else made: of a file or the environment, or granted by an issuer, which is asked before the run.

use std::rc::Rc;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::dispatch::{LanePlan, UpkeepPlan};
use hammer_core::runtime::Clock;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_exchange::grant::{
    FirstTokens, FirstTokensError, GrantPlan, TokenEndpoint, TokenRefresh, discover, first_tokens,
};
use hammer_exchange::stock::{StockedToken, TokenFile, TokenStock, TokenSubject, TokenWatch};
use hammer_exchange::token::TokenPlan;
use hammer_exchange::{ServiceConfig, WallTime};
use hammer_measure::Nanos;
use hammer_net::{ClientConfig, HttpVersion, Secret};
use hammer_sigstore::{IdentityPlan, SigstoreError};
use hammer_values::ServiceUrl;
use http::Uri;
use tokio::task::LocalSet;

use crate::error::{CliError, StartError};
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;

/// The name before the series of requests for tokens, and of the service that they go to.
pub(super) const OAUTH: &str = "oauth";

/// Tokens that a run has, and who looks after them.
pub(super) struct RunTokens {
    /// The tokens.
    pub(super) stock: Arc<TokenStock>,
    /// Who asks for the next ones; none where they are not granted.
    pub(super) refresh: Option<Arc<dyn LanePlan<ThreadedRuntime>>>,
    /// Who tells when there was none.
    pub(super) watch: TokenWatch,
    /// Where they are granted.
    pub(super) endpoint: Option<Uri>,
    /// What has to be said before the run.
    pub(super) notes: Vec<String>,
}

/// Whom the tokens of a plan are of.
fn subject(identity: &IdentityPlan) -> TokenSubject {
    identity.subject.as_deref().map_or(TokenSubject::OfToken, |subject| TokenSubject::Stated(subject.into()))
}

/// The one token of a plan.
///
/// # Errors
/// When it cannot be read, or says of nobody whom it is of.
pub(super) fn of_place(
    plan: &Plan,
    place: &TokenPlan,
    identity: &IdentityPlan,
    epoch_unix_ms: u64,
) -> Result<RunTokens, SigstoreError> {
    let (wall, subject) = (WallTime { epoch_unix_ms }, subject(identity));
    // Looked at before it is read, so that no change is missed between the two.
    let file = match place {
        TokenPlan::File(path) => Some(TokenFile::at(path, subject.clone())),
        TokenPlan::Env(_) => None,
    };
    let token: Secret = place.read().map_err(SigstoreError::Token)?;
    let token = StockedToken::of(token, &subject, None).map_err(SigstoreError::Subject)?;
    let notes = ending(plan, place, &token, wall).into_iter().collect();
    let stock = TokenStock::new(vec![token]);
    let watch = TokenWatch::new(stock.clone(), wall);
    let watch = file.into_iter().fold(watch, TokenWatch::of_file);
    Ok(RunTokens { stock, refresh: None, watch, endpoint: None, notes })
}

/// What is said of a token that is over before the run is.
fn ending(plan: &Plan, place: &TokenPlan, token: &StockedToken, wall: WallTime) -> Option<String> {
    let ends = wall.instant_of(token.expires_at?);
    let warm_up = Nanos::from(plan.phases.warm_up.duration());
    let lasts = plan.phases.measurement.map(|span| warm_up.saturating_add(span.duration().into()));
    if lasts.is_some_and(|lasts| lasts < ends) {
        return None;
    }
    let (which, hope) = match place {
        TokenPlan::File(path) => (path.display().to_string(), "unless another one is written there"),
        TokenPlan::Env(name) => (format!("the environment's {name}"), "since no other one can come"),
    };
    let when = match ends {
        Nanos::ZERO => "has expired".to_owned(),
        ends => format!("expires {:.0} s after the start", ends.as_secs_f64()),
    };
    let before = if lasts.is_some() { ", before the run is over" } else { "" };
    Some(format!("the token of {which} {when}{before}: flows behind that send nothing, {hope}"))
}

/// The tokens that an issuer grants.
///
/// # Errors
/// A secret that cannot be read, or an issuer that grants nothing.
pub(super) fn granted(
    plan: &Plan,
    grant: &GrantPlan,
    identity: &IdentityPlan,
    epoch_unix_ms: u64,
    at: &PlanPath,
) -> Result<RunTokens, CliError> {
    let failed = |error: SigstoreError| CliError::from(PlanFault::failed(error).at(at.clone()));
    let request = grant.request().map_err(|(key, source)| {
        let at = at.clone().key("identity").key("grant").key(key);
        CliError::from(PlanFault::from(source).at(at))
    })?;
    let endpoint = TokenEndpoint { request, wanted: grant.wanted(), subject: subject(identity) };
    let (url, first) = asked(plan, grant, &endpoint)?.map_err(|error| failed(SigstoreError::Grant(error)))?;
    let client = client(plan, &url)?;
    let (timeout, wall) = (Nanos::from(grant.timeout.duration()), WallTime { epoch_unix_ms });
    let service = ServiceConfig::new(OAUTH, client);
    let (refresh, stock) = TokenRefresh::new(endpoint, service, first, wall);
    Ok(RunTokens {
        watch: TokenWatch::new(stock.clone(), wall),
        stock,
        refresh: Some(Arc::new(UpkeepPlan::new(OAUTH, refresh, timeout))),
        endpoint: Some(url),
        notes: Vec::new(),
    })
}

type Asked = Result<(Uri, FirstTokens), FirstTokensError>;

/// Asks for the first tokens, and before that where they are granted.
fn asked(plan: &Plan, grant: &GrantPlan, endpoint: &TokenEndpoint) -> Result<Asked, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(StartError::Runtime)?;
    let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::starting_now());
    let wall = WallTime { epoch_unix_ms: unix_millis() };
    let timeout = Nanos::from(grant.timeout.duration());
    LocalSet::new().block_on(&runtime, async {
        let url = match (&grant.token_url, &grant.issuer) {
            (Some(url), _) => url.url().clone(),
            (None, Some(issuer)) => {
                let asked = discover(client(plan, issuer.url())?, &issuer.to_string(), timeout, &clock).await;
                match asked.map(|url| url.parse::<ServiceUrl>()) {
                    Ok(Ok(url)) => url.url().clone(),
                    Ok(Err(_)) => return Ok(Err(hammer_oauth::DiscoveryError::NoTokenEndpoint.into())),
                    Err(error) => return Ok(Err(error)),
                }
            }
            // A grant without either is not read.
            (None, None) => return Ok(Err(hammer_oauth::DiscoveryError::NoTokenEndpoint.into())),
        };
        let first = first_tokens(endpoint, client(plan, &url)?, grant.pool(), timeout, (&clock, wall)).await;
        Ok(first.map(|first| (url, first)))
    })
}

/// An issuer is reached as the target is, in whichever version it speaks, by one connection.
fn client(plan: &Plan, url: &Uri) -> Result<ClientConfig, PlanError> {
    let client = plan.target.client(None, vec![url.clone()], 1, plan.seed)?;
    Ok(ClientConfig {
        connections: 1,
        version: HttpVersion::Negotiated,
        read_within: std::time::Duration::ZERO,
        redirects: 0,
        keepalive: true,
        ..client
    })
}
