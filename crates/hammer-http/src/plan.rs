//! The request as a plan writes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use bytes::Bytes;
use hammer_exchange::token::TokenPlan;
use hammer_values::OneOrMany;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::uri::PathAndQuery;
use http::{Method, Uri};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::HttpError;

/// A request in a plan file or on a command line; every key may be left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpPlan {
    /// The service of `target.services` that it goes to; it may be left out where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The method, in capitals.
    pub method: String,
    /// Path and query, put behind the path of the target's URL; empty for that path itself.
    pub path: String,
    /// Headers by name, each with its value or a list of values. `Host` and `Content-Length` are filled in.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, OneOrMany>,
    /// The body as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The file whose bytes are the body; in place of `body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_file: Option<PathBuf>,
    /// The statuses that count as accepted; any other 2xx is then refused. Empty: every 2xx is accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<u16>,
    /// A text that the body of an accepted answer holds; without it the answer is malformed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// Where the bearer token comes from; none is sent without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<TokenPlan>,
}

impl Default for HttpPlan {
    fn default() -> Self {
        Self {
            service: None,
            method: "GET".to_owned(),
            path: String::new(),
            headers: BTreeMap::new(),
            body: None,
            body_file: None,
            expect: Vec::new(),
            contains: None,
            bearer: None,
        }
    }
}

impl HttpPlan {
    pub(crate) fn method(&self) -> Result<Method, HttpError> {
        Method::try_from(self.method.as_str()).map_err(|_| HttpError::Method { method: self.method.clone() })
    }

    pub(crate) fn header_map(&self) -> Result<HeaderMap, HttpError> {
        let mut map = HeaderMap::with_capacity(self.headers.len());
        for (name, values) in &self.headers {
            let refused = |reason| HttpError::Header { name: name.clone(), reason };
            let key = HeaderName::try_from(name).map_err(|_| refused("it is no header name"))?;
            for value in values.as_slice() {
                let value = HeaderValue::try_from(value)
                    .map_err(|_| refused("its value cannot stand in a header"))?;
                map.append(key.clone(), value);
            }
        }
        Ok(map)
    }

    pub(crate) fn body_bytes(&self) -> Result<Bytes, HttpError> {
        match (&self.body, &self.body_file) {
            (Some(_), Some(_)) => Err(HttpError::Both { one: "body", other: "body_file" }),
            (Some(text), None) => Ok(Bytes::from(text.clone())),
            (None, Some(path)) => fs::read(path)
                .map(Bytes::from)
                .map_err(|source| HttpError::Body { path: path.clone(), source }),
            (None, None) => Ok(Bytes::new()),
        }
    }

    pub(crate) fn statuses(&self) -> Result<Vec<u16>, HttpError> {
        match self.expect.iter().find(|status| !(100..600).contains(*status)) {
            Some(status) => Err(HttpError::Status { status: *status }),
            None => Ok(self.expect.clone()),
        }
    }
}

/// The endpoint of an absolute URL (its scheme, host and port) and what [`HttpPlan::path`] says then. A URL without
/// scheme is `http`.
///
/// # Errors
/// [`HttpError::Url`] when it has no host, or another scheme than `http` and `https`.
pub fn split_url(url: &str) -> Result<(Uri, String), HttpError> {
    let refused = |reason: &str| HttpError::Url { url: url.to_owned(), reason: reason.to_owned() };
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let uri: Uri = whole.parse().map_err(|why: http::uri::InvalidUri| refused(&why.to_string()))?;
    let mut parts = uri.into_parts();
    let path = parts.path_and_query.replace(PathAndQuery::from_static("/"));
    if !parts.scheme.as_ref().is_some_and(|scheme| ["http", "https"].contains(&scheme.as_str())) {
        return Err(refused("it is neither http nor https"));
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
        for url in ["", "ftp://a/b", "http://", "http://a b/"] {
            assert!(split_url(url).is_err(), "{url:?}");
        }
    }

    #[test]
    fn a_plan_reads_from_text_and_refuses_unknown_keys() {
        let text = r#"{"method":"POST","path":"/x","headers":{"accept":"*/*","x-a":["1","2"]},"body":"b","expect":[200,404],
            "contains":"ok","bearer":{"env":"TOKEN"}}"#;
        let plan: HttpPlan = serde_json::from_str(text).unwrap();
        assert_eq!(plan.expect, [200, 404]);
        assert_eq!(serde_json::from_str::<HttpPlan>(&serde_json::to_string(&plan).unwrap()).unwrap(), plan);
        assert!(serde_json::from_str::<HttpPlan>(r#"{"url":"http://a"}"#).is_err());
        assert!(serde_json::from_str::<HttpPlan>(r#"{"bearer":{"token":"a"}}"#).is_err());
        assert_eq!(serde_json::from_str::<HttpPlan>("{}").unwrap(), HttpPlan::default());
    }

    #[test]
    fn a_contradictory_plan_is_refused() {
        let both = HttpPlan { body: Some("a".into()), body_file: Some("b".into()), ..HttpPlan::default() };
        assert!(matches!(both.body_bytes(), Err(HttpError::Both { .. })));
        let status = HttpPlan { expect: vec![200, 1000], ..HttpPlan::default() };
        assert!(matches!(status.statuses(), Err(HttpError::Status { status: 1000 })));
        let method = HttpPlan { method: "GE T".into(), ..HttpPlan::default() };
        assert!(matches!(method.method(), Err(HttpError::Method { .. })));
    }

    #[test]
    fn a_refused_header_does_not_show_its_value() {
        let headers = BTreeMap::from([("x-key".to_owned(), "canary\u{7}".to_owned().into())]);
        let error = HttpPlan { headers, ..HttpPlan::default() }.header_map().unwrap_err();
        assert!(error.to_string().contains("x-key") && !format!("{error:?}{error}").contains("canary"));
    }
}
