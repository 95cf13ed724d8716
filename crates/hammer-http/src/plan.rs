//! Requests as a plan writes them.

mod flows;
mod grpc_method;
mod header;
mod known;
mod method;
mod path;
mod value;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use bytes::Bytes;
use hammer_exchange::basic::BasicPlan;
use hammer_exchange::bearer::BearerPlan;
use hammer_values::{
    Agreed, JsonPlace, KeyConflict, OneOrMany, PlanBlock, Status, Word, broken_scheme, has_usable_port,
    without_user,
};
use http::header::AUTHORIZATION;
use http::uri::PathAndQuery;
use http::{Method, Uri};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::HttpError;

pub(crate) use known::KnownNames;

pub use flows::{Extraction, FlowPlan, HttpFlowsPlan, StepPlan};
pub use grpc_method::GrpcMethod;
pub use header::{HeaderKey, HeaderText, UnusableHeader};
pub use method::RequestMethod;
pub use path::PathText;
pub use value::{DrawPlan, HotValues, ValueOrder, ValuePlan};

/// A request in a plan file or on a command line; every key may be left out. Its texts may have placeholders, for which each operation
/// has something of its own: `${seq}`, `${uuid}`, `${random:N}`, `${hex:N}` and the names of `values`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpPlan {
    /// The service of `target.services` that it goes to; it may be left out where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The method, in capitals.
    pub method: RequestMethod,
    /// Path and query, put behind the path of the target's URL; empty for that path itself.
    pub path: PathText,
    /// The method of gRPC that is called, in place of `method` and `path`: a POST over HTTP/2 of one message, which is the body,
    /// answered by one, and judged by its `grpc-status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<GrpcMethod>,
    /// Headers by name, each with its value or a list of values. `Host` and `Content-Length` are filled in.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<HeaderKey, OneOrMany<HeaderText>>,
    /// The body as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The file whose bytes are the body; in place of `body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_file: Option<PathBuf>,
    /// The statuses that count as accepted; any other 2xx is then refused. Empty: every 2xx is accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Status<100, 599>>,
    /// A text that the body (of gRPC, the message) of an accepted answer holds; without it the answer is malformed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// Headers of an accepted answer, and the value that each has; else it is malformed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub expect_headers: BTreeMap<HeaderKey, HeaderText>,
    /// Places in the JSON that the body of an accepted answer is, and the value that each has; else it is malformed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub json: BTreeMap<JsonPlace, Value>,
    /// Values by their names, for its texts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<Word, Agreed<ValuePlan>>,
    /// Where the bearer token comes from; none is sent without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<BearerPlan>,
    /// A user with a password (RFC 7617), in place of a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic: Option<BasicPlan>,
    /// Which of the tokens a request has, where there are several; without it they are taken in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Agreed<DrawPlan>>,
}

impl HttpPlan {
    /// What its file holds; nothing without one.
    pub(crate) fn body_of_file(&self) -> Result<Bytes, HttpError> {
        let Some(path) = &self.body_file else { return Ok(Bytes::new()) };
        let read = fs::read(path).map(Bytes::from);
        read.map_err(|source| HttpError::Body { path: path.clone(), source })
    }
}

impl HttpPlan {
    /// Whether it says more of an accepted answer than that it is one: which statuses and headers it has, or what its body holds.
    pub fn expects(&self) -> bool {
        let of_head = !self.expect.is_empty() || !self.expect_headers.is_empty();
        of_head || self.contains.is_some() || !self.json.is_empty()
    }

    /// The key by which it has an `Authorization` of its own, that is no bearer token.
    pub fn own_authorization(&self) -> Option<&'static str> {
        if self.basic.is_some() {
            return Some("basic");
        }
        self.has_authorization_among_headers().then_some("headers")
    }

    fn has_authorization_among_headers(&self) -> bool {
        self.headers.keys().any(|key| key.name() == AUTHORIZATION)
    }
}

impl PlanBlock for HttpPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        let known = KnownNames::of(&self.values);
        known.conflict().or_else(|| self.conflict_of_keys()).or_else(|| self.conflict_of_texts(&known))
    }
}

impl HttpPlan {
    /// The first conflict of a request among several, whose texts may have these placeholders.
    pub(crate) fn conflict_within(&self, known: &KnownNames<'_>) -> Option<KeyConflict> {
        if !self.values.is_empty() {
            return Some(KeyConflict::at(
                "values",
                "they belong beside flows, for the texts of all requests",
            ));
        }
        self.conflict_of_keys().or_else(|| self.conflict_of_texts(known))
    }

