//! The gateway behind its server.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use hammer_lab::{
    FaultScript, LabError, LabHandle, LabStats,
    clock::Clock,
    handle::{LabConfig, LabTarget},
    serve::{
        ServePlan, Target,
        answer::{self, AnswerBody},
    },
};
use http::{Method, Response, StatusCode, request::Parts};
use serde_json::{Value, json};

use crate::answer::{GatewayAnswer, WritingStyle};
use crate::authentication::TokenValidator;
use crate::authorization::{AccessAttributes, AuthorizationCounts, Authorizer};
use crate::backend::{Backend, BackendRequest};
use crate::counts::AnswerCounts;
use crate::issuer::TokenIssuer;
use crate::lie::{GatewayLies, ToldGatewayLie};
use crate::plan::{GatewayLabPlan, GatewayLieKind};
use crate::route::{ENDPOINTS, Hop, Route};

/// A gateway that runs; its URL has no path.
pub type GatewayLabHandle = LabHandle<GatewayTarget>;

/// A gateway, and what stands behind and beside it.
#[derive(Debug)]
pub struct GatewayTarget {
    tokens: Option<TokenSide>,
    authorizer: Option<Authorizer>,
    backend: Backend,
    lies: GatewayLies,
    style: WritingStyle,
    counts: AnswerCounts,
    clock: Arc<dyn Clock>,
}

/// Who grants tokens, and who validates them.
#[derive(Debug)]
struct TokenSide {
    issuer: TokenIssuer,
    validator: TokenValidator,
}

impl GatewayTarget {
    /// The lies that were told because the plan said so, in order, and the count of those beyond the listed ones.
    #[must_use]
    pub fn told_lies(&self) -> (Vec<ToldGatewayLie>, u64) {
        self.lies.told()
    }

    /// The set of the token endpoint's key in JSON (RFC 7517 section 5); none where no token is needed.
    #[must_use]
    pub fn jwk_set(&self) -> Option<String> {
        self.tokens.as_ref().map(|tokens| tokens.issuer.key().jwk_set())
    }

    /// A token of its client that is good for so many seconds; none where no token is needed.
    #[must_use]
    pub fn token(&self, expires_in: u64) -> Option<String> {
        let issuer = &self.tokens.as_ref()?.issuer;
        Some(issuer.token(issuer.client(), self.clock.unix_ms() / 1000, expires_in))
    }

    /// How many sessions of the backend are there.
    #[must_use]
    pub fn open_sessions(&self) -> usize {
        self.backend.open_sessions()
    }

    async fn routed(&self, parts: &Parts, body: &Bytes) -> Response<AnswerBody> {
        let route = Route::of(parts.uri.path());
        let method = if route == Route::Token { Method::POST } else { Method::GET };
        match (route, &self.tokens) {
            (Route::Hop { hop, prefix, path }, _) => {
                let request = BackendRequest {
                    method: &parts.method,
                    headers: &parts.headers,
                    prefix,
                    path,
                    query: parts.uri.query().unwrap_or_default(),
                    body,
                    user: None,
                };
                let answered = self.through(hop, request).await;
                answered.unwrap_or_else(|refusal| *refusal).into_response(self.style)
            }
            _ if parts.method != method => {
                let reason = format!("method not allowed: {}", parts.method);
                answer::error(StatusCode::METHOD_NOT_ALLOWED, &reason)
            }
            (Route::Stats, _) => answer::no_store(self.stats().to_string()),
            (Route::Token, Some(tokens)) => tokens.issuer.granted(parts, body, self.clock.unix_ms()),
            (Route::Discovery, Some(tokens)) => tokens.issuer.discovery(),
            (Route::Jwks, Some(tokens)) => tokens.issuer.jwks(),
            _ => answer::error(StatusCode::NOT_FOUND, "nobody grants tokens here"),
        }
    }

