//! How an answer ends its operation.

use std::borrow::Cow;

use hammer_core::workload::Ended;
use hammer_measure::{Detail, Outcome};
use hammer_net::Answer;
use hammer_net::grpc::{GrpcStatus, unary_reply};
use hammer_values::JsonPlace;
use http::HeaderName;
use memchr::memmem::{self, Finder};
use serde_json::Value;

use crate::error::HttpError;
use crate::filling::{Filler, Text, TextMaker};
use crate::plan::HttpPlan;
use crate::pool::text_of;
use crate::template::Encoding;

/// What is asked of an answer.
#[derive(Debug)]
pub(crate) struct Judgement {
    is_call: bool,
    expect: Vec<u16>,
    contains: Option<Contained>,
    headers: Vec<(HeaderName, Text)>,
    json: Vec<(JsonPlace, ExpectedValue)>,
}

/// A text that stands in a body.
#[derive(Debug)]
enum Contained {
    Fixed(Box<Finder<'static>>),
    Filled(Text),
}

/// What stands at a place of a JSON text.
#[derive(Debug)]
enum ExpectedValue {
    Fixed(Value),
    /// A text that each operation has filled; a number is what it is as text.
    Filled(Text),
}

/// The same as an operation has it.
enum FilledValue<'a> {
    Fixed(&'a Value),
    Text(Vec<u8>),
}

impl ExpectedValue {
    fn text(&self, filler: Filler<'_>) -> FilledValue<'_> {
        match self {
            Self::Fixed(value) => FilledValue::Fixed(value),
            Self::Filled(text) => FilledValue::Text(filled(text, filler)),
        }
    }
}

impl FilledValue<'_> {
    fn is(&self, found: &Value) -> bool {
        match self {
            Self::Fixed(value) => is_same(value, found),
            Self::Text(text) => (found.is_string() || found.is_number()) && **text == *text_of(found),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Fixed(value) => shown(value.to_string().as_bytes()),
            Self::Text(text) => shown(text),
        }
    }
}

impl Judgement {
    pub(crate) fn of(plan: &HttpPlan, texts: &mut TextMaker<'_>) -> Result<Self, HttpError> {
        let contains = plan.contains.as_ref().map(|text| texts.text("contains", text, Encoding::Plain));
        let contains = contains.transpose()?.map(|text| match text.fixed() {
            Some(fixed) => Contained::Fixed(Box::new(Finder::new(fixed).into_owned())),
            None => Contained::Filled(text),
        });
        let mut headers = Vec::new();
        for (name, value) in &plan.expect_headers {
            headers.push((name.name().clone(), texts.text("expect_headers", value.text(), Encoding::Plain)?));
        }
        let mut json = Vec::new();
        for (place, value) in &plan.json {
            let text = value.as_str().map(|text| texts.text("json", text, Encoding::Plain)).transpose()?;
            let expected = match text {
                Some(text) => match text.fixed() {
                    Some(fixed) => ExpectedValue::Fixed(String::from_utf8_lossy(fixed).into()),
                    None => ExpectedValue::Filled(text),
                },
                None => ExpectedValue::Fixed(value.clone()),
            };
            json.push((place.clone(), expected));
        }
        Ok(Self {
            is_call: plan.grpc.is_some(),
            expect: plan.expect.iter().map(|status| status.code()).collect(),
            contains,
            headers,
            json,
        })
    }

    /// Whether the answer's body is looked at.
    pub(crate) fn reads_body(&self) -> bool {
        self.is_call || self.contains.is_some() || self.reads_json()
    }

    /// Whether the answer's body is read as JSON.
    pub(crate) fn reads_json(&self) -> bool {
        !self.json.is_empty()
    }

    /// The headers that are looked at.
    pub(crate) fn headers(&self) -> impl Iterator<Item = &HeaderName> {
        self.headers.iter().map(|(name, _)| name)
    }

    /// Whether an answer of that status may be accepted, so that its body is looked at.
    pub(crate) fn takes(&self, status: u16) -> bool {
        let is_accepted = self.expect.is_empty() && Outcome::of_status(status) == Outcome::Accepted;
        is_accepted || self.expect.contains(&status)
    }

    /// How the operation ends that got `answer`, whose body is `json` where it is read as such.
    pub(crate) fn judge(&self, answer: &Answer, json: Option<&Value>, filler: Filler<'_>) -> Ended {
        if self.is_call { self.judge_call(answer, filler) } else { self.judge_request(answer, json, filler) }
    }

