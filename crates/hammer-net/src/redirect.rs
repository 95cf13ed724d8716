//! Where a redirect leads, and what goes with it (RFC 9110, section 15.4).

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, LOCATION};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, Method, StatusCode, Uri};

use crate::body::Body;
use crate::credential::is_credential;
use crate::failure::{Failure, FailureKind};
use crate::request::Request;

/// Where a redirect leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) scheme: Scheme,
    pub(crate) authority: Authority,
    pub(crate) path: PathAndQuery,
}

/// Whether `status` asks to go elsewhere.
pub(crate) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

impl Location {
    /// What the `Location` header of `headers` says, seen from here (RFC 3986, section 5.2, without dot segments).
    pub(crate) fn next(&self, headers: &HeaderMap) -> Result<Self, Failure> {
        let told = headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let told = told.ok_or_else(|| self.refused("it names no location"))?;
        let reference = told.split('#').next().unwrap_or_default();
        let absolute = if reference.contains("://") {
            reference.to_owned()
        } else if reference.starts_with("//") {
            format!("{}:{reference}", self.scheme)
        } else if reference.starts_with('/') {
            format!("{}://{}{reference}", self.scheme, self.authority)
        } else {
            let path = self.path.path();
            let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
            format!("{}://{}{folder}{reference}", self.scheme, self.authority)
        };
        let parts = absolute.parse::<Uri>().map_err(|_| self.refused("its location is no URL"))?.into_parts();
        match (parts.scheme, parts.authority) {
            (Some(scheme), Some(authority)) if scheme == Scheme::HTTP || scheme == Scheme::HTTPS => {
                let path = parts.path_and_query.unwrap_or(PathAndQuery::from_static("/"));
                Ok(Self { scheme, authority, path })
            }
            _ => Err(self.refused("its location is neither http nor https")),
        }
    }

    pub(crate) fn refused(&self, reason: &str) -> Failure {
        Failure::new(FailureKind::Redirect, format!("follow the redirect of {}: {reason}", self.authority))
    }
}

/// The request that follows `request` to `path`. Credentials stay with their origin.
pub(crate) fn follow(
    request: &Request,
    status: StatusCode,
    path: PathAndQuery,
    same_origin: bool,
) -> Request {
    let mut next = Request { path, ..request.clone() };
    let to_get = match status {
        StatusCode::SEE_OTHER => next.method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => next.method == Method::POST,
        _ => false,
    };
    if to_get {
        next.method = Method::GET;
        next.body = Body::empty();
        next.headers.remove(CONTENT_TYPE);
        next.headers.remove(CONTENT_ENCODING);
    }
    if !same_origin {
        leave_credentials(&mut next.headers);
    }
    next
}

/// Takes out what another origin must not see, or what is not meant for it.
fn leave_credentials(headers: &mut HeaderMap) {
    let stays = |name: &&HeaderName| **name == HOST || is_credential(name.as_str());
    let staying = headers.keys().filter(stays).cloned().collect::<Vec<_>>();
    for name in staying {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn from(path: &'static str) -> Location {
        Location {
            scheme: Scheme::HTTP,
            authority: Authority::from_static("one:80"),
            path: PathAndQuery::from_static(path),
        }
    }

    fn leads_to(location: &'static str) -> String {
        let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(location))]);
        match from("/a/b?c").next(&headers) {
            Ok(to) => format!("{}://{}{}", to.scheme, to.authority, to.path),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn locations_are_read_from_where_they_are_told() {
        assert_eq!(leads_to("https://two/x?y#z"), "https://two/x?y");
        assert_eq!(leads_to("//two/x"), "http://two/x");
        assert_eq!(leads_to("/x"), "http://one:80/x");
        assert_eq!(leads_to("x"), "http://one:80/a/x");
        assert_eq!(leads_to("https://two"), "https://two/");
        assert!(leads_to("ftp://two/x").ends_with("neither http nor https"));
    }

    #[test]
    fn a_see_other_becomes_a_get_and_a_temporary_redirect_stays_as_it_is() {
        let post = Request::post(PathAndQuery::from_static("/"), "body");
        let path = PathAndQuery::from_static("/x");
        let next = follow(&post, StatusCode::SEE_OTHER, path.clone(), true);
        assert_eq!((next.method, next.body.len()), (Method::GET, 0));
        let next = follow(&post, StatusCode::TEMPORARY_REDIRECT, path, true);
        assert_eq!((next.method, next.body.len()), (Method::POST, 4));
    }

    #[test]
    fn credentials_stay_with_their_origin() {
        let mut get = Request::get(PathAndQuery::from_static("/"));
        for name in ["authorization", "cookie", "host", "x-api-key", "x-auth-token", "accept", "x-request-id"]
        {
            get.headers.insert(name, HeaderValue::from_static("canary"));
        }
        get.headers.append("x-api-key", HeaderValue::from_static("another canary"));
        let path = PathAndQuery::from_static("/x");
        assert_eq!(follow(&get, StatusCode::FOUND, path.clone(), true).headers, get.headers);
        let followed = follow(&get, StatusCode::FOUND, path, false).headers;
        let mut left = followed.keys().map(HeaderName::as_str).collect::<Vec<_>>();
        left.sort_unstable();
        assert_eq!(left, ["accept", "x-request-id"]);
    }
}
