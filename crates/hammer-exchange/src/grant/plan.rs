//! Grants in plans.

use hammer_oauth::{ClientAuthentication, Grant, GrantRequest, PoolPlan, SecretText, WantedToken};
use hammer_values::{Agreed, Count, KeyConflict, PlanBlock, ServiceUrl, TimeSpan, WholePercent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::token::{TokenError, TokenPlan};

/// Tokens that an issuer grants (RFC 6749), and that are kept fresh beside the load. Secrets never stand in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GrantPlan {
    /// Where tokens are granted: the token endpoint. This, or `issuer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_url: Option<ServiceUrl>,
    /// The issuer, whose `/.well-known/openid-configuration` names the token endpoint; it is read once, before the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<ServiceUrl>,
    /// What entitles to a token: `client_credentials` or `password`.
    pub kind: GrantKind,
    /// Who asks.
    pub client_id: String,
    /// The client's secret; a public client has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<TokenPlan>,
    /// Where the secret is said: in the header (`basic`), or in the body (`post`).
    pub client_auth: ClientSecretPlace,
    /// Of `password`: whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Of `password`: the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<TokenPlan>,
    /// The `scope`, with spaces between its words; for an identity token it has `openid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The `audience` that is asked for; many issuers know no such parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// Which token of an answer is shown: `id_token`, `access_token`, or `either`, which is the first where there is one. Without it
    /// `access_token`, and of an `identity` of Sigstore `either`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<GrantedKind>,
    /// How many tokens are kept; operations take them in turn.
    pub tokens: Count,
    /// The share of a token's life after which the next one is asked for.
    pub refresh: WholePercent,
    /// How long the endpoint may take to answer.
    pub timeout: TimeSpan,
}

/// A grant for bearer tokens, which need not say where they are granted in a plan whose embedded target grants them itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct BearerGrantPlan(GrantPlan);

/// What entitles to a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantKind {
    /// The client itself (RFC 6749 section 4.4).
    #[default]
    ClientCredentials,
    /// Name and password of somebody (section 4.3).
    Password,
}

/// Where a client says its secret (RFC 6749 section 2.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClientSecretPlace {
    /// In the header `Authorization`.
    #[default]
    Basic,
    /// In the body, as `client_secret`.
    Post,
}

/// Which token of an answer is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantedKind {
    /// The `id_token`, and where there is none the `access_token`.
    Either,
    /// The `id_token`.
    IdToken,
    /// The `access_token`.
    AccessToken,
}

impl Default for GrantPlan {
    fn default() -> Self {
        Self {
            token_url: None,
            issuer: None,
            kind: GrantKind::default(),
            client_id: String::new(),
            client_secret: None,
            client_auth: ClientSecretPlace::default(),
            username: None,
            password: None,
            scope: None,
            audience: None,
            token: None,
            tokens: Count::at_least_one(1),
            refresh: WholePercent::try_from(75).unwrap_or_default(),
            timeout: TimeSpan::from_secs(10),
        }
    }
}

impl PlanBlock for GrantPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        let is_in_one_place = self.token_url.is_some() != self.issuer.is_some();
        match is_in_one_place {
            true => self.conflict_of_rest(),
            false => Some(KeyConflict::at("token_url", "give exactly one of token_url, issuer")),
        }
    }
}

impl PlanBlock for BearerGrantPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        match self.is_placed() {
            true => self.0.conflict(),
            false => self.0.conflict_of_rest(),
        }
    }
}

impl BearerGrantPlan {
    /// Whether it says where tokens are granted.
    pub const fn is_placed(&self) -> bool {
        self.0.token_url.is_some() || self.0.issuer.is_some()
    }

    /// The grant where it says itself, else at the token endpoint of what is embedded.
    ///
    /// # Errors
    /// The conflict of a grant that is nowhere.
    pub fn placed(&self, embedded: Option<&ServiceUrl>) -> Result<Agreed<GrantPlan>, KeyConflict> {
        let own = self.0.token_url.as_ref();
        let token_url = if self.is_placed() { own } else { embedded };
        Agreed::new(GrantPlan { token_url: token_url.cloned(), ..self.0.clone() })
    }
}

impl GrantPlan {
    /// What contradicts itself beside where tokens are granted.
    fn conflict_of_rest(&self) -> Option<KeyConflict> {
        let is_password = self.kind == GrantKind::Password;
        let conflicts = [
            (self.client_id.is_empty(), "client_id", "it is not given: every client has a name"),
            (
                !is_password && self.client_secret.is_none(),
                "client_secret",
                "it is not given: a client that asks in its own name proves who it is (or set kind: password)",
            ),
            (is_password && self.username.is_none(), "username", "it is not given: kind is password"),
            (is_password && self.password.is_none(), "password", "it is not given: kind is password"),
            (
                !is_password && self.username.is_some(),
                "username",
                "kind is client_credentials: nobody has a name there",
            ),
            (
                !is_password && self.password.is_some(),
                "password",
                "kind is client_credentials: nobody has one there",
            ),
            (
                !(1..=99).contains(&self.refresh.of_100()),
                "refresh",
                "a token is refreshed within its life: from 1 to 99",
            ),
        ];
        let (_, key, reason) = conflicts.into_iter().find(|(is_one, ..)| *is_one)?;
        Some(KeyConflict::at(key, reason))
    }
}