    /// The answer by a hop, or the refusal on the way.
    async fn through(
        &self,
        hop: Hop,
        request: BackendRequest<'_>,
    ) -> Result<GatewayAnswer, Box<GatewayAnswer>> {
        let subject = match &self.tokens {
            Some(tokens) if hop != Hop::Backend => {
                let subject = tokens.validator.subject(request.headers, self.clock.unix_ms());
                Some(subject.map_err(|fault| Box::new(fault.answer()))?)
            }
            _ => None,
        };
        if let Some(authorizer) = self.authorizer.as_ref().filter(|_| hop == Hop::Authorized) {
            let subject = subject.as_deref().unwrap_or(ANONYMOUS).to_owned();
            let (method, path) = (request.method.to_string(), request.path.to_owned());
            if !authorizer.allows(AccessAttributes { subject, method, path }).await {
                let description = "the subject may not do this at this path";
                let refusal = GatewayAnswer::error(StatusCode::FORBIDDEN, "forbidden", description);
                return Err(Box::new(refusal));
            }
        }
        let request = BackendRequest { user: subject.as_deref(), ..request };
        let right = self.backend.answer(request).await;
        Ok(self.lies.answer(&request, right, &self.backend, self.clock.elapsed()))
    }

    fn authorization_counts(&self) -> AuthorizationCounts {
        self.authorizer.as_ref().map(Authorizer::counts).unwrap_or_default()
    }

    fn stats(&self) -> Value {
        let AuthorizationCounts { hits, misses, wait } = self.authorization_counts();
        let (told, unlisted) = self.told_lies();
        let mut lies = BTreeMap::<GatewayLieKind, u64>::new();
        told.iter().for_each(|lie| *lies.entry(lie.kind).or_default() += 1);
        json!({
            "requests": self.counts.by_endpoint(),
            "authorization": { "cache_hits": hits, "cache_misses": misses, "wait_ms": whole_ms(wait) },
            "sessions": self.open_sessions(),
            "lies": lies,
            "unlisted_lies": unlisted,
        })
    }
}

impl LabConfig for GatewayLabPlan {
    type Target = GatewayTarget;

    const THREAD: &'static str = "lab-gateway";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, url: &str) -> Result<GatewayTarget, LabError> {
        let style = if self.odd { WritingStyle::Odd } else { WritingStyle::Usual };
        let (seed, clock) = (self.faults.seed, Arc::clone(clock));
        let tokens = self.token.map(|plan| {
            let below = |error: LabError| error.below("token");
            let issuer = TokenIssuer::new(plan.clone(), url).map_err(below)?;
            let validator = TokenValidator::new(&plan, issuer.key()).map_err(below)?;
            Ok::<_, LabError>(TokenSide { issuer, validator })
        });
        let authorizer = self.authorization.map(|plan| {
            Authorizer::new(plan, seed, Arc::clone(&clock)).map_err(|error| error.below("authorization"))
        });
        Ok(GatewayTarget {
            tokens: tokens.transpose()?,
            authorizer: authorizer.transpose()?,
            backend: Backend::new(self.backend, seed, style, url, Arc::clone(&clock)),
            lies: GatewayLies::new(&self.lies, style, clock.elapsed()),
            style,
            counts: AnswerCounts::default(),
            clock,
        })
    }
}

impl LabTarget for GatewayTarget {
    const CAN_LOSE_DATA: bool = true;

    fn with_own_stats(&self, stats: LabStats) -> LabStats {
        let AuthorizationCounts { hits, misses, wait } = self.authorization_counts();
        LabStats {
            authorization_cache_hits: hits,
            authorization_cache_misses: misses,
            authorization_wait_ms: whole_ms(wait),
            ..stats
        }
    }

    fn restart(&self, now: Duration) {
        self.lies.restart(now);
    }
}

impl Target for GatewayTarget {
    const ENDPOINTS: &'static [&'static str] = ENDPOINTS;

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        Route::of(path).endpoint()
    }

    async fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        let answer = self.routed(&parts, &body).await;
        self.counts.answered(endpoint, answer.status());
        answer
    }

    fn has_title_case_headers(&self) -> bool {
        self.style == WritingStyle::Odd
    }

    /// Its sessions and its decisions; its keys follow from seeds and files.
    fn lose_data(&self) {
        self.backend.forget();
        self.authorizer.iter().for_each(Authorizer::forget);
    }
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Whom authorization asks about where no token is needed, as Kubernetes calls nobody.
const ANONYMOUS: &str = "system:anonymous";
