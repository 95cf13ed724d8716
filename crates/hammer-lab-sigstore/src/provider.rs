//! An embedded OpenID provider that grants tokens to clients and by passwords (RFC 6749 sections 4.3 and 4.4), as a load test's own
//! Keycloak does. Whoever says who he is is believed: it is there to be asked, and to fail when it is told to.

mod plan;

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
    token_endpoint::{self, GrantRefusal, TokenRequest},
};
use hammer_lab_authority::TokenKey;
use http::{Method, Response, StatusCode, request::Parts};
use serde_json::json;

pub use plan::ProviderLabPlan;

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
    key: TokenKey,
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
        let expires_in = token_endpoint::lifetime(plan.expires_in)?;
        let key = TokenKey::of_seed("provider", plan.key_seed)?;
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
            JWKS => answer::json(self.key.jwk_set()),
            _ => self.granted(&parts, &body).unwrap_or_else(GrantRefusal::answer),
        }
    }
}

impl ProviderTarget {
    fn discovery(&self) -> String {
        let url = &self.url;
        token_endpoint::discovery(url, &format!("{url}/jwks.json"), &format!("{url}/token"))
    }

    /// A token for whoever asks as a client must.
    fn granted(&self, parts: &Parts, body: &[u8]) -> Result<Response<AnswerBody>, GrantRefusal> {
        let asked = TokenRequest::read(parts, body)?;
        let now = self.clock.unix_ms() / 1000;
        let email = email(asked.whom());
        let token = self.key.token(&json!({
            "iss": self.url,
            "aud": self.audience,
            "sub": email,
            "email": email,
            "email_verified": true,
            "iat": now,
            "exp": now + self.expires_in,
        }));
        Ok(asked.granted(&token, self.expires_in))
    }
}

/// A name as an e-mail address.
fn email(name: &str) -> String {
    let is_address =
        name.split_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty());
    if is_address { name.to_owned() } else { format!("{name}@hammer.test") }
}

const DISCOVERY: &str = "discovery";
const JWKS: &str = "jwks";
const TOKEN: &str = "token";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_address_becomes_one() {
        assert_eq!(["j@d.e", "c"].map(email), ["j@d.e", "c@hammer.test"]);
    }
}
