//! The head of a request (RFC 9112, sections 2 and 3), put together from parts that are bytes already.

use std::io::Write as _;

use http::header::{AUTHORIZATION, CONNECTION, HOST, USER_AGENT};
use http::{HeaderValue, Method};

use crate::config::ClientConfig;
use crate::headers::write_line;
use crate::request::Request;
use crate::resolve::Origin;

/// What the heads of all requests to an origin have in common.
pub(crate) struct HeadTemplate {
    host_line: Vec<u8>,
    user_agent_line: Vec<u8>,
    /// Of a client that keeps no connection.
    close_line: Vec<u8>,
}

impl HeadTemplate {
    pub(crate) fn new(config: &ClientConfig, origin: &Origin) -> Self {
        let line = |name: &str, value: Option<&[u8]>| {
            let mut line = Vec::new();
            if let Some(value) = value {
                write_line(&mut line, name, value);
            }
            line
        };
        Self {
            host_line: line(HOST.as_str(), Some(origin.host_header.as_bytes())),
            user_agent_line: line(USER_AGENT.as_str(), config.user_agent.as_ref().map(HeaderValue::as_bytes)),
            close_line: line(CONNECTION.as_str(), (!config.keepalive).then_some(b"close")),
        }
    }

    /// Writes the head of `request` into `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>, request: &Request, bearer: Option<&HeaderValue>) {
        out.clear();
        out.extend_from_slice(request.method.as_str().as_bytes());
        out.push(b' ');
        out.extend_from_slice(request.path.as_str().as_bytes());
        out.extend_from_slice(b" HTTP/1.1\r\n");
        let own = request.headers.lines();
        if !own.has_host {
            out.extend_from_slice(&self.host_line);
        }
        if !own.has_user_agent {
            out.extend_from_slice(&self.user_agent_line);
        }
        out.extend_from_slice(&own.text);
        if let Some(bearer) = bearer {
            write_line(out, AUTHORIZATION.as_str(), bearer.as_bytes());
        }
        if !own.closes {
            out.extend_from_slice(&self.close_line);
        }
        if !request.body.is_empty() || expects_body(&request.method) {
            // A vector takes all that is written.
            let _ = write!(out, "content-length: {}\r\n", request.body.len());
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// Whether a method's requests say that they have no body, where they have none (RFC 9110, section 8.6).
fn expects_body(method: &Method) -> bool {
    [Method::POST, Method::PUT, Method::PATCH].contains(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(config: &ClientConfig, request: &Request, bearer: Option<&HeaderValue>) -> String {
        let url = http::Uri::from_static("http://log.test:81").into_parts();
        let origin = Origin::new(url.scheme.unwrap(), url.authority.unwrap(), |_| unreachable!()).unwrap();
        let mut out = b"what was there before".to_vec();
        HeadTemplate::new(config, &origin).write(&mut out, request, bearer);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_head_is_what_all_have_in_common_and_what_the_request_says() {
        let mut config = ClientConfig::new(http::Uri::from_static("http://log.test:81"));
        let mut request = Request::post(http::uri::PathAndQuery::from_static("/a?b"), "four");
        assert_eq!(
            head(&config, &request, None),
            "POST /a?b HTTP/1.1\r\nhost: log.test:81\r\ncontent-length: 4\r\n\r\n"
        );
        config.user_agent = Some(HeaderValue::from_static("hammer"));
        config.keepalive = false;
        request.body = "".into();
        let bearer = HeaderValue::from_static("Bearer x");
        assert_eq!(
            head(&config, &request, Some(&bearer)),
            "POST /a?b HTTP/1.1\r\nhost: log.test:81\r\nuser-agent: hammer\r\nauthorization: Bearer x\r\n\
             connection: close\r\ncontent-length: 0\r\n\r\n"
        );
        request.headers.insert(HOST, HeaderValue::from_static("other"));
        request.headers.insert(USER_AGENT, HeaderValue::from_static("mine"));
        request.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        request.method = Method::GET;
        assert_eq!(
            head(&config, &request, None),
            "GET /a?b HTTP/1.1\r\nhost: other\r\nuser-agent: mine\r\nconnection: close\r\n\r\n"
        );
    }
}
