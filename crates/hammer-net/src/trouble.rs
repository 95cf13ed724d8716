//! What an answer says of the server that gave it.

use hammer_measure::Outcome;
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::grpc::GrpcStatus;
use crate::request::Answer;

/// Whether `answer` says that its server failed or has too much to do: by the status of gRPC where it has one, and by that of HTTP.
pub(crate) fn tells_of_trouble(answer: &Answer) -> bool {
    if answer.status == StatusCode::TOO_MANY_REQUESTS || answer.status.is_server_error() {
        return true;
    }
    let code = told(&answer.trailers).or_else(|| told(&answer.headers));
    let outcome = code.map(|code| GrpcStatus::from_code(code.as_bytes()).outcome());
    outcome.is_some_and(|outcome| !matches!(outcome, Outcome::Accepted | Outcome::Refused))
}

/// What stands there as `grpc-status`.
fn told(headers: &HeaderMap) -> Option<&HeaderValue> {
    // Most answers keep no header at all.
    if headers.is_empty() { None } else { headers.get("grpc-status") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_in_trouble_by_its_own_word_and_not_where_it_says_no() {
        let of = |status: u16, grpc: Option<&'static str>| {
            let mut answer = Answer { status: StatusCode::from_u16(status).unwrap(), ..Answer::new() };
            let status = grpc.map(HeaderValue::from_static);
            status.into_iter().for_each(|status| drop(answer.trailers.insert("grpc-status", status)));
            tells_of_trouble(&answer)
        };
        assert!([429, 500, 503, 504].into_iter().all(|status| of(status, None)));
        assert!(![200, 302, 404, 409].into_iter().any(|status| of(status, None)));
        assert!(["14", "8", "13", "4"].into_iter().all(|code| of(200, Some(code))));
        assert!(!["0", "5", "6", "3"].into_iter().any(|code| of(200, Some(code))));
    }
}
