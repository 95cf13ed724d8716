//! The embedded gateway as a plan writes it.

use std::path::PathBuf;

use hammer_lab::{FaultScript, fault::Latency, lie_rule::LieRule, serve::ServePlan};
use hammer_values::{Count, Rate, RequestPath, TimeSpan};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What a lie of the embedded gateway is. Each is of one answer of the backend, by any hop, with a status of 2xx; what cannot have a
/// lie is not counted by its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GatewayLieKind {
    /// 200 with the HTML of a login form in place of the answer.
    LoginPage,
    /// The answer to a GET is that of another path that was asked before, and differs from the right one: a cache that mixes them up.
    AnotherAnswer,
    /// The second half of the JSON is not there, and `content-length` is that of the first.
    CutJson,
    /// A session that is read is another one that is there.
    StaleSession,
}

/// An embedded gateway before an echo; every key may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GatewayLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: backend, authenticated, authorized (the hops), token, discovery, jwks, stats.
    pub faults: FaultScript,
    /// What stands behind the gateway.
    pub backend: BackendPlan,
    /// Whose tokens are taken; with `false` none is needed, and nobody grants any.
    #[serde(deserialize_with = "unless_off")]
    pub token: Option<TokenPlan>,
    /// Who may do what; with `false` nobody is asked.
    #[serde(deserialize_with = "unless_off")]
    pub authorization: Option<AuthorizationPlan>,
    /// Whether it is honest in another way than most: JSON with its keys in another order, white space and escaped slashes; bodies in
    /// chunks; header names as Go writes them over HTTP/1.1; `location` absolute and relative by turns.
    pub odd: bool,
    /// Lies that it tells on purpose, and owns up to; without any it is honest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<LieRule<GatewayLieKind>>,
}

/// The echo behind the gateway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BackendPlan {
    /// What it answers outside of `/echo/` and `/sessions`, as plain text.
    pub body: String,
    /// The time that it takes for each answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Most sessions that are there at once; beyond that the oldest goes.
    pub max_sessions: Count,
}

/// Tokens: whose are taken, and what is granted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TokenPlan {
    /// The issuer that tokens must name (`iss`).
    pub issuer: String,
    /// For whom they must be (`aud`).
    pub audience: String,
    /// Files with a JWK set (RFC 7517) whose keys of RSA and P-256 are trusted, besides the one of the seed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jwks_files: Vec<PathBuf>,
    /// A JWK set as text, whose keys are trusted too.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub jwks: String,
    /// PEM files with public keys of RSA or P-256 that are trusted, besides the one of the seed, whatever `kid` a token names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub public_key_files: Vec<PathBuf>,
    /// Seed of the P-256 key of the token endpoint, which is trusted: whoever knows it holds the key.
    pub key_seed: u64,
    /// How long a granted token lives, in whole seconds.
    pub expires_in: TimeSpan,
    /// The client that is granted tokens.
    pub client: GatewayClient,
    /// The user who is granted tokens by a password, through the client.
    pub user: GatewayUser,
}

/// The client of the token endpoint (RFC 6749 section 2.3.1): nobody's secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GatewayClient {
    /// `client_id`, which is the subject of its tokens.
    pub id: String,
    /// `client_secret`.
    pub secret: String,
}

/// The user of the token endpoint (RFC 6749 section 4.3.2): nobody's secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GatewayUser {
    /// `username`, which is the subject of the tokens.
    pub name: String,
    /// `password`.
    pub password: String,
}

/// Decisions of authorization, which are asked of an API and cached, as kube-rbac-proxy does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuthorizationPlan {
    /// The time that the API takes for a decision.
    pub latency: Latency,
    /// How often it is asked at most; whoever comes sooner waits for his turn, first come first served. Without end without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Decisions that may be asked for at once after a pause, whatever the rate.
    pub burst: Count,
    /// How long it is remembered that a request is allowed.
    pub allowed_for: TimeSpan,
    /// How long it is remembered that one is denied.
    pub denied_for: TimeSpan,
    /// Most decisions that are remembered; beyond that the one goes that was not used for longest.
    pub max_entries: Count,
    /// Paths at and below which everybody is denied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<RequestPath>,
}

