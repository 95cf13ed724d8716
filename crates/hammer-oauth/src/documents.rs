//! What an issuer publishes about itself (OpenID Connect Discovery 1.0, RFC 7517).

use serde::Deserialize;
use serde_json::json;

use crate::keys::IssuerKeys;

/// The two documents that let a verifier find the keys of an issuer, and where below its server they lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerDocuments {
    /// The configuration, in JSON.
    pub discovery: Vec<u8>,
    /// Where it lies: `/.well-known/openid-configuration`, below the issuer's own path.
    pub discovery_path: String,
    /// The keys, in JSON.
    pub jwks: Vec<u8>,
    /// Where they lie: `/jwks.json`, below the issuer's own path.
    pub jwks_path: String,
}

/// Why a text is no issuer. Completes "failed to ...".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "use the issuer {issuer:?}: expected http(s)://host, a port and a path if there are any, and nothing behind"
)]
pub struct IssuerUrlError {
    /// What was given.
    pub issuer: String,
}

impl IssuerDocuments {
    /// The documents of an issuer that signs with these keys, the newest first as a rule.
    ///
    /// # Errors
    /// An issuer that is no URL of HTTP, or has a query or a fragment (OpenID Connect Core 1.0 section 2, `iss`).
    pub fn new(issuer: &str, keys: &[&IssuerKeys]) -> Result<Self, IssuerUrlError> {
        let path = path(issuer).ok_or_else(|| IssuerUrlError { issuer: issuer.to_owned() })?;
        // A slash at the end is the issuer's, and not that of what lies below (section 4.1 of Discovery).
        let base = issuer.trim_end_matches('/');
        let mut algorithms: Vec<&str> = Vec::new();
        for key in keys {
            if !algorithms.contains(&key.algorithm().name()) {
                algorithms.push(key.algorithm().name());
            }
        }
        let discovery = json!({
            "issuer": issuer,
            "jwks_uri": format!("{base}{JWKS}"),
            "authorization_endpoint": format!("{base}/auth"),
            "token_endpoint": format!("{base}/token"),
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": algorithms,
        });
        let jwks: Vec<String> = keys.iter().map(|key| key.jwk()).collect();
        Ok(Self {
            discovery: discovery.to_string().into_bytes(),
            discovery_path: format!("{path}{DISCOVERY}"),
            jwks: format!(r#"{{"keys":[{}]}}"#, jwks.join(",")).into_bytes(),
            jwks_path: format!("{path}{JWKS}"),
        })
    }
}

/// Where an issuer says that it grants tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerDiscovery {
    /// The `token_endpoint`.
    pub token_endpoint: String,
}

/// Why a document is no configuration of an issuer that grants tokens. Completes "failed to ...".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// It is no JSON object with the members that every configuration has.
    #[error("read the issuer's configuration: it is not the JSON of one, with an issuer")]
    Json,
    /// It is of somebody else (section 4.3 of Discovery).
    #[error("use the issuer's configuration: it is of {found:?}, and not of {expected}")]
    Issuer {
        /// The `issuer` of it, cut off where it is long.
        found: String,
        /// The one that was asked.
        expected: String,
    },
    /// It names no endpoint for tokens.
    #[error("use the issuer's configuration: it has no token_endpoint that is a URL of HTTP")]
    NoTokenEndpoint,
}

#[derive(Deserialize)]
struct WrittenDiscovery {
    issuer: String,
    token_endpoint: Option<String>,
}

impl IssuerDiscovery {
    /// The path of the configuration, behind the issuer's own.
    pub const PATH: &'static str = DISCOVERY;

    /// Reads the configuration of `issuer`.
    ///
    /// # Errors
    /// What is no configuration, or that of another issuer, or of one that grants nothing.
    pub fn read(json: &[u8], issuer: &str) -> Result<Self, DiscoveryError> {
        let written: WrittenDiscovery = serde_json::from_slice(json).map_err(|_| DiscoveryError::Json)?;
        if written.issuer.trim_end_matches('/') != issuer.trim_end_matches('/') {
            let found = written.issuer.chars().take(LONGEST_FOUND).collect();
            return Err(DiscoveryError::Issuer { found, expected: issuer.to_owned() });
        }
        let token_endpoint = written.token_endpoint.filter(|url| path(url).is_some());
        token_endpoint.map(|token_endpoint| Self { token_endpoint }).ok_or(DiscoveryError::NoTokenEndpoint)
    }
}

