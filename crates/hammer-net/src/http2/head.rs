//! The head of a request.

use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, HeaderName, TE, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use http::uri::{Authority, Parts};
use http::{HeaderValue, Uri};

use crate::failure::{Failure, FailureKind};
use crate::request::Request;
use crate::resolve::Origin;

/// The request's head with the pseudo-headers of RFC 9113, section 8.3.1, and without what section 8.2.2 forbids.
pub(crate) fn to_http(
    request: &Request,
    origin: &Origin,
    bearer: Option<&HeaderValue>,
    user_agent: Option<&HeaderValue>,
) -> Result<http::Request<()>, Failure> {
    let unsendable = |_| {
        let detail = format!("send a request to {}: its host is no authority", origin.host());
        Failure::new(FailureKind::Request, detail)
    };
    let authority = match request.headers.get(HOST) {
        None => origin.authority.clone(),
        Some(host) => Authority::try_from(host.as_bytes()).map_err(unsendable)?,
    };
    let mut parts = Parts::default();
    parts.scheme = Some(origin.scheme.clone());
    parts.authority = Some(authority);
    parts.path_and_query = Some(request.path.clone());
    let mut http = http::Request::new(());
    *http.version_mut() = http::Version::HTTP_2;
    *http.method_mut() = request.method.clone();
    // Scheme, authority and path are all there.
    *http.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
    let headers = http.headers_mut();
    if let Some(user_agent) = user_agent.filter(|_| !request.headers.contains_key(USER_AGENT)) {
        headers.insert(USER_AGENT, user_agent.clone());
    }
    for (name, value) in request.headers.iter().filter(|(name, value)| is_allowed(name, value)) {
        headers.append(name, value.clone());
    }
    if !request.body.is_empty() {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(request.body.len()));
    }
    if let Some(bearer) = bearer {
        headers.insert(AUTHORIZATION, bearer.clone());
    }
    Ok(http)
}

/// Whether a header may stand beside the pseudo-headers (RFC 9113, section 8.2.2); the host is one of those.
fn is_allowed(name: &HeaderName, value: &HeaderValue) -> bool {
    let is_forbidden = [HOST, CONNECTION, UPGRADE, TRANSFER_ENCODING].contains(name)
        || matches!(name.as_str(), "keep-alive" | "proxy-connection");
    !is_forbidden && (name != TE || value == "trailers")
}
