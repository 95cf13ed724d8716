//! Where a redirect leads, and what goes with it (RFC 9110, section 15.4).

use hammer_measure::credential::is_credential;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, LOCATION};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use crate::body::Body;
use crate::config::has_usable_port;
use crate::failure::{Failure, FailureKind};
use crate::reference::Reference;
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
    /// What the `Location` header of `headers` says, seen from here (RFC 3986, section 5.2).
    pub(crate) fn next(&self, headers: &HeaderMap) -> Result<Self, Failure> {
        let told = headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let told = told.ok_or_else(|| self.refused("it names no location"))?;
        let reference = Reference::new(told);
        let scheme = match reference.scheme {
            None => self.scheme.clone(),
            Some(scheme) => {
                known_scheme(scheme).ok_or_else(|| self.refused("its location is neither http nor https"))?
            }
        };
        let authority = match (reference.scheme, reference.authority) {
            (_, Some(authority)) => self.read_authority(authority)?,
            (Some(_), None) => return Err(self.refused("its location has no host")),
            (None, None) => self.authority.clone(),
        };
        let path = PathAndQuery::try_from(reference.target(&self.path))
            .map_err(|_| self.refused("its location is no URL"))?;
        Ok(Self { scheme, authority, path })
    }

    /// Host and port of a location.
    fn read_authority(&self, text: &str) -> Result<Authority, Failure> {
        if text.contains('@') {
            return Err(self.refused("user and password do not belong into its location"));
        }
        if text.is_empty() || text.starts_with(':') {
            return Err(self.refused("its location has no host"));
        }
        let authority = text.parse::<Authority>().ok();
        authority.filter(has_usable_port).ok_or_else(|| self.refused("its location is no URL"))
    }

    pub(crate) fn refused(&self, reason: &str) -> Failure {
        Failure::new(FailureKind::Redirect, format!("follow the redirect of {}: {reason}", self.authority))
    }
}

fn known_scheme(scheme: &str) -> Option<Scheme> {
    [Scheme::HTTP, Scheme::HTTPS].into_iter().find(|known| scheme.eq_ignore_ascii_case(known.as_str()))
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
    let stays = |(name, value): &(&HeaderName, &HeaderValue)| {
        **name == HOST || is_credential(name.as_str()) || value.is_sensitive()
    };
    let staying = headers.iter().filter(stays).map(|(name, _)| name.clone()).collect::<Vec<HeaderName>>();
    for name in staying {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    /// Where `location` leads from the URL that the examples of RFC 3986, section 5.4, start from.
    fn leads_to(location: &'static str) -> String {
        let from = Location {
            scheme: Scheme::HTTP,
            authority: Authority::from_static("a"),
            path: PathAndQuery::from_static("/b/c/d;p?q"),
        };
        let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(location))]);
        match from.next(&headers) {
            Ok(to) => format!("{}://{}{}", to.scheme, to.authority, to.path),
            Err(failure) => failure.to_string(),
        }
    }

    /// RFC 3986, sections 5.4.1 and 5.4.2, without fragments, which are not sent; a URL without a path asks for `/`.
    #[test]
    fn locations_are_read_as_the_examples_of_the_specification() {
        for (location, to) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"),
            ("g;x?y#s", "http://a/b/c/g;x?y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g"),
            ("g#s/../x", "http://a/b/c/g"),
        ] {
            assert_eq!(leads_to(location), to, "{location:?}");
        }
    }

    #[test]
    fn locations_lead_to_other_hosts_and_schemes() {
        for (location, to) in [
            ("https://two/x?y#z", "https://two/x?y"),
            ("HTTPS://two:81/./x", "https://two:81/x"),
            ("https://two", "https://two/"),
            ("https://two?y", "https://two/?y"),
            ("//[::1]:81/x", "http://[::1]:81/x"),
            ("/login?next=http://two/", "http://a/login?next=http://two/"),
            ("?next=//two", "http://a/b/c/d;p?next=//two"),
            ("x//two", "http://a/b/c/x//two"),
        ] {
            assert_eq!(leads_to(location), to, "{location:?}");
        }
    }

    #[test]
    fn a_location_that_cannot_be_followed_is_refused_without_being_shown() {
        for (location, reason) in [
            ("g:h", "its location is neither http nor https"),
            ("ftp://two/x", "its location is neither http nor https"),
            ("localhost:8080/canary", "its location is neither http nor https"),
            ("http:g", "its location has no host"),
            ("http:///canary", "its location has no host"),
            ("http://:80/", "its location has no host"),
            ("http://two:canary/", "its location is no URL"),
            ("http://two:65536/", "its location is no URL"),
            ("http://two/can ary", "its location is no URL"),
            ("http://me:canary@two/", "user and password do not belong into its location"),
            ("//me@two/", "user and password do not belong into its location"),
        ] {
            assert_eq!(leads_to(location), format!("follow the redirect of a: {reason}"), "{location:?}");
        }
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
        assert_eq!(*follow(&get, StatusCode::FOUND, path.clone(), true).headers, *get.headers);
        let followed = follow(&get, StatusCode::FOUND, path, false).headers;
        let mut left = followed.keys().map(HeaderName::as_str).collect::<Vec<_>>();
        left.sort_unstable();
        assert_eq!(left, ["accept", "x-request-id"]);
    }
}
