//! What a plan expects of the figures.

use std::fmt;

use hammer_measure::Fate;
use hammer_measure::threshold::{ParseError, Threshold};
use hammer_values::TimeSpan;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::nearest::nearest;

/// An expectation: a text like `p99(response) < 500ms`, or the same with where and how it applies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ThresholdPlan {
    /// The expectation alone.
    Text(Expectation),
    /// With where and how it applies.
    Full(FullThreshold),
}

/// An expectation with where and how it applies.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FullThreshold {
    /// The expectation.
    pub(crate) expect: Expectation,
    /// The series it is held against, as `workload/name`; without it all operations of the workload, or of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) series: Option<String>,
    /// How long into measurement it may fail without ending the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) grace: Option<TimeSpan>,
    /// Over how much of measurement, up to now, it is judged where its failure ends the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) window: Option<TimeSpan>,
    /// Whether its failure ends the run.
    #[serde(default)]
    pub(crate) abort_on_fail: bool,
}

/// The text of an expectation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub(crate) struct Expectation(Threshold);

/// A text that is no expectation; the text is a whole clause.
#[derive(Debug, thiserror::Error)]
#[error("failed to {error}{}", meant(error))]
pub(crate) struct UnusableExpectation {
    error: ParseError,
}

/// What was probably meant by a function or a measure that is none.
fn meant(error: &ParseError) -> String {
    let text = match error {
        ParseError::Form(text)
        | ParseError::Function { text, .. }
        | ParseError::Measure { text, .. }
        | ParseError::Bound { text, .. } => text,
    };
    let is_one = |meant: &String| meant.parse::<Threshold>().is_ok();
    if let Some(meant) = of_k6(text).filter(is_one).or_else(|| of_failures(text).filter(is_one)) {
        return format!("; did you mean `{meant}`?");
    }
    let (word, known) = match error {
        ParseError::Function { function, .. } => (function, FUNCTIONS.to_vec()),
        ParseError::Measure { measure, allowed, .. } => {
            let fates = Fate::ALL.into_iter().map(Fate::name);
            (measure, allowed.split([',', ' ']).filter(|word| word.len() > 2).chain(fates).collect())
        }
        ParseError::Form(_) | ParseError::Bound { .. } => return String::new(),
    };
    nearest(word, known).map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"))
}

/// What a threshold of k6 (`p(95)<500`, `http_req_failed: rate<0.01`) would be here. Its times are in milliseconds; a rate is a share of
/// requests where its bound is at most 1, and requests a second beyond.
fn of_k6(text: &str) -> Option<String> {
    let text = text.rsplit(':').next()?.trim();
    let operator = text.find(['<', '>', '='])?;
    let (function, rest) = (text[..operator].trim(), &text[operator..]);
    let bound = rest.trim_start_matches(['<', '>', '=']);
    let operator = rest[..rest.len() - bound.len()].replace("===", "==");
    let bound: f64 = bound.trim().parse().ok()?;
    let of_times = |function: &str| Some(format!("{function}(response) {operator} {bound}ms"));
    match function {
        "avg" => of_times("mean"),
        "med" => of_times("p50"),
        "min" | "max" => of_times(function),
        "count" => Some(format!("count(completed) {operator} {bound}")),
        "rate" if bound > 1.0 => Some(format!("rate(completed) {operator} {bound}/s")),
        // Of failures, in most scripts.
        "rate" if operator.starts_with('<') => Some(format!(
            "share(accepted) {} {}%",
            operator.replace('<', ">"),
            rounded(100.0 - 100.0 * bound)
        )),
        "rate" => Some(format!("share(accepted) {operator} {}%", rounded(100.0 * bound))),
        _ => {
            let percent = function.strip_prefix("p(")?.strip_suffix(')')?.trim();
            percent.parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent < 100.0)?;
            of_times(&format!("p{percent}"))
        }
    }
}

/// What a bound of failures (`share(failed) < 1%`, `count(errors) == 0`) would be, as one of what is accepted.
fn of_failures(text: &str) -> Option<String> {
    let (function, rest) = text.split_once('(')?;
    let (measure, rest) = rest.split_once(')')?;
    let (rest, bound) = rest.split_at(rest.rfind(['<', '>', '=', ' '])? + 1);
    let is_bounded_above = rest.trim().starts_with(['<', '=']);
    if !FAILURES.contains(&measure.trim()) || !is_bounded_above {
        return None;
    }
    let bound = bound.trim();
    let (number, whole) = match bound.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (bound, 1.0),
    };
    let share = number.trim().parse::<f64>().ok()? / whole;
    match (function.trim(), share) {
        ("share" | "count" | "rate", 0.0) if rest.contains('=') => Some("share(accepted) == 100%".to_owned()),
        ("share", share) if share > 0.0 => {
            let operator = rest.trim().replace('<', ">");
            Some(format!("share(accepted) {operator} {}%", rounded(100.0 - 100.0 * share)))
        }
        _ => None,
    }
}

