//! Whose use of the machine is sampled beside the load.

use hammer_values::{Agreed, KeyConflict, PlanBlock, TimeSpan, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{PlanError, PlanFault};
use super::interval::IntervalLength;
use super::path::PlanPath;
use super::target_url::TargetUrl;

/// Whose use of the machine is sampled beside the load; the machine is in any case.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ResourcesPlan {
    /// How often; 10 ms at least.
    pub(crate) every: IntervalLength,
    /// The length of time of which the greatest use of CPU is told.
    pub(crate) window: TimeSpan,
    /// How long is sampled before the load, so that the report knows what is used at rest.
    #[serde(skip_serializing_if = "is_no_time")]
    pub(crate) idle: TimeSpan,
    /// Processes of this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) processes: Vec<Agreed<ProcessPlan>>,
    /// Servers that tell of themselves on a page of metrics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) metrics: Vec<MetricsPlan>,
}

/// A component that is made of processes, with all that they start. Exactly one key says which.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcessPlan {
    /// What the report calls it.
    pub(crate) name: Word,
    /// The number of a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<u32>,
    /// A text that is part of a command line: every such process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
}

/// A server with a page of metrics in Prometheus's text format.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MetricsPlan {
    /// What the report calls it.
    pub(crate) name: Word,
    /// The page.
    pub(crate) url: TargetUrl,
}

impl ResourcesPlan {
    /// Every component has a name of its own.
    ///
    /// # Errors
    /// The first name that is taken, where it stands.
    pub(crate) fn check_names(&self) -> Result<(), PlanError> {
        let at = |list: &str, place| PlanPath::of("resources").key(list).item(place).key("name");
        let processes = self.processes.iter().enumerate();
        let processes = processes.map(|(place, process)| (&process.name, at("processes", place)));
        let metrics = self.metrics.iter().enumerate();
        let metrics = metrics.map(|(place, page)| (&page.name, at("metrics", place)));
        let mut taken = vec![MACHINE];
        for (name, at) in processes.chain(metrics) {
            if taken.contains(&name.as_str()) {
                return Err(PlanFault::Taken(name.to_string()).at(at));
            }
            taken.push(name.as_str());
        }
        Ok(())
    }
}

impl PlanBlock for ProcessPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        match (&self.pid, &self.command) {
            (Some(_), Some(_)) => {
                Some(KeyConflict::at("command", "there is a pid already: give one of both"))
            }
            (None, None) => Some(KeyConflict::at("pid", "give pid or command")),
            (None, Some(text)) if text.trim().is_empty() => {
                Some(KeyConflict::at("command", "it is empty, and every command line would hold it"))
            }
            _ => None,
        }
    }
}

impl Default for ResourcesPlan {
    fn default() -> Self {
        Self {
            every: IntervalLength::default(),
            window: TimeSpan::from_secs(10),
            idle: TimeSpan::ZERO,
            processes: Vec::new(),
            metrics: Vec::new(),
        }
    }
}

/// Of serde, which passes references.
fn is_no_time(span: &TimeSpan) -> bool {
    *span == TimeSpan::ZERO
}

/// By this name the machine has its observations.
const MACHINE: &str = "machine";
