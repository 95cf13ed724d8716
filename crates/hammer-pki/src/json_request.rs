//! Requests of JSON, and how they end.

use hammer_core::record::StepGuard;
use hammer_core::workload::Ended;
use hammer_exchange::{ServiceClient, expect_ok};
use hammer_measure::Outcome;
use hammer_net::{Answer, Body, Request};
use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::uri::PathAndQuery;

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

/// Sends a request as a step that knows no success but 200.
pub(crate) async fn send(
    client: &ServiceClient,
    step: &mut StepGuard<'_>,
    request: &Request,
    answer: &mut Answer,
) -> Result<(), Ended> {
    client.send(step, request, answer).await?;
    expect_ok(step, answer)
}

/// How a step ends whose answer has a success and is none.
pub(crate) fn none(step: &mut StepGuard<'_>, why: &AnswerFault) -> Ended {
    let outcome = match why {
        AnswerFault::Invalid => Outcome::Refused,
        AnswerFault::Unkept => Outcome::Unreachable,
        _ => Outcome::Malformed,
    };
    ends(step, Ended::failed(outcome, why.what()))
}

pub(crate) fn ends(step: &mut StepGuard<'_>, ended: Ended) -> Ended {
    step.ends(ended);
    ended
}

/// No such path can be asked for.
pub(crate) const NO_PATH: Ended = Ended::failed(Outcome::Malformed, "token that is no part of a path");
const JSON: &str = "application/json";
