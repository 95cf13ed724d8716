//! Several kinds of requests in one workload, and sequences of them.

use std::collections::BTreeMap;

use hammer_core::dispatch::Think;
use hammer_exchange::bearer::BearerPlan;
use hammer_measure::Nanos;
use hammer_values::{Agreed, JsonPlace, KeyConflict, PlanBlock, TimeSpan, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HttpPlan;
use super::header::HeaderKey;
use super::known::KnownNames;
use super::value::ValuePlan;

/// Requests of several kinds by their weights, and sequences of requests in which one goes on with what another was answered. A request, or
/// a sequence from its first to its last, is one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpFlowsPlan {
    /// Values by their names, for the texts of all requests.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<Word, Agreed<ValuePlan>>,
    /// Where the bearer token comes from of requests that have none of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<BearerPlan>,
    /// The kinds of operations.
    pub flows: Vec<FlowPlan>,
}

/// A kind of operation: one request, or a sequence of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// The name of its series.
    pub name: Word,
    /// How often it comes beside the others.
    #[serde(default = "one")]
    pub weight: u16,
    /// The request that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpPlan>,
    /// Or the requests, one after another, each with a series of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepPlan>,
}

/// A request of a sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepPlan {
    /// The name of its series.
    pub name: Word,
    /// The time between the answer before it and this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<TimeSpan>,
    /// It is drawn between `think` and this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_up_to: Option<TimeSpan>,
    /// The request.
    pub http: HttpPlan,
    /// What is taken from its answer, by the names that later requests have it by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extract: BTreeMap<Word, Extraction>,
}

/// What is taken from an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Extraction {
    /// What stands at a place of the JSON that its body is: a member's name, a JSON Pointer or a JSONPath.
    Json(JsonPlace),
    /// The value of a header.
    Header(HeaderKey),
    /// The value of a cookie that it sets (RFC 6265 section 4.1).
    Cookie(String),
    /// The path to which its `Location` leads, behind the path of the service's URL.
    Location,
}

const fn one() -> u16 {
    1
}

impl HttpFlowsPlan {
    /// Every request, in order, and where it stands below the block.
    pub fn requests(&self) -> impl Iterator<Item = (String, &HttpPlan)> {
        self.flows.iter().enumerate().flat_map(|(place, flow)| {
            let alone = flow.http.iter().map(move |http| (format!("flows[{place}].http"), http));
            let steps = flow.steps.iter().enumerate();
            alone.chain(
                steps.map(move |(step, plan)| (format!("flows[{place}].steps[{step}].http"), &plan.http)),
            )
        })
    }

    /// Where a request's token comes from.
    pub fn bearer_of<'a>(&'a self, request: &'a HttpPlan) -> Option<&'a BearerPlan> {
        match request.own_authorization() {
            Some(_) => None,
            None => request.bearer.as_ref().or(self.bearer.as_ref()),
        }
    }

    fn conflict_of_names(&self) -> Option<KeyConflict> {
        let mut names: Vec<&Word> = Vec::new();
        for (place, flow) in self.flows.iter().enumerate() {
            let steps = flow.steps.iter().enumerate();
            let steps = steps.map(|(step, plan)| (format!("flows[{place}].steps[{step}].name"), &plan.name));
            for (key, name) in std::iter::once((format!("flows[{place}].name"), &flow.name)).chain(steps) {
                if names.contains(&name) {
                    let reason = format!("`{name}` is the name of another series of the workload");
                    return Some(KeyConflict::at(key, reason));
                }
                names.push(name);
            }
        }
        None
    }
}

impl PlanBlock for HttpFlowsPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        if self.flows.is_empty() {
            return Some(KeyConflict::at("flows", "there has to be one at least"));
        }
        if self.flows.len() > MOST_FLOWS {
            return Some(KeyConflict::at("flows", format!("there can be {MOST_FLOWS} at most")));
        }
        if self.flows.iter().all(|flow| flow.weight == 0) {
            return Some(KeyConflict::at("flows[0].weight", "one weight must be 1 at least"));
        }
        let conflict = KnownNames::of(&self.values).conflict().or_else(|| self.conflict_of_names());
        let mut flows = self.flows.iter().enumerate();
        conflict.or_else(|| {
            flows.find_map(|(place, flow)| {
                Some(flow.conflict(&self.values)?.below(&format!("flows[{place}]")))
            })
        })
    }
}

impl FlowPlan {
    fn conflict(&self, values: &BTreeMap<Word, Agreed<ValuePlan>>) -> Option<KeyConflict> {
        match (&self.http, self.steps.as_slice()) {
            (None, []) => return Some(KeyConflict::at("http", "give http, or steps")),
            (Some(_), [_, ..]) => {
                return Some(KeyConflict::at("steps", "http is given too: only one of both may be"));
            }
            _ => {}
        }
        let mut known = KnownNames::of(values);
        if let Some(http) = &self.http {
            return Some(http.conflict_within(&known)?.below("http"));
        }
        for (place, step) in self.steps.iter().enumerate() {
            let key = format!("steps[{place}]");
            match step.think() {
                Ok(Some(_)) if place == 0 => {
                    let first = if step.think.is_some() { "think" } else { "think_up_to" };
                    return Some(KeyConflict::at(format!("{key}.{first}"), FIRST_THINKS));
                }
                Ok(_) => {}
                Err(conflict) => return Some(conflict.below(&key)),
            }
            if let Some(conflict) = step.http.conflict_within(&known) {
                return Some(conflict.below(&format!("{key}.http")));
            }
            if step.http.grpc.is_some() && !step.extract.is_empty() {
                let reason = "nothing can be taken from the message of a call";
                return Some(KeyConflict::at(format!("{key}.extract"), reason));
            }
            for name in step.extract.keys() {
                if let Some(reason) = known.taken(name.as_str()) {
                    return Some(KeyConflict::at(format!("{key}.extract.{name}"), reason));
                }
            }
            known.extracted(step.extract.keys().map(Word::as_str));
        }
        None
    }
}

impl StepPlan {
    /// How long a user thinks before it; none where it follows at once.
    pub(crate) fn think(&self) -> Result<Option<Think>, KeyConflict> {
        if self.think.is_none() && self.think_up_to.is_none() {
            return Ok(None);
        }
        let [least, most] =
            [self.think, self.think_up_to].map(|span| span.map(|span| span.duration().into()));
        let think = Think::between(least.unwrap_or(Nanos::ZERO), most);
        think.map(Some).ok_or_else(|| KeyConflict::at("think_up_to", "it must not be below think"))
    }
}

const FIRST_THINKS: &str =
    "there is no answer before the first step: between operations users think by `load.think`";
/// A mix numbers its kinds by a byte.
const MOST_FLOWS: usize = 256;
