//! URLs of services.

use std::fmt;
use std::str::FromStr;

use http::Uri;
use http::uri::Authority;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue};

/// Where a service is: an `http` or `https` URL with a host, and with neither user nor query (RFC 9110 section 4.2). A slash
/// at its end is none of it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub struct ServiceUrl {
    text: String,
    url: Uri,
}

impl ServiceUrl {
    /// The URL, without a slash at its end.
    pub const fn url(&self) -> &Uri {
        &self.url
    }
}

impl ScalarValue for ServiceUrl {
    const EXPECTED: &'static str = "URL (like https://example.com:8443/path)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let Scalar::Text(text) = scalar else { return Err(scalar.is_no::<Self>()) };
        if let Some(expected) = broken_scheme(text) {
            return Err(ValueError::Form { text: without_user(text), expected });
        }
        let no_url = |_| Scalar::Text(&without_user(text)).is_no::<Self>();
        let url: Uri = text.trim_end_matches('/').parse().map_err(no_url)?;
        let reason = match (url.scheme_str(), url.authority()) {
            (Some("http" | "https"), Some(host)) if host.as_str().contains('@') => {
                "URL of a service: user and password do not belong into it"
            }
            (Some("http" | "https"), Some(_)) if url.query().is_some() => "URL of a service: it has a query",
            (Some("http" | "https"), Some(host)) if !has_usable_port(host) => {
                "URL of a service: its port is no number from 1 to 65535"
            }
            (Some("http" | "https"), Some(_)) => return Ok(Self { text: text.to_owned(), url }),
            _ => "URL of a service: it is neither http nor https",
        };
        Err(ValueError::Form { text: without_user(text), expected: reason })
    }
}

/// What is wrong with a text that is read as a URL, of which `http://` would be put before a host alone: its own scheme is cut short, and would be
/// the host (`http:/127.0.0.1`), or nothing stands behind it. None where neither is so.
pub fn broken_scheme(text: &str) -> Option<&'static str> {
    let (scheme, rest) = text.split_at(text.find(|letter: char| !letter.is_ascii_alphabetic())?);
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    match rest.strip_prefix("://") {
        Some(behind) if behind.is_empty() || behind.starts_with(['/', '?', '#', ':']) => {
            Some("URL: it has no host")
        }
        Some(_) => None,
        None if rest.starts_with("//")
            || rest.starts_with(":/")
            || rest.starts_with(":\\")
            || rest == ":" =>
        {
            Some("URL: its scheme is followed by ://")
        }
        None => None,
    }
}

/// Whether there is a port that can be dialled, or none, for which the scheme has one (RFC 3986 section 3.2.3).
pub fn has_usable_port(authority: &Authority) -> bool {
    let port = authority.as_str().rsplit('@').next().and_then(|rest| rest.strip_prefix(authority.host()));
    matches!(port, Some("" | ":")) || authority.port_u16().is_some()
}

/// The text of a URL, or of what was meant as one, without what stands before its host: that may be a password.
pub fn without_user(url: &str) -> String {
    let start = url.find("://").map_or(0, |scheme| scheme + "://".len());
    let (scheme, rest) = url.split_at(start);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rfind('@') {
        Some(at) => format!("{scheme}***{}", &rest[at..]),
        None => url.to_owned(),
    }
}

impl FromStr for ServiceUrl {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

/// As it was written.
impl fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for ServiceUrl {
    fn serialize<S: Serializer>(&self, plan: S) -> Result<S::Ok, S::Error> {
        plan.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for ServiceUrl {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_found_by_http_or_https() {
        for (text, url) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("https://log.test/2027h1/", "https://log.test/2027h1"),
            ("http://[::1]:80/a/b", "http://[::1]:80/a/b"),
        ] {
            let read: ServiceUrl = text.parse().unwrap();
            assert_eq!((read.url().to_string().as_str(), read.to_string().as_str()), (url, text));
            assert_eq!(serde_json::to_string(&read).unwrap(), format!("\"{text}\""));
        }
    }

    #[test]
    fn what_is_no_url_of_a_service_says_why() {
        for (text, why) in [
            ("", "`` is no URL (like https://example.com:8443/path)"),
            ("http://no host/", "`http://no host/` is no URL (like "),
            ("http://", "`http://` is no URL"),
            ("http://", "`http://` is no URL: it has no host"),
            ("https:///a", "`https:///a` is no URL: it has no host"),
            ("http:/127.0.0.1/", "`http:/127.0.0.1/` is no URL: its scheme is followed by ://"),
            ("log", "`log` is no URL of a service: it is neither http nor https"),
            ("ftp://a/b", "`ftp://a/b` is no URL of a service: it is neither http nor https"),
            ("ftp://me:canary@a/b", "`ftp://***@a/b` is no URL of a service: it is neither http nor https"),
            ("http://me:canary@no host/", "`http://***@no host/` is no URL (like "),
            ("me:canary@host", "`***@host` is no URL"),
            (
                "http://a:99999/b",
                "`http://a:99999/b` is no URL of a service: its port is no number from 1 to 65535",
            ),
            (
                "http://[::1]:65536",
                "`http://[::1]:65536` is no URL of a service: its port is no number from 1 to 65535",
            ),
            ("http://a/b?c=d", "`http://a/b?c=d` is no URL of a service: it has a query"),
            (
                "http://me:canary@a/b",
                "`http://***@a/b` is no URL of a service: user and password do not belong into it",
            ),
        ] {
            let error = text.parse::<ServiceUrl>().unwrap_err().to_string();
            assert!(error.starts_with(why) && !error.contains("canary"), "{error}");
        }
        assert!(
            serde_json::from_str::<ServiceUrl>("5").unwrap_err().to_string().starts_with("`5` is no URL")
        );
    }
}