/// `false`, or `null`, for nothing, and `true` for what a plan has that says nothing.
fn unless_off<'de, D, P>(plan: D) -> Result<Option<P>, D::Error>
where
    D: Deserializer<'de>,
    P: Default + DeserializeOwned,
{
    match Value::deserialize(plan)? {
        Value::Null | Value::Bool(false) => Ok(None),
        Value::Bool(true) => Ok(Some(P::default())),
        plan => serde_json::from_value(plan).map(Some).map_err(D::Error::custom),
    }
}

impl Default for GatewayLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            backend: BackendPlan::default(),
            token: Some(TokenPlan::default()),
            authorization: Some(AuthorizationPlan::default()),
            odd: false,
            lies: Vec::new(),
        }
    }
}

impl Default for BackendPlan {
    fn default() -> Self {
        Self { body: "hello-world\n".to_owned(), latency: None, max_sessions: Count::at_least_one(10_000) }
    }
}

impl Default for TokenPlan {
    fn default() -> Self {
        Self {
            issuer: "http://issuer.hammer.test".to_owned(),
            audience: "gateway".to_owned(),
            jwks_files: Vec::new(),
            jwks: String::new(),
            public_key_files: Vec::new(),
            key_seed: 1,
            expires_in: TimeSpan::from_secs(300),
            client: GatewayClient::default(),
            user: GatewayUser::default(),
        }
    }
}

impl Default for GatewayClient {
    fn default() -> Self {
        Self { id: "hammer".to_owned(), secret: "lab-secret".to_owned() }
    }
}

impl Default for GatewayUser {
    fn default() -> Self {
        Self { name: "jane".to_owned(), password: "lab-password".to_owned() }
    }
}

impl Default for AuthorizationPlan {
    fn default() -> Self {
        Self {
            latency: Latency::Constant(TimeSpan::from_millis(3)),
            rate: None,
            // As client-go's default.
            burst: Count::at_least_one(10),
            // As kube-rbac-proxy's.
            allowed_for: TimeSpan::from_secs(300),
            denied_for: TimeSpan::from_secs(30),
            // As the webhook authorizer of Kubernetes.
            max_entries: Count::at_least_one(8192),
            denied: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_plan_survives_its_own_text_and_unknown_keys_are_refused() {
        let text = serde_json::to_string(&GatewayLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<GatewayLabPlan>(&text).unwrap(), GatewayLabPlan::default());
        for unknown in [r#"{"tokens": {}}"#, r#"{"token": {"kid": 1}}"#, r#"{"authorization": {"qps": 1}}"#] {
            assert!(serde_json::from_str::<GatewayLabPlan>(unknown).is_err(), "{unknown}");
        }
    }

    #[test]
    fn a_plan_reads_from_text_and_its_hops_can_be_switched_off() {
        let off: GatewayLabPlan = serde_json::from_str(r#"{"token": false, "authorization": null}"#).unwrap();
        assert!(off.token.is_none() && off.authorization.is_none());
        let on: GatewayLabPlan = serde_json::from_str(r#"{"token": true}"#).unwrap();
        assert_eq!(on, GatewayLabPlan::default());
        let text = r#"{"token": false, "authorization": {"rate": "29/s", "denied": ["/admin"]}, "lies": [{"kind": "cut-json"}]}"#;
        let plan: GatewayLabPlan = serde_json::from_str(text).unwrap();
        assert_eq!((&plan.token, plan.lies[0].kind), (&None, GatewayLieKind::CutJson));
        let authorization = plan.authorization.clone().unwrap();
        assert_eq!((authorization.burst.get(), authorization.denied_for), (10, TimeSpan::from_secs(30)));
        let written = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<GatewayLabPlan>(&written).unwrap(), plan);
    }
}
