//! How an answer ends its operation.

use std::borrow::Cow;

use hammer_core::workload::Ended;
use hammer_measure::{Detail, Outcome};
use hammer_net::Answer;
use hammer_net::grpc::{GrpcStatus, unary_reply};
use memchr::memmem::Finder;

use crate::plan::HttpPlan;

/// What is asked of an answer.
#[derive(Debug)]
pub(crate) struct Judgement {
    is_call: bool,
    expect: Vec<u16>,
    contains: Option<Finder<'static>>,
}

impl Judgement {
    pub(crate) fn of(plan: &HttpPlan) -> Self {
        Self {
            is_call: plan.grpc.is_some(),
            expect: plan.expect.iter().map(|status| status.code()).collect(),
            contains: plan.contains.as_ref().map(|text| Finder::new(text.as_bytes()).into_owned()),
        }
    }

    /// Whether the answer's body is looked at.
    pub(crate) fn reads_body(&self) -> bool {
        self.is_call || self.contains.is_some()
    }

    /// How the operation ends that got `answer`.
    pub(crate) fn judge(&self, answer: &Answer) -> Ended {
        if self.is_call { self.judge_call(answer) } else { self.judge_request(answer) }
    }

    /// What the server of a call says of a status that is not OK.
    pub(crate) fn said<'a>(&self, answer: &'a Answer) -> Option<Cow<'a, str>> {
        let reply = self.is_call.then(|| unary_reply(answer))?.ok()?;
        (reply.status != GrpcStatus::Ok).then(|| reply.text())
    }

    fn judge_request(&self, answer: &Answer) -> Ended {
        let status = answer.status.as_u16();
        match Outcome::of_status(status) {
            _ if self.expect.contains(&status) => self.look_within(&answer.body, status),
            Outcome::Accepted if !self.expect.is_empty() => {
                Ended { outcome: Outcome::Refused, detail: Detail::Status(status) }
            }
            Outcome::Accepted => self.look_within(&answer.body, status),
            outcome => Ended { outcome, detail: Detail::Status(status) },
        }
    }

    fn judge_call(&self, answer: &Answer) -> Ended {
        match unary_reply(answer) {
            Err(fault) => Ended::failed(Outcome::Malformed, fault.name()),
            Ok(reply) if reply.status == GrpcStatus::Ok => {
                self.look_within(reply.message, answer.status.as_u16())
            }
            Ok(reply) => Ended::failed(reply.status.outcome(), reply.status.name()),
        }
    }

    fn look_within(&self, body: &[u8], status: u16) -> Ended {
        match &self.contains {
            Some(text) if text.find(body).is_none() => {
                Ended::failed(Outcome::Malformed, "expected text missing")
            }
            _ => Ended::accepted(status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(plan: &str, body: &[u8], trailers: &[(&'static str, &str)]) -> (Outcome, Detail) {
        let trailers = trailers.iter().map(|(name, value)| {
            (http::HeaderName::from_static(name), http::HeaderValue::try_from(*value).unwrap())
        });
        let mut answer = Answer { body: body.to_vec(), trailers: trailers.collect(), ..Answer::new() };
        answer.headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/grpc"));
        let judgement = Judgement::of(&serde_json::from_str(plan).unwrap());
        assert!(judgement.reads_body());
        let ended = judgement.judge(&answer);
        (ended.outcome, ended.detail)
    }

    #[test]
    fn a_call_ends_as_its_status_says_and_not_as_that_of_http() {
        let (plan, body) = (r#"{"grpc":"/a.B/C","contains":"here"}"#, b"\0\0\0\0\x07is here");
        let done = [("grpc-status", "0")];
        assert_eq!(judged(plan, body, &done), (Outcome::Accepted, Detail::Status(200)));
        for (code, outcome, name) in [
            ("14", Outcome::Pushback, "UNAVAILABLE"),
            ("5", Outcome::Refused, "NOT_FOUND"),
            ("13", Outcome::ServerError, "INTERNAL"),
        ] {
            assert_eq!(judged(plan, body, &[("grpc-status", code)]), (outcome, Detail::Failure(name)));
        }
        let absent = Detail::Failure("expected text missing");
        assert_eq!(judged(plan, b"\0\0\0\0\0", &done), (Outcome::Malformed, absent));
        assert_eq!(
            judged(plan, b"\x02\0\0\0\0", &done),
            (Outcome::Malformed, Detail::Failure("message flag unknown"))
        );
        assert_eq!(judged(plan, body, &[]), (Outcome::Malformed, Detail::Failure("no grpc-status")));
    }
}
