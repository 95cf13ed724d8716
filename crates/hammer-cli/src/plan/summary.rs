//! What the summary of several runs goes by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{PlanError, PlanFault};
use super::path::PlanPath;
use super::{HookPlan, Plan};

/// The summary of several runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SummaryPlan {
    /// What its tables go by: a swept key, `round`, or the name of a hook around the runs or of an observation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
}

impl SummaryPlan {
    /// Whether nothing is given.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What tables go by is there in each run, as far as that is known before.
///
/// # Errors
/// A hook that is run between runs alone, which the first of them has not.
pub(crate) fn check(plan: &Plan) -> Result<(), PlanError> {
    let Some(by) = &plan.summary.by else { return Ok(()) };
    let is_of = |hooks: &[HookPlan]| hooks.iter().any(|hook| hook.name == *by);
    let hooks = &plan.hooks;
    if is_of(&hooks.between) && !is_of(&hooks.before) && !is_of(&hooks.after) {
        return Err(PlanFault::Misfit(ONLY_BETWEEN.to_owned()).at(PlanPath::of("summary").key("by")));
    }
    Ok(())
}

const ONLY_BETWEEN: &str =
    "this hook is not run before the first run: name one of `hooks.before` or `hooks.after`";
