//! The request as a plan writes it.

mod grpc_method;
mod header;
mod method;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use bytes::Bytes;
use hammer_exchange::bearer::BearerPlan;
use hammer_values::{KeyConflict, OneOrMany, PlanBlock, RequestPath, Status, has_usable_port, without_user};
use http::header::{AUTHORIZATION, HeaderMap};
use http::uri::PathAndQuery;
use http::{Method, Uri};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::HttpError;

pub use grpc_method::GrpcMethod;
pub use header::{HeaderKey, HeaderText, UnusableHeader};
pub use method::RequestMethod;

/// A request in a plan file or on a command line; every key may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpPlan {
    /// The service of `target.services` that it goes to; it may be left out where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The method, in capitals.
    pub method: RequestMethod,
    /// Path and query, put behind the path of the target's URL; empty for that path itself.
    pub path: RequestPath,
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
    /// Where the bearer token comes from; none is sent without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<BearerPlan>,
}

impl HttpPlan {
    pub(crate) fn header_map(&self) -> HeaderMap {
        let mut map = HeaderMap::with_capacity(self.headers.len());
        for (key, values) in &self.headers {
            for value in values.as_slice() {
                map.append(key.name().clone(), value.value().clone());
            }
        }
        map
    }

    pub(crate) fn body_bytes(&self) -> Result<Bytes, HttpError> {
        match (&self.body, &self.body_file) {
            (Some(text), _) => Ok(Bytes::from(text.clone())),
            (None, Some(path)) => fs::read(path)
                .map(Bytes::from)
                .map_err(|source| HttpError::Body { path: path.clone(), source }),
            (None, None) => Ok(Bytes::new()),
        }
    }
}

impl HttpPlan {
    /// Whether it says more of an accepted answer than that it is one: which statuses it has, or what its body holds.
    pub fn expects(&self) -> bool {
        !self.expect.is_empty() || self.contains.is_some()
    }

    /// Whether it has an `Authorization` of its own among its headers.
    pub fn has_authorization(&self) -> bool {
        self.headers.keys().any(|key| key.name() == AUTHORIZATION)
    }
}

impl PlanBlock for HttpPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        if self.body.is_some() && self.body_file.is_some() {
            return Some(KeyConflict::at("body_file", "body is given too: only one of both may be"));
        }
        if self.bearer.is_some() && self.has_authorization() {
            return Some(KeyConflict::at("bearer", "headers has Authorization too: only one of both may be"));
        }
        self.grpc.as_ref().and_then(|_| self.conflict_of_call())
    }
}

impl HttpPlan {
    /// What a call of gRPC leaves no room for.
    fn conflict_of_call(&self) -> Option<KeyConflict> {
        let is_path = !self.path.as_str().is_empty();
        let is_method = ![Method::GET, Method::POST].contains(self.method.method());
        let conflicts = [
            (is_path, "path", "grpc is given too, which stands for it: only one of both may be"),
            (is_method, "method", "grpc is given too: a call is a POST"),
            (!self.expect.is_empty(), "expect", "grpc is given too: a call is judged by its grpc-status"),
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
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let uri: Uri = whole.parse().map_err(|why: http::uri::InvalidUri| refused(&why.to_string()))?;
    let mut parts = uri.into_parts();
    let path = parts.path_and_query.replace(PathAndQuery::from_static("/"));
    if !parts.scheme.as_ref().is_some_and(|scheme| ["http", "https"].contains(&scheme.as_str())) {
        return Err(refused("it is neither http nor https"));
    }
    if !parts.authority.as_ref().is_none_or(has_usable_port) {
        return Err(refused("its port is none"));
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