const LONGEST_FOUND: usize = 200;

/// The path of an issuer, without a slash at its end.
fn path(issuer: &str) -> Option<&str> {
    let rest = issuer.strip_prefix("http://").or_else(|| issuer.strip_prefix("https://"))?;
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let plain = !issuer.contains(|symbol: char| matches!(symbol, '?' | '#') || symbol.is_whitespace());
    (!host.is_empty() && plain).then(|| path.trim_end_matches('/'))
}

const DISCOVERY: &str = "/.well-known/openid-configuration";
const JWKS: &str = "/jwks.json";

#[cfg(test)]
mod tests {
    use hammer_synth::seed::Seed;
    use serde_json::Value;

    use super::*;
    use crate::keys::TokenAlgorithm;

    fn documents(issuer: &str) -> IssuerDocuments {
        let keys = |algorithm, rotation| IssuerKeys::derive(&Seed::from_u64(1), algorithm, rotation);
        let (new, old) = (keys(TokenAlgorithm::Es256, 1), keys(TokenAlgorithm::Es256, 0));
        IssuerDocuments::new(issuer, &[&new, &old]).unwrap()
    }

    fn json(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn a_configuration_says_what_a_recorded_one_says() {
        let ours = json(&documents("http://127.0.0.1:18888").discovery);
        let mut theirs = json(include_bytes!("../testdata/oidc-openid-configuration.json"));
        theirs["id_token_signing_alg_values_supported"] = json!(["ES256"]);
        assert_eq!(ours, theirs);
    }

    #[test]
    fn the_documents_of_an_issuer_with_a_path_lie_below_it() {
        for issuer in ["https://localhost:1/realms/tas", "https://localhost:1/realms/tas/"] {
            let documents = documents(issuer);
            assert_eq!(documents.discovery_path, "/realms/tas/.well-known/openid-configuration");
            assert_eq!(documents.jwks_path, "/realms/tas/jwks.json");
            let discovery = json(&documents.discovery);
            assert_eq!(discovery["issuer"], issuer);
            assert_eq!(discovery["jwks_uri"], "https://localhost:1/realms/tas/jwks.json");
        }
        assert_eq!(documents("http://a/").jwks_path, "/jwks.json");
    }

    #[test]
    fn every_key_of_an_issuer_is_published() {
        let jwks = json(&documents("http://a").jwks);
        let keys = jwks["keys"].as_array().unwrap();
        assert_eq!(keys.len(), 2);
        assert_ne!(keys[0]["kid"], keys[1]["kid"]);
    }

    #[test]
    fn a_configuration_says_where_tokens_are_granted() {
        let recorded = include_bytes!("../testdata/oidc-openid-configuration.json");
        let read = |json: &[u8], issuer| IssuerDiscovery::read(json, issuer);
        let endpoint = "http://127.0.0.1:18888/token";
        for issuer in ["http://127.0.0.1:18888", "http://127.0.0.1:18888/"] {
            assert_eq!(read(recorded, issuer).unwrap().token_endpoint, endpoint);
        }
        let (found, expected) = ("http://127.0.0.1:18888".to_owned(), "http://127.0.0.1:1".to_owned());
        assert_eq!(read(recorded, "http://127.0.0.1:1"), Err(DiscoveryError::Issuer { found, expected }));
        assert_eq!(read(b"{}", "a"), Err(DiscoveryError::Json));
        for endpoint in ["", r#","token_endpoint":"ftp://a/token""#, r#","token_endpoint":"http://a b""#] {
            let json = format!(r#"{{"issuer":"http://a"{endpoint}}}"#);
            assert_eq!(read(json.as_bytes(), "http://a"), Err(DiscoveryError::NoTokenEndpoint), "{json}");
        }
    }

    #[test]
    fn what_is_no_issuer_is_refused() {
        for issuer in [
            "",
            "127.0.0.1:1",
            "http://",
            "http:///path",
            "ftp://a",
            "http://a?b",
            "http://a/#b",
            "http://a b",
        ] {
            let error = IssuerDocuments::new(issuer, &[]).unwrap_err();
            assert!(error.to_string().starts_with("use the issuer "), "{issuer}");
        }
    }
}
