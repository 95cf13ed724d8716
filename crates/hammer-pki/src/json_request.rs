//! Requests of JSON, and how they end.

use hammer_core::record::StepGuard;
use hammer_core::workload::Ended;
use hammer_exchange::{SentSecrets, ServiceClient, expect_ok};
use hammer_measure::Outcome;
use hammer_net::{Answer, Body, Request};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::uri::PathAndQuery;
use http::{HeaderValue, Method};

use crate::answer_fault::AnswerFault;

/// A request of JSON to that path.
pub(crate) fn post(path: PathAndQuery, body: impl Into<Body>) -> Request {
    let mut request = Request::post(path, "");
    request.body = body.into();
    for name in [ACCEPT, CONTENT_TYPE] {
        request.headers.insert(name, HeaderValue::from_static(JSON));
    }
    request
}

/// A request for JSON at that path.
pub(crate) fn get(path: PathAndQuery) -> Request {
    let mut request = Request::get(path);
    request.headers.insert(ACCEPT, HeaderValue::from_static(JSON));
    request
}

/// Sends a request as a step that knows no success but 200; what is posted may have been created or accepted, too, or be answered without a
/// word (RFC 9110 section 15.3), which the clients of the services take.
pub(crate) async fn send(
    client: &ServiceClient,
    step: &mut StepGuard<'_>,
    request: &Request,
    answer: &mut Answer,
) -> Result<(), Ended> {
    client.send(step, request, answer).await?;
    let is_done = request.method == Method::POST && matches!(answer.status.as_u16(), 201 | 202 | 204);
    if !is_done {
        expect_ok(step, answer)?;
    }
    // A login page of what stands before the service, say: what it is is told, as of a failure.
    let is_json_asked = request.headers.get(ACCEPT).is_some_and(|accepted| accepted == JSON);
    if is_json_asked && answer.body.trim_ascii_start().starts_with(b"<") {
        return Err(client.ends_by(step, PAGE, (request, SentSecrets::default()), &answer.body));
    }
    Ok(())
}

/// How a step ends whose answer has a success and is none.
pub(crate) fn none(client: &ServiceClient, step: &mut StepGuard<'_>, why: &AnswerFault) -> Ended {
    let outcome = match why {
        AnswerFault::Invalid(_) => Outcome::Refused,
        AnswerFault::Unkept(_) => Outcome::Unreachable,
        _ => Outcome::Malformed,
    };
    let ended = Ended::failed(outcome, why.what());
    if let AnswerFault::Invalid(fault) = why {
        client.tell(step, ended, fault);
    }
    ends(step, ended)
}

pub(crate) fn ends(step: &mut StepGuard<'_>, ended: Ended) -> Ended {
    step.ends(ended);
    ended
}

/// No such path can be asked for.
pub(crate) const NO_PATH: Ended = Ended::failed(Outcome::Malformed, "token that is no part of a path");
const PAGE: Ended = Ended::failed(Outcome::Malformed, "page in the place of JSON, with HTTP 200");
const JSON: &str = "application/json";
