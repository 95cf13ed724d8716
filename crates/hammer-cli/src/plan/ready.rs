//! When the target can be loaded.

use std::collections::BTreeMap;

use hammer_values::{JsonPlace, RequestPath, Status, TimeSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// When the target can be loaded: every server behind its URLs answers a `GET` as expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReadyPlan {
    /// Path and query, put behind the path of each URL.
    pub(crate) path: RequestPath,
    /// What the answer has to be.
    pub(crate) expect: ExpectedAnswer,
    /// How long the first arrival waits for it; a run whose target is not ready by then does not start.
    pub(crate) timeout: TimeSpan,
}

/// What the answer of a server that is ready is like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ExpectedAnswer {
    /// Its status.
    pub(crate) status: Status<100, 599>,
    /// Places in the JSON that is its body, and the value that each has: a member's name, a JSON Pointer (RFC 6901) or a JSONPath
    /// (RFC 9535).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) json: BTreeMap<JsonPlace, Value>,
}

impl Default for ReadyPlan {
    fn default() -> Self {
        let (path, expect) = <(RequestPath, ExpectedAnswer)>::default();
        Self { path, expect, timeout: TimeSpan::from_secs(60) }
    }
}

impl Default for ExpectedAnswer {
    fn default() -> Self {
        Self { status: Status::nearest(200), json: BTreeMap::new() }
    }
}

impl ExpectedAnswer {
    /// Whether an answer of this status and body is as expected.
    ///
    /// # Errors
    /// What it is instead, as a sentence without its full stop.
    pub(crate) fn hold(&self, status: u16, body: &[u8]) -> Result<(), String> {
        if status != self.status.code() {
            return Err(format!("the answer is {status}"));
        }
        if self.json.is_empty() {
            return Ok(());
        }
        let body: Value = serde_json::from_slice(body).map_err(|_| "the answer is no JSON".to_owned())?;
        self.json.iter().try_for_each(|(place, expected)| match place.find(&body) {
            Some(found) if found == expected => Ok(()),
            Some(found) => Err(format!("`{}` is {}", place.as_str(), shown(found))),
            None => Err(format!("the answer has no `{}`", place.as_str())),
        })
    }
}

/// A value that says how a server is, which is short; of any other nobody knows what it holds.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.len() > LONGEST_STATE => "a long text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        value => value.to_string(),
    }
}

/// Bytes of a state; no token is as short.
const LONGEST_STATE: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_held_against_its_status_and_each_member_and_what_it_is_instead_is_told() {
        let state = r#"{ "status": 200, "json": { "service-state": "READY", "/parts/0/up": true } }"#;
        let both: ExpectedAnswer = serde_json::from_str(state).unwrap();
        let ready = r#"{"service-state":"READY","parts":[{"up":true}]}"#;
        for (expected, status, body, held) in [
            (&both, 200, ready, Ok(())),
            (&both, 503, ready, Err("the answer is 503")),
            (&both, 200, "READY", Err("the answer is no JSON")),
            (&both, 200, "[]", Err("the answer has no `/parts/0/up`")),
            (&both, 200, r#"{"parts":[{"up":false}]}"#, Err("`/parts/0/up` is false")),
            (&both, 200, r#"{"parts":[{"up":true}]}"#, Err("the answer has no `service-state`")),
            (
                &both,
                200,
                r#"{"service-state":"DOWN","parts":[{"up":true}]}"#,
                Err("`service-state` is \"DOWN\""),
            ),
            (&ExpectedAnswer::default(), 200, "anything", Ok(())),
            (&ExpectedAnswer::default(), 204, "", Err("the answer is 204")),
        ] {
            assert_eq!(expected.hold(status, body.as_bytes()), held.map_err(str::to_owned), "{body}");
        }
    }

    #[test]
    fn a_member_that_could_hold_a_secret_is_not_told() {
        let expected = ExpectedAnswer {
            json: [("a".to_owned().try_into().unwrap(), Value::Null)].into(),
            ..Default::default()
        };
        let canary = "canary".repeat(8);
        for body in
            [format!(r#"{{"a":"{canary}"}}"#), r#"{"a":["canary"]}"#.into(), r#"{"a":{"b":"canary"}}"#.into()]
        {
            let told = expected.hold(200, body.as_bytes()).unwrap_err();
            assert!(told.starts_with("`a` is a") && !told.contains("canary"), "{told}");
        }
    }
}
