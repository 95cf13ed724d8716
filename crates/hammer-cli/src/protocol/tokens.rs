//! Tokens that an issuer grants, which is asked before the run, and who looks after them.

use std::rc::Rc;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::dispatch::{LanePlan, UpkeepPlan};
use hammer_core::runtime::Clock;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_exchange::grant::{
    FirstTokens, FirstTokensError, GrantPlan, GrantedKind, TokenEndpoint, TokenRefresh, discover,
    first_tokens,
};
use hammer_exchange::stock::{TokenStock, TokenSubject, TokenWatch};
use hammer_exchange::{ServiceConfig, WallTime};
use hammer_measure::Nanos;
use hammer_net::{ClientConfig, HttpVersion};
use hammer_values::ServiceUrl;
use http::Uri;

use crate::before_run;
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;

/// The name before the series of requests for tokens, and of the service that they go to.
pub(super) const OAUTH: &str = "oauth";

/// Whether the series of a workload of that name are those of tokens, or could be taken for them.
pub(crate) fn is_of_tokens(name: &str) -> bool {
    name == OAUTH || name.strip_prefix(OAUTH).is_some_and(|rest| rest.starts_with('-'))
}

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

/// A grant of a plan.
pub(super) struct PlannedGrant<'a> {
    /// The grant.
    pub(super) grant: &'a GrantPlan,
    /// Where the plan has it.
    pub(super) at: PlanPath,
    /// The name before its series: [`OAUTH`], or more where there are several.
    pub(super) name: String,
    /// Whom its tokens are of.
    pub(super) subject: TokenSubject,
    /// Which token of an answer is meant where it does not say so.
    pub(super) otherwise: GrantedKind,
}

/// The tokens that an issuer grants.
///
/// # Errors
/// A secret that cannot be read, or an issuer that grants nothing.
pub(super) fn granted(
    plan: &Plan,
    planned: PlannedGrant<'_>,
    epoch_unix_ms: u64,
) -> Result<RunTokens, CliError> {
    let PlannedGrant { grant, at, name, subject, otherwise } = planned;
    let request = grant
        .request()
        .map_err(|(key, source)| CliError::from(PlanFault::from(source).at(at.clone().key(key))))?;
    let endpoint = TokenEndpoint { request, wanted: grant.wanted(otherwise), subject };
    let (url, first) = asked(plan, grant, &endpoint)?.map_err(|error| PlanFault::from(error).at(at))?;
    let client = client(plan, &url)?;
    let (timeout, wall) = (Nanos::from(grant.timeout.duration()), WallTime { epoch_unix_ms });
    let service = ServiceConfig::new(&name, client);
    let (refresh, stock) = TokenRefresh::new(endpoint, service, first, wall);
    let watch = TokenWatch::new(stock.clone(), wall);
    Ok(RunTokens {
        watch: if name == OAUTH { watch } else { watch.named(&name) },
        stock,
        refresh: Some(Arc::new(UpkeepPlan::new(name, refresh, timeout))),
        endpoint: Some(url),
        notes: Vec::new(),
    })
}

type Asked = Result<(Uri, FirstTokens), FirstTokensError>;

/// Asks for the first tokens, and before that where they are granted.
fn asked(plan: &Plan, grant: &GrantPlan, endpoint: &TokenEndpoint) -> Result<Asked, CliError> {
    let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::starting_now());
    let wall = WallTime { epoch_unix_ms: unix_millis() };
    let timeout = Nanos::from(grant.timeout.duration());
    before_run::ask(async {
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
    })?
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