    /// Whether more than such a status says how an answer ends its operation.
    pub(crate) fn looks_beyond(&self, status: u16) -> bool {
        self.is_call || self.takes(status)
    }

    /// What is told of an answer that was judged to be a failure of that outcome; empty where its status said so alone, with which it was
    /// told.
    pub(crate) fn said<'a>(
        &self,
        outcome: Outcome,
        answer: &'a Answer,
        json: Option<&Value>,
        filler: Filler<'_>,
    ) -> Cow<'a, [u8]> {
        match self.is_call.then(|| unary_reply(answer)) {
            Some(Err(_)) => return answer.body.as_slice().into(),
            Some(Ok(reply)) if reply.status != GrpcStatus::Ok => return reply.said(),
            _ => {}
        }
        match outcome {
            Outcome::Malformed => {
                self.shortfall(answer, json, filler).unwrap_or_default().into_bytes().into()
            }
            _ if answer.status.is_success() => answer.body.as_slice().into(),
            _ => Cow::default(),
        }
    }

    /// What an answer lacks that is malformed, for whoever reads the report.
    fn shortfall(&self, answer: &Answer, json: Option<&Value>, filler: Filler<'_>) -> Option<String> {
        if self.look_within(&answer.body, filler).is_some() {
            let expected = match self.contains.as_ref()? {
                Contained::Fixed(text) => text.needle().to_vec(),
                Contained::Filled(text) => filled(text, filler),
            };
            return Some(format!("no {} in: {}", shown(&expected), shown(&answer.body)));
        }
        for (name, expected) in &self.headers {
            let expected = filled(expected, filler);
            let found: Vec<&[u8]> =
                answer.headers.get_all(name).iter().map(http::HeaderValue::as_bytes).collect();
            if !found.contains(&expected.as_slice()) {
                let found: Vec<String> = found.into_iter().map(shown).collect();
                let found = if found.is_empty() { "not there".to_owned() } else { found.join(", ") };
                return Some(format!("{name} is {found}, and not {}", shown(&expected)));
            }
        }
        for (place, expected) in &self.json {
            let Some(json) = json else { return Some(format!("no JSON: {}", shown(&answer.body))) };
            let (found, expected) = (place.find(json), expected.text(filler));
            let is_it = found.is_some_and(|found| expected.is(found));
            if !is_it {
                let found = found.map_or("not there".to_owned(), |found| shown(found.to_string().as_bytes()));
                return Some(format!("{} is {found}, and not {}", place.as_str(), expected.shown()));
            }
        }
        None
    }

    fn judge_request(&self, answer: &Answer, json: Option<&Value>, filler: Filler<'_>) -> Ended {
        let status = answer.status.as_u16();
        let looked_at = || {
            let within = self.look_within(&answer.body, filler);
            let within = within
                .or_else(|| self.look_at_headers(answer, filler))
                .or_else(|| self.look_at_json(json, filler));
            within.map_or(Ended::accepted(status), |cause| Ended::failed(Outcome::Malformed, cause))
        };
        match Outcome::of_status(status) {
            _ if self.expect.contains(&status) => looked_at(),
            Outcome::Accepted if !self.expect.is_empty() => {
                Ended { outcome: Outcome::Refused, detail: Detail::Status(status) }
            }
            Outcome::Accepted => looked_at(),
            outcome => Ended { outcome, detail: Detail::Status(status) },
        }
    }

    fn judge_call(&self, answer: &Answer, filler: Filler<'_>) -> Ended {
        match unary_reply(answer) {
            Err(fault) => Ended::failed(Outcome::Malformed, fault.name()),
            Ok(reply) if reply.status == GrpcStatus::Ok => {
                let within = self.look_within(reply.message, filler);
                let accepted = Ended::accepted(answer.status.as_u16());
                within.map_or(accepted, |cause| Ended::failed(Outcome::Malformed, cause))
            }
            Ok(reply) => Ended::failed(reply.status.outcome(), reply.status.name()),
        }
    }

    /// What is wrong with the body.
    fn look_within(&self, body: &[u8], filler: Filler<'_>) -> Option<&'static str> {
        let found = match self.contains.as_ref()? {
            Contained::Fixed(text) => text.find(body),
            Contained::Filled(text) => memmem::find(body, &filled(text, filler)),
        };
        found.is_none().then_some("expected text missing")
    }

    /// What is wrong with the headers.
    fn look_at_headers(&self, answer: &Answer, filler: Filler<'_>) -> Option<&'static str> {
        self.headers.iter().find_map(|(name, expected)| {
            let mut values = answer.headers.get_all(name).iter().peekable();
            values.peek().is_none().then_some("expected header missing").or_else(|| {
                let expected = filled(expected, filler);
                let has_it = values.any(|value| value.as_bytes() == expected);
                (!has_it).then_some("unexpected header value")
            })
        })
    }

    /// What is wrong with the JSON.
    fn look_at_json(&self, json: Option<&Value>, filler: Filler<'_>) -> Option<&'static str> {
        self.json.iter().find_map(|(place, expected)| {
            let Some(json) = json else { return Some("no JSON") };
            let Some(found) = place.find(json) else { return Some("expected JSON value missing") };
            (!expected.text(filler).is(found)).then_some("unexpected JSON value")
        })
    }
}

/// Whether two values are the same, however their numbers are written: `1` and `1.0`.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let is_whole = |number: &serde_json::Number| number.is_u64() || number.is_i64();
            one == other || !(is_whole(one) && is_whole(other)) && one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has_it =
                |(name, value): (&String, &Value)| other.get(name).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(has_it)
        }
        (one, other) => one == other,
    }
}

