//! Numbers that are looked at beside the load.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hammer_exchange::token::TokenPlan;
use hammer_values::{Agreed, KeyConflict, PlanBlock, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{PlanError, PlanFault};
use super::interval::IntervalLength;
use super::path::PlanPath;
use super::target_url::TargetUrl;

/// A number that is looked at beside the load, again and again. Exactly one key says where it comes from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObservePlan {
    /// Its observation is called `observe/NAME`.
    pub(crate) name: Word,
    /// How often; 10 ms at least. It is also how long a look may take.
    #[serde(default)]
    pub(crate) every: IntervalLength,
    /// A command, by `sh -c`: the first number that it prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
    /// A metric on a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scrape: Option<ScrapePlan>,
    /// A query that a Prometheus answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) promql: Option<PromqlPlan>,
    /// What the embedded target counts of itself, by its name in the target's statistics: `tree_size`, `requests.get`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lab: Option<String>,
}

/// An instant query.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromqlPlan {
    /// The server; its API is below it.
    pub(crate) url: TargetUrl,
    /// The query: a scalar, or an instant vector, of which it is the sum.
    pub(crate) query: String,
    /// Where the bearer token comes from; none is sent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<TokenPlan>,
    /// PEM files of roots that are trusted beside the system's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) roots: Vec<PathBuf>,
}

/// A metric on a page in Prometheus's text format.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScrapePlan {
    /// The page.
    pub(crate) url: TargetUrl,
    /// The whole name of the metric; of several samples it is the sum.
    pub(crate) metric: String,
    /// Labels that a sample must have, besides others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, String>,
}

/// Every number has a name of its own, and only an embedded target counts.
///
/// # Errors
/// The first name that is taken, or the first count of no target, where it stands.
pub(crate) fn check(all: &[Agreed<ObservePlan>], has_lab: bool) -> Result<(), PlanError> {
    for (place, observed) in all.iter().enumerate() {
        if observed.lab.is_some() && !has_lab {
            let at = PlanPath::of("observe").item(place).key("lab");
            return Err(PlanFault::Misfit("there is no embedded target; give `target.lab`".to_owned()).at(at));
        }
        if all[..place].iter().any(|other| other.name == observed.name) {
            let at = PlanPath::of("observe").item(place).key("name");
            return Err(PlanFault::Taken(observed.name.to_string()).at(at));
        }
    }
    Ok(())
}

impl PlanBlock for ObservePlan {
    fn conflict(&self) -> Option<KeyConflict> {
        let given = [
            ("run", self.run.is_some()),
            ("scrape", self.scrape.is_some()),
            ("promql", self.promql.is_some()),
            ("lab", self.lab.is_some()),
        ];
        let mut given = given.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| *key);
        match (given.next(), given.next()) {
            (None, _) => Some(KeyConflict::at("run", "give run, scrape, promql or lab")),
            (Some(first), Some(second)) => {
                Some(KeyConflict::at(second, format!("there is a {first} already: give one of them")))
            }
            (Some(_), None) => None,
        }
    }
}
