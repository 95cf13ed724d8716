//! An embedded OpenID provider that grants tokens to clients and by passwords (RFC 6749 sections 4.3 and 4.4), as a load test's own
//! Keycloak does. Whoever says who he is is believed: it is there to be asked, and to fail when it is told to.

mod grant;
mod plan;
mod token;

use std::sync::Arc;

use bytes::Bytes;
use hammer_lab::{
    FaultScript, LabError,
    clock::Clock,
    handle::{LabConfig, LabHandle, LabTarget},
    serve::{
        ServePlan, Target,
        answer::{self, AnswerBody},
    },
};
use http::{Method, Response, StatusCode, request::Parts};
use serde_json::json;

use grant::GrantRefusal;
pub use plan::ProviderLabPlan;
use token::ProviderKey;

/// Everything that the embedded provider needs to start.
#[derive(Debug)]
pub struct ProviderConfig {
    /// How it is served, what goes wrong, and how long its tokens live.
    pub plan: ProviderLabPlan,
    /// For whom its tokens are (`aud`).
    pub audience: String,
}

/// A provider that runs.
pub type ProviderLabHandle = LabHandle<ProviderTarget>;

/// What grants tokens.
#[derive(Debug)]
pub struct ProviderTarget {
    url: String,
    audience: String,
    /// Seconds.
    expires_in: u64,
    key: ProviderKey,
    clock: Arc<dyn Clock>,
}

impl LabConfig for ProviderConfig {
    type Target = ProviderTarget;

    const THREAD: &'static str = "lab-provider";

    fn serve(&self) -> &ServePlan {
        &self.plan.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.plan.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, url: &str) -> Result<ProviderTarget, LabError> {
        let Self { plan, audience } = self;
        let expires_in = plan.expires_in.duration().as_secs();
        if expires_in == 0 {
            let reason = "a token lives for a second at least".to_owned();
            return Err(LabError::Plan { key: "expires_in".into(), reason });
        }
        let key = ProviderKey::of_seed(plan.key_seed)?;
        Ok(ProviderTarget { url: url.to_owned(), audience, expires_in, key, clock: Arc::clone(clock) })
    }
}

impl LabTarget for ProviderTarget {}

impl Target for ProviderTarget {
    const ENDPOINTS: &'static [&'static str] = &[DISCOVERY, JWKS, TOKEN, "other"];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        match path {
            "/.well-known/openid-configuration" => DISCOVERY,
            "/jwks.json" => JWKS,
            "/token" => TOKEN,
            _ => "other",
        }
    }

    async fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        let is_token = endpoint == TOKEN;
        let is_meant = if is_token { parts.method == Method::POST } else { parts.method == Method::GET };
        match endpoint {
            "other" => answer::error(StatusCode::NOT_FOUND, &format!("{} is not here", parts.uri.path())),
            _ if !is_meant => {
                let reason = format!("method not allowed: {}", parts.method);
                answer::error(StatusCode::METHOD_NOT_ALLOWED, &reason)
            }
            DISCOVERY => answer::json(self.discovery()),
            JWKS => answer::json(self.key.set()),
            _ => self.granted(&parts, &body).unwrap_or_else(refused),
        }
    }
}

impl ProviderTarget {
    fn discovery(&self) -> String {
        let url = &self.url;
        json!({
            "issuer": url,
            "jwks_uri": format!("{url}/jwks.json"),
            "token_endpoint": format!("{url}/token"),
            "grant_types_supported": ["client_credentials", "password"],
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        })
        .to_string()
    }

    /// A token for whoever asks as a client must (RFC 6749 section 5.1).
    fn granted(&self, parts: &Parts, body: &[u8]) -> Result<Response<AnswerBody>, GrantRefusal> {
        let asked = grant::read(parts, body)?;
        let now = self.clock.unix_ms() / 1000;
        let token = self.key.token(&token::GrantedClaims {
            issuer: &self.url,
            audience: &self.audience,
            email: &asked.email(),
            issued_at: now,
            expires_at: now + self.expires_in,
        });
        let mut answered =
            json!({ "access_token": token, "token_type": "Bearer", "expires_in": self.expires_in });
        if asked.wants_identity {
            answered["id_token"] = json!(token);
        }
        Ok(answer::no_store(answered.to_string()))
    }
}

/// RFC 6749 section 5.2.
fn refused(refusal: GrantRefusal) -> Response<AnswerBody> {
    let (status, error) = match refusal {
        GrantRefusal::Request => (StatusCode::BAD_REQUEST, "invalid_request"),
        GrantRefusal::Kind => (StatusCode::BAD_REQUEST, "unsupported_grant_type"),
        GrantRefusal::Grant => (StatusCode::BAD_REQUEST, "invalid_grant"),
        GrantRefusal::Client => (StatusCode::UNAUTHORIZED, "invalid_client"),
    };
    let mut answer = answer::no_store(json!({ "error": error }).to_string());
    *answer.status_mut() = status;
    answer
}

const DISCOVERY: &str = "discovery";
const JWKS: &str = "jwks";
const TOKEN: &str = "token";
