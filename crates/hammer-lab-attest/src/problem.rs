//! Answers that say what is wrong (RFC 9457), and those of the router.

use hammer_lab::serve::answer::{self, AnswerBody};
use http::{
    HeaderName, Response, StatusCode,
    header::{ACCEPT, WWW_AUTHENTICATE},
};

use crate::go_json;

/// An answer, or the problem that is told in its place.
pub(crate) type Answered = Result<Response<AnswerBody>, Problem>;

/// A problem of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
    /// What the answer has besides: the types that are taken, or how to say who asks.
    header: Option<(HeaderName, String)>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), header: None }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }

    /// A media type that nobody takes, beside those that are taken.
    pub(crate) fn unsupported(media_type: &str, taken: &[&str]) -> Self {
        let detail = format!("no active plugin found for {media_type}");
        let header = Some((ACCEPT, taken.join(", ")));
        Self { header, ..Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail) }
    }

    /// A request of nobody who may make it.
    pub(crate) fn unauthorized(detail: &str) -> Self {
        let header = Some((WWW_AUTHENTICATE, "Basic realm=veraison".to_owned()));
        Self { header, ..Self::new(StatusCode::UNAUTHORIZED, detail) }
    }
}

impl From<Problem> for Response<AnswerBody> {
    fn from(problem: Problem) -> Self {
        let Problem { status, detail, header } = problem;
        let title = status.canonical_reason().unwrap_or("Unknown");
        let detail = go_json::string(&detail);
        let code = status.as_u16();
        let body = format!(r#"{{"type":"about:blank","title":"{title}","status":{code},"detail":{detail}}}"#);
        let mut answer = answer::ok("application/problem+json", body);
        *answer.status_mut() = status;
        if let Some((name, value)) = header
            && let Ok(value) = value.parse()
        {
            answer.headers_mut().insert(name, value);
        }
        answer
    }
}

/// What the router says of a path, or a method, that it does not have.
pub(crate) fn not_found() -> Response<AnswerBody> {
    let mut answer = answer::ok("text/plain", "404 page not found");
    *answer.status_mut() = StatusCode::NOT_FOUND;
    answer
}
