//! The tokens that a run starts with: granted before it, so that what is wrong with a grant is said before any load is sent.

use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_measure::connection::ConnectionLog;
use hammer_measure::{Nanos, Outcome};
use hammer_net::{Answer, Client, ClientConfig, ConfigError, Failure, Request};
use hammer_oauth::{BearerToken, DiscoveryError, GrantedToken, IssuerDiscovery, PoolPlan, TokenPool};

use super::endpoint::{EndpointFault, TokenEndpoint};
use crate::stock::StockedToken;
use crate::wall::WallTime;

/// Tokens, and when each is to be refreshed.
#[derive(Debug)]
pub struct FirstTokens {
    /// By their places in the pool.
    pub tokens: Vec<StockedToken>,
    /// When to ask for which.
    pub pool: TokenPool,
}

/// Why a run has no tokens to start with. A fragment that completes "failed to ..."; it says no secret.
#[derive(Debug, thiserror::Error)]
pub enum FirstTokensError {
    /// Nobody can be asked.
    #[error(transparent)]
    Client(#[from] ConfigError),
    /// No answer.
    #[error("be granted a token: failed to {0}")]
    Failed(#[from] Failure),
    /// No answer in time.
    #[error("be granted a token within {0}")]
    TimedOut(Nanos),
    /// An answer that grants nothing.
    #[error(transparent)]
    Endpoint(#[from] EndpointFault),
    /// The issuer's configuration was answered with another status than 200.
    #[error("read the issuer's configuration: the answer is {0}")]
    Configuration(u16),
    /// The configuration cannot be used.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
}

impl FirstTokensError {
    /// Whether the next moment may be better: what the issuer refuses, it refuses again.
    fn may_pass(&self) -> bool {
        match self {
            Self::Failed(_) | Self::TimedOut(_) => true,
            Self::Endpoint(fault) => {
                matches!(fault.ended().outcome, Outcome::ServerError | Outcome::Pushback)
            }
            Self::Client(_) | Self::Configuration(_) | Self::Discovery(_) => false,
        }
    }
}

/// Asks an issuer where it grants tokens. Must be called where local tasks can be spawned.
///
/// # Errors
/// No answer, or one that does not say it.
pub async fn discover(
    client: ClientConfig,
    issuer: &str,
    timeout: Nanos,
    clock: &Rc<dyn Clock>,
) -> Result<String, FirstTokensError> {
    let client = Client::new(client, clock.clone(), ConnectionLog::default())?;
    let request = Request::get(client.path(IssuerDiscovery::PATH)?);
    let mut answer = Answer::new();
    send(&client, &request, &mut answer, timeout, clock).await?;
    match answer.status.as_u16() {
        200 => Ok(IssuerDiscovery::read(&answer.body, issuer)?.token_endpoint),
        status => Err(FirstTokensError::Configuration(status)),
    }
}

/// Has as many tokens granted as the pool has places, one after another. Must be called where local tasks can be spawned.
///
/// # Errors
/// When one of them was not, though it was asked for three times where that could help.
pub async fn first_tokens(
    endpoint: &TokenEndpoint,
    client: ClientConfig,
    pool: PoolPlan,
    timeout: Nanos,
    (clock, wall): (&Rc<dyn Clock>, WallTime),
) -> Result<FirstTokens, FirstTokensError> {
    let client = Client::new(client, clock.clone(), ConnectionLog::default())?;
    let request = endpoint.http_request(client.path("")?);
    let (mut pool, mut tokens) = (TokenPool::new(pool), Vec::new());
    let mut answer = Answer::new();
    let since = wall.unix_seconds(clock.now());
    while let Some(place) = pool.take_due(since) {
        let mut tries = 0;
        let token = loop {
            tries += 1;
            let asked = match send(&client, &request, &mut answer, timeout, clock).await {
                Ok(()) => {
                    endpoint.token(&answer, wall.unix_seconds(clock.now())).map_err(FirstTokensError::from)
                }
                Err(error) => Err(error),
            };
            match asked {
                Ok(token) => break token,
                Err(error) if tries == MOST_TRIES || !error.may_pass() => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, "no token was granted, and is asked for again");
                    clock.sleep_until(clock.now().saturating_add(AGAIN_IN)).await;
                }
            }
        };
        pool.granted(place, granted(&token), wall.unix_seconds(clock.now()));
        tokens.push(token);
    }
    Ok(FirstTokens { tokens, pool })
}

/// A token as the pool knows it.
pub(super) fn granted(token: &StockedToken) -> GrantedToken {
    GrantedToken { token: BearerToken::new(token.token.expose()), expires_at: token.expires_at }
}

async fn send(
    client: &Client,
    request: &Request,
    answer: &mut Answer,
    timeout: Nanos,
    clock: &Rc<dyn Clock>,
) -> Result<(), FirstTokensError> {
    let too_late = clock.sleep_until(clock.now().saturating_add(timeout));
    tokio::select! {
        sent = client.send(request, answer) => Ok(sent?),
        () = too_late => Err(FirstTokensError::TimedOut(timeout)),
    }
}

const MOST_TRIES: u32 = 3;
const AGAIN_IN: Nanos = Nanos::from_secs(1);