    fn conflict_of_keys(&self) -> Option<KeyConflict> {
        if self.body.is_some() && self.body_file.is_some() {
            return Some(KeyConflict::at("body_file", "body is given too: only one of both may be"));
        }
        if self.bearer.is_some() && self.own_authorization() == Some("basic") {
            return Some(KeyConflict::at("basic", "bearer is given too: only one of both may be"));
        }
        for (key, is_given) in [("bearer", self.bearer.is_some()), ("basic", self.basic.is_some())] {
            if is_given && self.has_authorization_among_headers() {
                return Some(KeyConflict::at(key, "headers has Authorization too: only one of both may be"));
            }
        }
        if let Some(conflict) = self.basic.as_ref().and_then(BasicPlan::conflict) {
            return Some(conflict.below("basic"));
        }
        self.grpc.as_ref().and_then(|_| self.conflict_of_call())
    }
}

impl HttpPlan {
    fn conflict_of_texts(&self, known: &KnownNames<'_>) -> Option<KeyConflict> {
        let conflict = |key: &str, text: &str| known.conflict_of(key, text);
        let of_headers = |key: &'static str, name: &HeaderKey, value: &HeaderText| {
            known.conflict_of_secret(&format!("{key}.{}", String::from(name.clone())), value.text())
        };
        let mut headers = self
            .headers
            .iter()
            .flat_map(|(name, values)| values.as_slice().iter().map(move |value| (name, value)));
        let of_json = |(place, expected): (&JsonPlace, &Value)| {
            if (expected.is_array() || expected.is_object()) && expected.to_string().contains("${") {
                let reason = format!(
                    "`{}`: a placeholder is a text of its own there; name the place that it stands at",
                    place.as_str()
                );
                return Some(KeyConflict::at("json", reason));
            }
            // A place may have dots in it, which are none of a key.
            conflict("json", expected.as_str()?)
                .map(|told| KeyConflict::at("json", format!("`{}`: {}", place.as_str(), told.reason())))
        };
        conflict("path", self.path.as_str())
            .or_else(|| headers.find_map(|(name, value)| of_headers("headers", name, value)))
            .or_else(|| conflict("body", self.body.as_deref()?))
            .or_else(|| conflict("contains", self.contains.as_deref()?))
            .or_else(|| {
                self.expect_headers.iter().find_map(|(name, value)| of_headers("expect_headers", name, value))
            })
            .or_else(|| self.json.iter().find_map(of_json))
    }

    /// What a call of gRPC leaves no room for.
    fn conflict_of_call(&self) -> Option<KeyConflict> {
        let is_path = !self.path.as_str().is_empty();
        let is_method = ![Method::GET, Method::POST].contains(self.method.method());
        let conflicts = [
            (is_path, "path", "grpc is given too, which stands for it: only one of both may be"),
            (is_method, "method", "grpc is given too: a call is a POST"),
            (!self.expect.is_empty(), "expect", "grpc is given too: a call is judged by its grpc-status"),
            (
                !self.expect_headers.is_empty(),
                "expect_headers",
                "grpc is given too: a call is judged by its grpc-status and its message",
            ),
            (!self.json.is_empty(), "json", "grpc is given too: a message is no JSON"),
        ];
        let (_, key, reason) = conflicts.into_iter().find(|(is_one, ..)| *is_one)?;
        Some(KeyConflict::at(key, reason))
    }
}

