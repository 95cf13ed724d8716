//! When the CPU of a server counts as used up.

use hammer_values::{Count, Percent, TimeSpan, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{PlanError, PlanFault};
use super::path::PlanPath;
use super::resources::ResourcesPlan;

/// When the CPU of a component counts as used up, and for how many operations it is to be sized.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SaturationPlan {
    /// The component; it may be left out where there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<Word>,
    /// The share of its cores above which it is.
    pub(crate) above: Percent,
    /// For how long every look has to find it so.
    #[serde(rename = "for")]
    pub(crate) length: TimeSpan,
    /// The cores that it may use; of a process or a control group of this machine they are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cores: Option<Count>,
    /// Whether that ends the arrivals.
    pub(crate) ends_arrivals: bool,
    /// How many operations a minute the report says the needed cores of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) per_minute: Option<Count>,
}

impl SaturationPlan {
    /// The component that is meant, of these.
    ///
    /// # Errors
    /// None of that name, or none where there is not exactly one; one of which nobody can tell how many cores it may use; or a bound that
    /// nothing is above.
    pub(crate) fn component<'a>(&'a self, resources: &'a ResourcesPlan) -> Result<&'a Word, PlanError> {
        let at = |key: &str| PlanPath::of("resources").key("saturation").key(key);
        let of_here = resources.processes.iter().map(|process| &process.name);
        let of_here = of_here.chain(resources.cgroups.iter().map(|group| &group.name));
        let told = resources.metrics.iter().map(|page| &page.name);
        let told = told.chain(resources.promql.iter().map(|queried| &queried.name));
        let all: Vec<(&Word, bool)> =
            of_here.map(|name| (name, true)).chain(told.map(|name| (name, false))).collect();
        let (component, is_of_here) = match (&self.of, all.as_slice()) {
            (Some(of), _) => {
                let found = all.iter().find(|(name, _)| *name == of);
                *found.ok_or_else(|| {
                    PlanFault::Misfit(format!("no process, control group or page is called `{of}`"))
                        .at(at("of"))
                })?
            }
            (None, [only]) => *only,
            (None, _) => return Err(PlanFault::Misfit(NOT_ONE.to_owned()).at(at("of"))),
        };
        if !is_of_here && self.cores.is_none() {
            return Err(PlanFault::Misfit(NO_CORES.to_owned()).at(at("cores")));
        }
        if self.above.of_100() >= 100.0 {
            return Err(PlanFault::Misfit(NEVER.to_owned()).at(at("above")));
        }
        if self.length == TimeSpan::ZERO {
            return Err(PlanFault::Misfit(NO_TIME.to_owned()).at(at("for")));
        }
        Ok(component)
    }
}

impl Default for SaturationPlan {
    fn default() -> Self {
        Self {
            of: None,
            above: Percent::try_from(95.0).unwrap_or_default(),
            length: TimeSpan::from_secs(5),
            cores: None,
            ends_arrivals: true,
            per_minute: None,
        }
    }
}

const NOT_ONE: &str =
    "give the name of one of the processes, control groups or pages, of which there is not exactly one";
const NO_CORES: &str = "a page does not tell how many cores its server may use: give them";
const NEVER: &str = "nothing uses more than all of its cores: give less than 100%";
const NO_TIME: &str = "it takes some time: give more than 0s";