/// What others call all that was not accepted.
const FAILURES: [&str; 5] = ["failed", "failures", "failure", "errors", "error"];

/// Without what floating point adds.
fn rounded(percent: f64) -> f64 {
    (percent * 1e6).round() / 1e6
}

const FUNCTIONS: [&str; 9] = ["p50", "p90", "p95", "p99", "mean", "min", "max", "rate", "count"];

impl ThresholdPlan {
    /// It in full.
    pub(crate) fn full(&self) -> FullThreshold {
        match self {
            Self::Full(full) => full.clone(),
            Self::Text(expect) => FullThreshold {
                expect: expect.clone(),
                series: None,
                grace: None,
                window: None,
                abort_on_fail: false,
            },
        }
    }
}

impl FullThreshold {
    /// Over how much of measurement, up to now, it is judged where its failure ends the run.
    pub(crate) fn judged_over(&self) -> TimeSpan {
        self.window.unwrap_or(WINDOW)
    }
}

impl Expectation {
    /// What figures are held against.
    pub(crate) fn threshold(self) -> Threshold {
        self.0
    }
}

impl TryFrom<String> for Expectation {
    type Error = UnusableExpectation;

    fn try_from(text: String) -> Result<Self, UnusableExpectation> {
        text.parse().map(Self).map_err(|error| UnusableExpectation { error })
    }
}

impl From<Expectation> for String {
    fn from(expect: Expectation) -> Self {
        expect.0.to_string()
    }
}

/// By hand, since what is wrong with either form would not be told otherwise.
impl<'de> Deserialize<'de> for ThresholdPlan {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        plan.deserialize_any(ThresholdVisitor)
    }
}

/// Where the plan does not say.
const WINDOW: TimeSpan = TimeSpan::from_secs(10);

struct ThresholdVisitor;

impl<'de> Visitor<'de> for ThresholdVisitor {
    type Value = ThresholdPlan;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an expectation like `p99(response) < 500ms`, or a map with one as `expect`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ThresholdPlan, E> {
        Expectation::try_from(text.to_owned()).map(ThresholdPlan::Text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<ThresholdPlan, A::Error> {
        FullThreshold::deserialize(MapAccessDeserializer::new(keys)).map(ThresholdPlan::Full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_failures_is_told_of_what_is_accepted() {
        for (said, meant) in [
            ("share(failed) < 1%", Some("share(accepted) > 99%")),
            ("share(errors) <= 0.001", Some("share(accepted) >= 99.9%")),
            ("count(failures) == 0", Some("share(accepted) == 100%")),
            ("share(error) < 0%", None),
            ("count(failed) < 5", None),
            ("share(failed) > 5%", None),
            ("share(failed) < 500%", None),
            ("share(failed) < none", None),
        ] {
            let found = Expectation::try_from(said.to_owned()).unwrap_err().to_string();
            assert_eq!(
                found.split_once("did you mean `").map(|(_, meant)| meant.trim_end_matches("`?")),
                meant,
                "{said}"
            );
        }
    }

    #[test]
    fn what_is_said_in_k6_is_told_as_a_threshold() {
        for (said, meant) in [
            ("p(95)<500", Some("p95(response) < 500ms")),
            ("http_req_duration: p(99.9) <= 1500", Some("p99.9(response) <= 1500ms")),
            ("avg<200", Some("mean(response) < 200ms")),
            ("med<200", Some("p50(response) < 200ms")),
            ("http_req_failed: rate<0.01", Some("share(accepted) > 99%")),
            ("checks: rate>=0.999", Some("share(accepted) >= 99.9%")),
            ("http_reqs: rate>50", Some("rate(completed) > 50/s")),
            ("count>=1000", Some("count(completed) >= 1000")),
            ("max===5", Some("max(response) == 5ms")),
            // Of these nothing can be made.
            ("p(95)<inf", None),
            ("p(95)=500", None),
            ("p(100)<500", None),
            ("p(95)<-5", None),
            ("rate<=-1", None),
            ("fast please", None),
        ] {
            let found = Expectation::try_from(said.to_owned()).unwrap_err().to_string();
            let expected = meant.map(|meant| format!("; did you mean `{meant}`?"));
            match &expected {
                Some(expected) => assert!(found.ends_with(expected), "{said}: {found}"),
                None => assert!(!found.contains("did you mean"), "{said}: {found}"),
            }
        }
    }
}