/// The start of a text.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST_SHOWN)]);
    let start: String = text.chars().take(LONGEST_SHOWN).collect();
    if start.len() < text.len() { format!("{start}...") } else { start }
}

const LONGEST_SHOWN: usize = 60;

fn filled(text: &Text, filler: Filler<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    text.write(filler, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use hammer_core::draw::Draws;

    use super::*;
    use crate::filling::Pools;
    use crate::picks::Turn;

    const SEVENTH: Filler<'_> = Filler { turn: Turn { seq: 7, rank: 7 }, extracted: &[] };

    fn judgement(plan: &str) -> Judgement {
        let pools = Pools::new();
        let mut texts = TextMaker::new(&pools, Draws::new(1, 1));
        Judgement::of(&serde_json::from_str(plan).unwrap(), &mut texts).unwrap()
    }

    fn judged(plan: &str, body: &[u8], trailers: &[(&'static str, &str)]) -> (Outcome, Detail) {
        let trailers = trailers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), http::HeaderValue::try_from(*value).unwrap())
        });
        let mut answer = Answer { body: body.to_vec(), trailers: trailers.collect(), ..Answer::new() };
        answer.headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/grpc"));
        let judgement = judgement(plan);
        assert!(judgement.reads_body());
        let ended = judgement.judge(&answer, None, SEVENTH);
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

    #[test]
    fn headers_and_json_of_an_accepted_answer_are_as_expected() {
        let plan =
            r#"{"expect_headers":{"x-user":"user-${seq}"},"json":{"/id":"${seq}","name":"a","$.up":true}}"#;
        let judgement = judgement(plan);
        let cause = |user: Option<&'static str>, body: &str| {
            let mut answer = Answer { body: body.into(), ..Answer::new() };
            if let Some(user) = user {
                answer.headers.append("x-user", http::HeaderValue::from_static(user));
            }
            let json = serde_json::from_str(body).ok();
            match judgement.judge(&answer, json.as_ref(), SEVENTH) {
                Ended { outcome: Outcome::Malformed, detail: Detail::Failure(cause) } => Some(cause),
                ended => {
                    assert_eq!(ended, Ended::accepted(200));
                    None
                }
            }
        };
        let right = r#"{"id":7,"name":"a","up":true}"#;
        assert_eq!(cause(Some("user-7"), right), None);
        assert_eq!(cause(Some("user-7"), r#"{"id":"7","name":"a","up":true}"#), None);
        assert!(is_same(&serde_json::json!([1, {"a": 1.0}]), &serde_json::json!([1.0, {"a": 1}])));
        assert!(!is_same(&serde_json::json!({"a": 1}), &serde_json::json!({"a": 1, "b": 2})));
        assert!(!is_same(
            &serde_json::json!(9_007_199_254_740_993_u64),
            &serde_json::json!(9_007_199_254_740_992_u64)
        ));
        assert_eq!(cause(None, right), Some("expected header missing"));
        assert_eq!(cause(Some("user-8"), right), Some("unexpected header value"));
        for (body, told) in [
            ("<html>", "no JSON"),
            (r#"{"id":7,"up":true}"#, "expected JSON value missing"),
            (r#"{"id":8,"name":"a","up":true}"#, "unexpected JSON value"),
            (r#"{"id":{"7":7},"name":"a","up":true}"#, "unexpected JSON value"),
            (r#"{"id":7,"name":"a","up":"true"}"#, "unexpected JSON value"),
        ] {
            assert_eq!(cause(Some("user-7"), body), Some(told), "{body}");
        }
    }
}
