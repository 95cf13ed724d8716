//! Answers of Prometheus to an instant query (its HTTP API, `/api/v1/query`).

use serde::Deserialize;
use serde_json::Value;

/// Why an answer has no number. The texts complete "the query has no number: ...", and hold nothing of the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoNumber {
    /// The body is no answer of this API.
    #[error("the answer is none of Prometheus")]
    Unreadable,
    /// Prometheus refused it.
    #[error("{0}")]
    Refused(String),
    /// Nothing matches.
    #[error("nothing matches it")]
    Empty,
    /// A range, or a text.
    #[error("it gives a {0}, and not a scalar or an instant vector")]
    Kind(String),
    /// Not a number, or an infinite one.
    #[error("a value of it is no finite number")]
    NotFinite,
}

/// A sample of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct QuerySample {
    /// The labels by which its series differs from others, sorted; empty of a scalar, and where there are none.
    pub series: String,
    /// Its value, which is finite.
    pub value: f64,
}

/// The number that an answer holds: a scalar, or the sum of an instant vector's samples.
///
/// # Errors
/// When there is none.
pub fn number(body: &[u8]) -> Result<f64, NoNumber> {
    let sum: f64 = samples(body)?.iter().map(|sample| sample.value).sum();
    if sum.is_finite() { Ok(sum) } else { Err(NoNumber::NotFinite) }
}

/// The samples that an answer holds: a scalar, or those of an instant vector, of which there is one at least.
///
/// # Errors
/// When there is none.
pub fn samples(body: &[u8]) -> Result<Vec<QuerySample>, NoNumber> {
    let answer: Answer = serde_json::from_slice(body).map_err(|_| NoNumber::Unreadable)?;
    if answer.status != "success" {
        return Err(NoNumber::Refused(bounded(
            answer.error.as_deref().unwrap_or("it failed without a reason"),
        )));
    }
    let QueryData { kind, result } = answer.data.ok_or(NoNumber::Unreadable)?;
    match kind.as_str() {
        "scalar" => Ok(vec![QuerySample { series: String::new(), value: value(&result)? }]),
        "vector" => {
            let samples = result.as_array().ok_or(NoNumber::Unreadable)?;
            let samples = samples.iter().map(|sample| {
                let series = sample.get("metric").map_or_else(String::new, sorted);
                Ok(QuerySample { series, value: value(sample.get("value").ok_or(NoNumber::Unreadable)?)? })
            });
            let samples = samples.collect::<Result<Vec<_>, NoNumber>>()?;
            if samples.is_empty() { Err(NoNumber::Empty) } else { Ok(samples) }
        }
        _ => Err(NoNumber::Kind(bounded(&kind))),
    }
}

/// Labels as one text, the same in whatever order they stand.
fn sorted(labels: &Value) -> String {
    let mut pairs: Vec<_> = labels.as_object().into_iter().flatten().collect();
    pairs.sort_by_key(|(name, _)| *name);
    pairs.iter().fold(String::new(), |text, (name, value)| text + name + "=" + &value.to_string() + ",")
}

/// The path below a server's URL at which `query` is asked.
pub fn path(query: &str) -> String {
    let mut path = String::from("/api/v1/query?query=");
    for byte in query.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                path.push(char::from(byte));
            }
            _ => {
                path.push('%');
                for digit in [byte >> 4, byte & 15] {
                    path.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
                }
            }
        }
    }
    path
}

/// `[ <unix time>, "<value>" ]`.
fn value(sample: &Value) -> Result<f64, NoNumber> {
    let text = sample.get(1).and_then(Value::as_str).ok_or(NoNumber::Unreadable)?;
    let value: f64 = text.parse().map_err(|_| NoNumber::Unreadable)?;
    if value.is_finite() { Ok(value) } else { Err(NoNumber::NotFinite) }
}

/// What a server says goes to a terminal: one line, and not long.
fn bounded(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect()
}

#[derive(Deserialize)]
struct Answer {
    status: String,
    data: Option<QueryData>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct QueryData {
    #[serde(rename = "resultType")]
    kind: String,
    result: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: &str, result: &str) -> Result<f64, NoNumber> {
        let body = format!(r#"{{"status":"success","data":{{"resultType":"{kind}","result":{result}}}}}"#);
        number(body.as_bytes())
    }

    #[test]
    fn a_scalar_is_itself_and_a_vector_its_sum() {
        assert_eq!(answer("scalar", r#"[1435781451.781,"1.5"]"#), Ok(1.5));
        let vector = r#"[{"metric":{"job":"a"},"value":[1.5,"2"]},{"metric":{},"value":[1.5,"3.25"]}]"#;
        assert_eq!(answer("vector", vector), Ok(5.25));
    }

    #[test]
    fn series_are_told_apart_by_their_labels_in_whatever_order() {
        let body = |labels: &str| {
            let result =
                format!(r#"[{{"metric":{labels},"value":[1,"2"]}},{{"metric":{{}},"value":[1,"3"]}}]"#);
            let body =
                format!(r#"{{"status":"success","data":{{"resultType":"vector","result":{result}}}}}"#);
            samples(body.as_bytes()).unwrap()
        };
        let one = body(r#"{"pod":"a","job":"rekor"}"#);
        assert_eq!(one, body(r#"{"job":"rekor","pod":"a"}"#));
        assert_ne!(one[0].series, body(r#"{"job":"rekor","pod":"b"}"#)[0].series);
        assert_eq!((one[1].series.as_str(), one[1].value), ("", 3.0));
    }

    #[test]
    fn what_is_no_number_says_why() {
        assert_eq!(answer("vector", "[]"), Err(NoNumber::Empty));
        assert_eq!(answer("matrix", "[]"), Err(NoNumber::Kind("matrix".to_owned())));
        assert_eq!(answer("scalar", r#"[1,"NaN"]"#), Err(NoNumber::NotFinite));
        assert_eq!(answer("vector", r#"[{"value":[1,"+Inf"]}]"#), Err(NoNumber::NotFinite));
        assert_eq!(answer("scalar", "[1,2]"), Err(NoNumber::Unreadable));
        let refused = br#"{"status":"error","errorType":"bad_data","error":"parse error:\n unexpected )"}"#;
        assert_eq!(number(refused), Err(NoNumber::Refused("parse error:  unexpected )".to_owned())));
        assert_eq!(number(b"<html>"), Err(NoNumber::Unreadable));
    }

    #[test]
    fn a_query_is_one_parameter_whatever_it_holds() {
        assert_eq!(
            path("sum(up{a=\"b&c\"}) + 1"),
            "/api/v1/query?query=sum%28up%7Ba%3D%22b%26c%22%7D%29%20%2B%201"
        );
    }
}