impl GrantPlan {
    /// What is asked of the endpoint, with the secrets, which are read now.
    ///
    /// # Errors
    /// A secret that cannot be read, with the key that says where it should be.
    pub fn request(&self) -> Result<GrantRequest, (&'static str, TokenError)> {
        let read = |key: &'static str, place: Option<&TokenPlan>| match place {
            None => Ok(None),
            Some(place) => {
                let secret = place.read().map_err(|error| (key, error))?;
                Ok(Some(SecretText::new(secret.expose())))
            }
        };
        let id = self.client_id.clone();
        let client = match (read("client_secret", self.client_secret.as_ref())?, self.client_auth) {
            (None, _) => ClientAuthentication::Public { id },
            (Some(secret), ClientSecretPlace::Basic) => ClientAuthentication::Basic { id, secret },
            (Some(secret), ClientSecretPlace::Post) => ClientAuthentication::Body { id, secret },
        };
        let grant = match (self.kind, read("password", self.password.as_ref())?) {
            (GrantKind::Password, Some(password)) => {
                Grant::Password { username: self.username.clone().unwrap_or_default(), password }
            }
            _ => Grant::ClientCredentials,
        };
        let extra = self.audience.iter().map(|audience| ("audience".to_owned(), audience.clone())).collect();
        Ok(GrantRequest { grant, client, scope: self.scope.clone(), extra })
    }

    /// Which token of an answer is meant; `otherwise`, where the plan does not say it.
    pub fn wanted(&self, otherwise: GrantedKind) -> WantedToken {
        match self.token.unwrap_or(otherwise) {
            GrantedKind::Either => WantedToken::Either,
            GrantedKind::IdToken => WantedToken::Id,
            GrantedKind::AccessToken => WantedToken::Access,
        }
    }

    /// How tokens are kept fresh. A short life has no time for long waits between tries.
    pub fn pool(&self) -> PoolPlan {
        let (size, refresh_percent) = (self.tokens.get(), self.refresh.of_100());
        PoolPlan { size, refresh_percent, first_backoff: 1, longest_backoff: LONGEST_BACKOFF }
    }
}

/// Seconds.
const LONGEST_BACKOFF: i64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Agreed<GrantPlan>, String> {
        serde_json::from_str(json).map_err(|error: serde_json::Error| error.to_string())
    }

    #[test]
    fn a_grant_that_contradicts_itself_is_refused_at_its_key() {
        for (json, key) in [
            (r#"{"client_id":"c","client_secret":{"env":"S"}}"#, "token_url"),
            (r#"{"token_url":"http://a/t","issuer":"http://a","client_id":"c"}"#, "token_url"),
            (r#"{"token_url":"http://a/t","client_secret":{"env":"S"}}"#, "client_id"),
            (r#"{"token_url":"http://a/t","client_id":"c"}"#, "client_secret"),
            (
                r#"{"token_url":"http://a/t","client_id":"c","kind":"password","password":{"env":"P"}}"#,
                "username",
            ),
            (r#"{"token_url":"http://a/t","client_id":"c","kind":"password","username":"u"}"#, "password"),
            (
                r#"{"token_url":"http://a/t","client_id":"c","client_secret":{"env":"S"},"password":{"env":"P"}}"#,
                "password",
            ),
            (
                r#"{"token_url":"http://a/t","client_id":"c","client_secret":{"env":"S"},"refresh":100}"#,
                "refresh",
            ),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(&format!("{key}: ")), "{json}: {error}");
        }
        let inline =
            read(r#"{"token_url":"http://a/t","client_id":"c","client_secret":"canary"}"#).unwrap_err();
        assert!(inline.contains("a map with file or env") && !inline.contains("canary"), "{inline}");
    }

    #[test]
    fn a_grant_for_bearer_tokens_that_is_nowhere_is_where_the_embedded_target_grants() {
        let read = |json: &str| serde_json::from_str::<Agreed<BearerGrantPlan>>(json);
        let client = r#""client_id":"c","client_secret":{"env":"S"}"#;
        let embedded: ServiceUrl = "http://127.0.0.1:7/oauth/token".parse().unwrap();
        let nowhere = read(&format!("{{{client}}}")).unwrap();
        assert_eq!(nowhere.placed(Some(&embedded)).unwrap().token_url, Some(embedded.clone()));
        assert_eq!(nowhere.placed(None).unwrap_err().key(), "token_url");
        let issued = read(&format!(r#"{{"issuer":"http://a",{client}}}"#)).unwrap().placed(Some(&embedded));
        assert!(issued.unwrap().token_url.is_none(), "it says where");
        for twice in
            [r#"{"token_url":"http://a/t","issuer":"http://a","client_id":"c"}"#, r#"{"client_id":"c"}"#]
        {
            assert!(read(twice).is_err(), "{twice}");
        }
    }

    #[test]
    fn a_grant_survives_its_own_text_and_holds_no_secret() {
        let json = r#"{"issuer":"http://a","kind":"password","client_id":"c","username":"u","password":{"env":"PATH"}}"#;
        let plan = read(json).unwrap();
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(*read(&text).unwrap(), *plan);
        let request = plan.request().unwrap();
        let password = std::env::var("PATH").unwrap();
        assert!(!text.contains(&password) && !format!("{request:?}").contains(&password));
        assert!(request.body().expose().starts_with("grant_type=password&username=u&password="));
        let absent =
            GrantPlan { password: Some(TokenPlan::Env("HAMMER_TEST_ABSENT".into())), ..(*plan).clone() };
        let (key, error) = absent.request().unwrap_err();
        assert_eq!((key, error.key()), ("password", "env"));
    }
}