/// The endpoint of an absolute URL (its scheme, host and port) and what [`HttpPlan::path`] says then. A URL without
/// scheme is `http`.
///
/// # Errors
/// [`HttpError::Url`] when it has no host, or another scheme than `http` and `https`.
pub fn split_url(url: &str) -> Result<(Uri, String), HttpError> {
    let refused = |reason: &str| HttpError::Url { url: without_user(url), reason: reason.to_owned() };
    if let Some(expected) = broken_scheme(url) {
        return Err(refused(expected.trim_start_matches("URL: ")));
    }
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let uri: Uri = whole.parse().map_err(|why: http::uri::InvalidUri| refused(&why.to_string()))?;
    let mut parts = uri.into_parts();
    let path = parts.path_and_query.replace(PathAndQuery::from_static("/"));
    if !parts.scheme.as_ref().is_some_and(|scheme| ["http", "https"].contains(&scheme.as_str())) {
        return Err(refused("it is neither http nor https"));
    }
    if !parts.authority.as_ref().is_none_or(has_usable_port) {
        return Err(refused("its port is no number from 1 to 65535"));
    }
    let endpoint = Uri::from_parts(parts).map_err(|why| refused(&why.to_string()))?;
    Ok((endpoint, path.map_or_else(|| "/".to_owned(), |path| path.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_splits_into_endpoint_and_path() {
        for (url, endpoint, path) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/", "/"),
            ("https://log.test/a/b?c=d&e", "https://log.test/", "/a/b?c=d&e"),
            ("localhost:80/x", "http://localhost:80/", "/x"),
            ("http:8080/x", "http://http:8080/", "/x"),
            ("httpd/x", "http://httpd/", "/x"),
            ("http://[::1]:80?q", "http://[::1]:80/", "/?q"),
        ] {
            let (found, rest) = split_url(url).unwrap();
            assert_eq!((found.to_string().as_str(), rest.as_str()), (endpoint, path), "{url}");
        }
        for url in [
            "127.0.0.1:99999/",
            "http://[::1]:x/",
            "",
            "ftp://a/b",
            "http://",
            "http:/127.0.0.1:8080/",
            "https//127.0.0.1",
            "HTTP:",
            "http://a b/",
            "ftp://me:canary@a/b",
            "http://me:canary@a b/",
        ] {
            let refused = split_url(url).unwrap_err().to_string();
            assert!(!refused.contains("canary"), "{refused}");
        }
    }

    #[test]
    fn a_plan_reads_from_text_and_refuses_unknown_keys() {
        let text = r#"{"method":"POST","path":"/x","headers":{"accept":"*/*","x-a":["1","2"]},"body":"b","expect":[200,404],
            "contains":"ok","bearer":{"env":"TOKEN"}}"#;
        let plan: HttpPlan = serde_json::from_str(text).unwrap();
        assert_eq!(plan.expect.iter().map(|status| status.code()).collect::<Vec<_>>(), [200, 404]);
        assert_eq!(serde_json::from_str::<HttpPlan>(&serde_json::to_string(&plan).unwrap()).unwrap(), plan);
        assert!(serde_json::from_str::<HttpPlan>(r#"{"url":"http://a"}"#).is_err());
        assert!(serde_json::from_str::<HttpPlan>(r#"{"bearer":{"token":"a"}}"#).is_err());
        assert_eq!(serde_json::from_str::<HttpPlan>("{}").unwrap(), HttpPlan::default());
    }

    #[test]
    fn a_plan_that_cannot_be_is_refused() {
        for nonsense in [
            r#"{"method":"GE T"}"#,
            r#"{"path":"/a b"}"#,
            r#"{"path":"a"}"#,
            r#"{"path":"http://other/"}"#,
            r#"{"headers":{"a b":"c"}}"#,
            r#"{"headers":{"a":"b\n"}}"#,
            r#"{"expect":[200,1000]}"#,
            r#"{"bearer":{}}"#,
        ] {
            assert!(serde_json::from_str::<HttpPlan>(nonsense).is_err(), "{nonsense}");
        }
        let both = HttpPlan { body: Some("a".into()), body_file: Some("b".into()), ..HttpPlan::default() };
        assert_eq!(both.conflict().unwrap().key(), "body_file");
        let twice = r#"{"headers":{"authorization":"Basic x"},"bearer":{"env":"TOKEN"}}"#;
        assert_eq!(serde_json::from_str::<HttpPlan>(twice).unwrap().conflict().unwrap().key(), "bearer");
        assert_eq!(HttpPlan::default().conflict(), None);
    }

    #[test]
    fn a_call_of_grpc_has_no_path_no_other_method_and_no_status_of_http() {
        let conflict = |more: &str| {
            let plan =
                serde_json::from_str::<HttpPlan>(&format!(r#"{{"grpc":"/log.Log/Add"{more}}}"#)).unwrap();
            plan.conflict().map(|conflict| conflict.key().to_owned())
        };
        assert_eq!(conflict("").as_deref(), None);
        assert_eq!(conflict(r#","method":"POST","body":"x""#).as_deref(), None);
        assert_eq!(conflict(r#","path":"/x""#).as_deref(), Some("path"));
        assert_eq!(conflict(r#","method":"PUT""#).as_deref(), Some("method"));
        assert_eq!(conflict(r#","expect":[200]"#).as_deref(), Some("expect"));
        for nonsense in ["", "log.Log/Add", "/log.Log", "/log.Log/", "//Add", "/a/b/c", "/a/b?c", "/a b/c"] {
            assert!(GrpcMethod::try_from(nonsense.to_owned()).is_err(), "{nonsense}");
        }
    }
}
