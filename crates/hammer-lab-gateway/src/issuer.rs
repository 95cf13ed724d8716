//! The issuer beside the gateway: it grants tokens to its client and its user.

use bytes::Bytes;
use hammer_lab::{
    LabError,
    serve::answer::{self, AnswerBody},
    token_endpoint::{self, GrantRefusal, TokenRequest},
};
use hammer_lab_authority::TokenKey;
use http::{Response, request::Parts};
use serde_json::json;

use crate::plan::TokenPlan;
use crate::route::{JWKS_PATH, TOKEN_PATH};

/// What grants tokens, and says how they are verified.
#[derive(Debug)]
pub(crate) struct TokenIssuer {
    plan: TokenPlan,
    key: TokenKey,
    /// Seconds.
    expires_in: u64,
    /// The gateway's own.
    url: String,
}

impl TokenIssuer {
    /// The issuer of a plan, at a gateway that is reached by this URL.
    ///
    /// # Errors
    /// Tokens that live for less than a second; the key is below `token`.
    pub(crate) fn new(plan: TokenPlan, url: &str) -> Result<Self, LabError> {
        let expires_in = token_endpoint::lifetime(plan.expires_in)?;
        let key = TokenKey::of_seed("gateway", plan.key_seed)?;
        Ok(Self { plan, key, expires_in, url: url.to_owned() })
    }

    /// The key that signs its tokens.
    pub(crate) fn key(&self) -> &TokenKey {
        &self.key
    }

    /// The subject of its client's tokens.
    pub(crate) fn client(&self) -> &str {
        &self.plan.client.id
    }

    /// OpenID Connect Discovery section 3. The issuer is the plan's, wherever the gateway is.
    pub(crate) fn discovery(&self) -> Response<AnswerBody> {
        let [jwks_uri, token_endpoint] = [JWKS_PATH, TOKEN_PATH].map(|path| format!("{}{path}", self.url));
        answer::json(token_endpoint::discovery(&self.plan.issuer, &jwks_uri, &token_endpoint))
    }

    /// The set of its one key (RFC 7517 section 5).
    pub(crate) fn jwks(&self) -> Response<AnswerBody> {
        answer::json(self.key.jwk_set())
    }

    /// A token of that subject, which is good for so many seconds from `now` on, both in seconds.
    pub(crate) fn token(&self, subject: &str, now: u64, expires_in: u64) -> String {
        self.key.token(&json!({
            "iss": self.plan.issuer,
            "aud": self.plan.audience,
            "sub": subject,
            "iat": now,
            "exp": now + expires_in,
        }))
    }

    /// The answer to whoever asks for a token at this many milliseconds since the Unix epoch.
    pub(crate) fn granted(&self, parts: &Parts, body: &Bytes, unix_ms: u64) -> Response<AnswerBody> {
        match self.asked(parts, body) {
            Ok(asked) => {
                let token = self.token(asked.whom(), unix_ms / 1000, self.expires_in);
                asked.granted(&token, self.expires_in)
            }
            Err(refusal) => refusal.answer(),
        }
    }

    /// A request of those who are known.
    fn asked(&self, parts: &Parts, body: &Bytes) -> Result<TokenRequest, GrantRefusal> {
        let asked = TokenRequest::read(parts, body)?;
        let (client, user) = (&self.plan.client, &self.plan.user);
        if asked.client_id != client.id || asked.client_secret.as_ref() != Some(&client.secret) {
            return Err(GrantRefusal::Client);
        }
        match &asked.user {
            Some(shown) if shown.username != user.name || shown.password != user.password => {
                Err(GrantRefusal::Grant)
            }
            _ => Ok(asked),
        }
    }
}
