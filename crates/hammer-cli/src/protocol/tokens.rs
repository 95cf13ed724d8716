//! Tokens of a run, and who looks after them: that of a file or of the environment, and those that an issuer grants, which is asked before the run.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::dispatch::{LanePlan, UpkeepPlan};
use hammer_core::runtime::Clock;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_exchange::grant::{
    BearerGrantPlan, FirstTokens, FirstTokensError, GrantPlan, GrantedKind, TokenEndpoint, TokenRefresh,
    discover, first_tokens,
};
use hammer_exchange::minted::{MintError, MintPlan, TokenMint};
use hammer_exchange::stock::{StockedToken, TokenStock, TokenSubject, UselessToken};
use hammer_exchange::token::{TokenError, TokenPlan};
use hammer_exchange::token_watch::{TokenFile, TokenWatch};
use hammer_exchange::{ServiceConfig, WallTime};
use hammer_measure::Nanos;
use hammer_net::{ClientConfig, HttpVersion};
use hammer_values::{Agreed, ServiceUrl};
use http::Uri;

use crate::before_run;
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::{KeyedError, PlanError, PlanFault};
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

impl RunTokens {
    /// The same with a name, where there are others.
    pub(super) fn named(self, name: &str) -> Self {
        Self { watch: self.watch.named(name), ..self }
    }
}

/// Why the token of a file or of the environment is of no use: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(super) enum PlacedTokenFault {
    /// There is none.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// It cannot be sent, or is of nobody where that matters.
    #[error("use the token of {place}: failed to {why}")]
    Useless {
        /// Where it is.
        place: String,
        /// Why.
        why: UselessToken,
    },
}

impl KeyedError for PlacedTokenFault {
    fn key(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Token(error) => Some(error.key().into()),
            Self::Useless { .. } => None,
        }
    }
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

/// The grant that a plan has at `at`, by whoever is said there, or at the token endpoint of the embedded target.
///
/// # Errors
/// Where neither is.
pub(super) fn placed(
    grant: &BearerGrantPlan,
    embedded: Option<&ServiceUrl>,
    at: &PlanPath,
) -> Result<Agreed<GrantPlan>, PlanError> {
    let placed = grant.placed(embedded);
    placed.map_err(|conflict| {
        PlanFault::Misfit(conflict.reason().to_owned()).at(at.clone().keys(conflict.key()))
    })
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

/// The one token of a place, whatever it says of itself: it is for the server to refuse it. That of a file is read again when the file changes.
///
/// # Errors
/// When it cannot be read or sent.
pub(super) fn as_it_is(
    plan: &Plan,
    place: &TokenPlan,
    epoch_unix_ms: u64,
) -> Result<RunTokens, PlacedTokenFault> {
    let wall = WallTime { epoch_unix_ms };
    // Looked at before it is read, so that no change is missed between the two.
    let file = file(place, &TokenSubject::Unasked).map(TokenFile::shown_when_over);
    let token = read(place, &TokenSubject::Unasked)?;
    // Of a run without a length nobody knows whether it lasts as long.
    let is_over = token.expires_at.is_some_and(|end| wall.instant_of(end) == Nanos::ZERO);
    let ending = ending(plan, place, &token, wall);
    let ending = ending.filter(|_| is_over || plan.phases.measurement.is_some());
    let notes = ending.map(|ending| format!("{ending}: it is sent all the same")).into_iter().collect();
    Ok(watched(vec![token.without_end()], file, wall, notes))
}

/// The one token of a place, which is of that subject; that of a file is read again when the file changes.
///
/// # Errors
/// When it cannot be read or sent, or says of nobody whom it is of.
pub(super) fn of_place(
    plan: &Plan,
    place: &TokenPlan,
    subject: &TokenSubject,
    epoch_unix_ms: u64,
) -> Result<RunTokens, PlacedTokenFault> {
    let wall = WallTime { epoch_unix_ms };
    // Looked at before it is read, so that no change is missed between the two.
    let file = file(place, subject);
    let token = read(place, subject)?;
    let hope = match place {
        TokenPlan::File(_) => "unless another one is written there",
        TokenPlan::Env(_) => "since no other one can come",
    };
    let notes = ending(plan, place, &token, wall);
    let notes = notes.map(|ending| format!("{ending}: flows behind that send nothing, {hope}"));
    Ok(watched(vec![token], file, wall, notes.into_iter().collect()))
}

fn file(place: &TokenPlan, subject: &TokenSubject) -> Option<TokenFile> {
    match place {
        TokenPlan::File(path) => Some(TokenFile::at(path, subject.clone())),
        TokenPlan::Env(_) => None,
    }
}

fn watched(
    tokens: Vec<StockedToken>,
    file: Option<TokenFile>,
    wall: WallTime,
    notes: Vec<String>,
) -> RunTokens {
    let stock = TokenStock::new(tokens);
    let watch = TokenWatch::new(stock.clone(), wall);
    let watch = file.into_iter().fold(watch, TokenWatch::of_file);
    RunTokens { stock, refresh: None, watch, endpoint: None, notes }
}

/// The tokens that hammer mints by `mint`.
///
/// # Errors
/// A key that cannot be read, or that signs no tokens.
pub(super) fn minted_by(
    plan: &Plan,
    mint: &MintPlan,
    epoch_unix_ms: u64,
) -> Result<RunTokens, UnmintedFault> {
    let wall = WallTime { epoch_unix_ms };
    let keys = mint.keys(plan.seed).map_err(MintError::from)?;
    let mint = TokenMint::new(mint, keys, wall.unix_ms(Nanos::ZERO))?;
    let stock = TokenStock::new(mint.tokens());
    let watch = TokenWatch::new(stock.clone(), wall).of_mint(mint);
    Ok(RunTokens { stock, refresh: None, watch, endpoint: None, notes: Vec::new() })
}

/// Why tokens cannot be minted: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) struct UnmintedFault(#[from] MintError);

impl KeyedError for UnmintedFault {
    fn key(&self) -> Option<Cow<'_, str>> {
        matches!(self.0, MintError::Key(_)).then_some(Cow::Borrowed("key_file"))
    }
}

/// Reads the token of a place.
///
/// # Errors
/// As [`of_place`].
pub(super) fn read(place: &TokenPlan, subject: &TokenSubject) -> Result<StockedToken, PlacedTokenFault> {
    let useless = |why| PlacedTokenFault::Useless { place: named(place), why };
    StockedToken::of(place.read()?, subject, None).map_err(useless)
}

/// The place of a token, for a sentence.
pub(super) fn named(place: &TokenPlan) -> String {
    match place {
        TokenPlan::File(path) => path.display().to_string(),
        TokenPlan::Env(name) => format!("the environment's {name}"),
    }
}

/// What is said of a token that is over before the run is.
fn ending(plan: &Plan, place: &TokenPlan, token: &StockedToken, wall: WallTime) -> Option<String> {
    let ends = wall.instant_of(token.expires_at?);
    let warm_up = Nanos::from(plan.phases.warm_up.duration());
    let lasts = plan.phases.measurement.map(|span| warm_up.saturating_add(span.duration().into()));
    if lasts.is_some_and(|lasts| lasts < ends) {
        return None;
    }
    let which = named(place);
    let when = match ends {
        Nanos::ZERO => "has expired".to_owned(),
        ends => format!("expires {:.0} s after the start", ends.as_secs_f64()),
    };
    let before = if lasts.is_some() { ", before the run is over" } else { "" };
    Some(format!("the token of {which} {when}{before}"))
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
