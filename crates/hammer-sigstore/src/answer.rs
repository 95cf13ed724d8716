//! How the status of an answer ends its step.

use hammer_cms::timestamp::{ReplyFault, check_reply};
use hammer_core::record::StepGuard;
use hammer_core::workload::Ended;
use hammer_exchange::{SentSecrets, ServiceClient};
use hammer_measure::Outcome;
use hammer_net::grpc::{GrpcStatus, unary_reply};
use hammer_net::{Answer, Request};
use http::HeaderValue;
use http::header::CONTENT_TYPE;

/// What an answer says of an entry that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrittenEntry {
    /// It is new.
    New,
    /// The log had it before, and says where (HTTP 409; ALREADY_EXISTS).
    Before,
}

/// A call that was sent, whose failure must not tell its secrets.
#[derive(Clone, Copy)]
pub(crate) struct SentCall<'a> {
    pub(crate) client: &'a ServiceClient,
    pub(crate) request: &'a Request,
    pub(crate) secrets: SentSecrets<'a>,
}

/// 200 and 201 are success: which of them differs by version and by configuration.
pub(crate) fn succeeded(step: &mut StepGuard<'_>, answer: &Answer) -> Result<Ended, Ended> {
    let ended = match (answer.status.as_u16(), Ended::of_status(answer.status.as_u16())) {
        (200 | 201, ended) => return Ok(ended),
        (_, Ended { outcome: Outcome::Accepted, .. }) => {
            Ended::failed(Outcome::Malformed, "success that is neither 200 nor 201")
        }
        (_, ended) => ended,
    };
    step.ends(ended);
    Err(ended)
}

/// As [`succeeded`], of a query for a timestamp: where the authority grants none, a success of HTTP is a refusal all the same.
pub(crate) fn stamped(
    step: &mut StepGuard<'_>,
    answer: &mut Answer,
    sent: SentCall<'_>,
) -> Result<Ended, Ended> {
    let ended = succeeded(step, answer)?;
    let checked = check_reply(answer.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes), &answer.body);
    // They hold on to the buffer that the connection read them into.
    answer.headers.clear();
    let Err(fault) = checked else { return Ok(ended) };
    let outcome = match fault {
        ReplyFault::MediaType => Outcome::Malformed,
        ReplyFault::NotGranted(_) => Outcome::Refused,
    };
    let ended = Ended::failed(outcome, fault.cause());
    sent.client.tell_said(step, ended, (sent.request, sent.secrets), || fault.to_string());
    step.ends(ended);
    Err(ended)
}

/// The status of an entry that the log had before, which no operation fails by.
pub(crate) const KNOWN: u16 = 409;

pub(crate) fn written(step: &mut StepGuard<'_>, answer: &Answer) -> Result<(Ended, WrittenEntry), Ended> {
    if answer.status.as_u16() == KNOWN {
        let ended = Ended::accepted(KNOWN);
        step.ends(ended);
        return Ok((ended, WrittenEntry::Before));
    }
    Ok((succeeded(step, answer)?, WrittenEntry::New))
}

pub(crate) fn written_by_call(
    step: &mut StepGuard<'_>,
    answer: &mut Answer,
    sent: SentCall<'_>,
) -> Result<(Ended, WrittenEntry), Ended> {
    let is_duplicate = unary_reply(answer).is_ok_and(|reply| reply.status == GrpcStatus::AlreadyExists);
    if is_duplicate {
        let ended = Ended::accepted(KNOWN);
        step.ends(ended);
        return Ok((ended, WrittenEntry::Before));
    }
    Ok((replied(step, answer, sent)?, WrittenEntry::New))
}

/// Leaves the message alone in the body of an answer to a call.
pub(crate) fn replied(
    step: &mut StepGuard<'_>,
    answer: &mut Answer,
    sent: SentCall<'_>,
) -> Result<Ended, Ended> {
    let ended = match unary_reply(answer) {
        Ok(reply) if reply.status == GrpcStatus::Ok => {
            let message = reply.message.len();
            answer.body.drain(..answer.body.len() - message);
            return Ok(Ended::of_status(200));
        }
        Ok(reply) => {
            let SentCall { client, request, secrets } = sent;
            let ended = Ended::failed(reply.status.outcome(), reply.status.name());
            client.tell_said(step, ended, (request, secrets), || reply.said());
            ended
        }
        Err(fault) => Ended::failed(Outcome::Malformed, fault.name()),
    };
    step.ends(ended);
    Err(ended)
}

pub(crate) fn malformed(step: &mut StepGuard<'_>, why: &'static str) -> Ended {
    let ended = Ended::failed(Outcome::Malformed, why);
    step.ends(ended);
    ended
}
