//! Whose use of the machine is sampled beside the load.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hammer_exchange::token::TokenPlan;
use hammer_values::{Agreed, KeyConflict, PlanBlock, TimeSpan, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{PlanError, PlanFault};
use super::interval::IntervalLength;
use super::path::PlanPath;
use super::saturation::SaturationPlan;
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
    /// When the CPU of one of them counts as used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) saturation: Option<SaturationPlan>,
    /// Processes of this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) processes: Vec<Agreed<ProcessPlan>>,
    /// Control groups of this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) cgroups: Vec<Agreed<CgroupPlan>>,
    /// Servers that tell of themselves on a page of metrics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) metrics: Vec<MetricsPlan>,
    /// What a Prometheus knows of servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) promql: Vec<QueriedUsePlan>,
    /// Other machines, beside that of hammer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) machines: Vec<MachinePagePlan>,
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

/// A control group (version 2). Exactly one key says which.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CgroupPlan {
    /// What the report calls it.
    pub(crate) name: Word,
    /// Its folder, absolute or below the root of the hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<PathBuf>,
    /// The number of a process that is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<u32>,
    /// The name of its folder, wherever in the hierarchy: a unit of systemd, such as `rekor.service`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
}

/// A server with a page of metrics in Prometheus's text format.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MetricsPlan {
    /// What the report calls it.
    pub(crate) name: Word,
    /// The page.
    pub(crate) url: TargetUrl,
    /// Labels that samples must have, besides others: of a page that tells of several components.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, String>,
}

/// A component by two instant queries of a Prometheus.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueriedUsePlan {
    /// What the report calls it.
    pub(crate) name: Word,
    /// The server; its API is below it.
    pub(crate) url: TargetUrl,
    /// CPU seconds so far: a counter, or several of them as an instant vector, each of a process of its own.
    pub(crate) cpu: String,
    /// Resident memory, bytes; of an instant vector it is the sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<String>,
    /// Where the bearer token comes from; none is sent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<TokenPlan>,
    /// PEM files of roots that are trusted beside the system's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) roots: Vec<PathBuf>,
}

/// A machine with a page in the names of Prometheus's node exporter.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MachinePagePlan {
    /// What the report calls it.
    pub(crate) name: Word,
    /// The page.
    pub(crate) url: TargetUrl,
}

impl ResourcesPlan {
    /// Every URL that is asked.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &TargetUrl> {
        let pages = self.metrics.iter().map(|page| &page.url);
        let queried = self.promql.iter().map(|queried| &queried.url);
        pages.chain(queried).chain(self.machines.iter().map(|machine| &machine.url))
    }

    /// Every component has a name of its own, and the one that may be saturated is there.
    ///
    /// # Errors
    /// The first name that is taken, or the one that is missing, where it stands.
    pub(crate) fn check_names(&self) -> Result<(), PlanError> {
        let at = |list: &str, place| PlanPath::of("resources").key(list).item(place).key("name");
        let processes = self.processes.iter().enumerate();
        let processes = processes.map(|(place, process)| (&process.name, at("processes", place)));
        let metrics = self.metrics.iter().enumerate();
        let metrics = metrics.map(|(place, page)| (&page.name, at("metrics", place)));
        let cgroups = self.cgroups.iter().enumerate();
        let cgroups = cgroups.map(|(place, group)| (&group.name, at("cgroups", place)));
        let promql = self.promql.iter().enumerate();
        let promql = promql.map(|(place, queried)| (&queried.name, at("promql", place)));
        let machines = self.machines.iter().enumerate();
        let machines = machines.map(|(place, machine)| (&machine.name, at("machines", place)));
        let mut taken = vec![MACHINE];
        for (name, at) in processes.chain(cgroups).chain(metrics).chain(promql).chain(machines) {
            if taken.contains(&name.as_str()) {
                return Err(PlanFault::Taken(name.to_string()).at(at));
            }
            taken.push(name.as_str());
        }
        self.saturation.iter().try_for_each(|saturation| saturation.component(self).map(drop))
    }
}

impl PlanBlock for CgroupPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        let given =
            [("path", self.path.is_some()), ("pid", self.pid.is_some()), ("unit", self.unit.is_some())];
        let mut given = given.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| *key);
        match (given.next(), given.next()) {
            (None, _) => Some(KeyConflict::at("path", "give path, pid or unit")),
            (Some(first), Some(second)) => {
                Some(KeyConflict::at(second, format!("there is a {first} already: give one of them")))
            }
            (Some(_), None) => {
                let unit = self.unit.as_deref().filter(|unit| unit.is_empty() || unit.contains('/'));
                unit.map(|_| KeyConflict::at("unit", "it is no name of a folder"))
            }
        }
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
            saturation: None,
            processes: Vec::new(),
            cgroups: Vec::new(),
            metrics: Vec::new(),
            promql: Vec::new(),
            machines: Vec::new(),
        }
    }
}

/// Of serde, which passes references.
fn is_no_time(span: &TimeSpan) -> bool {
    *span == TimeSpan::ZERO
}

/// By this name the machine has its observations.
pub(crate) const MACHINE: &str = "machine";
