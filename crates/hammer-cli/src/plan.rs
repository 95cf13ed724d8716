//! The plan: what a run targets, what it sends and when, and what is expected of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hammer_report::summary::RunOrder;
use hammer_values::{Agreed, Count, NonEmpty, TimeSpan, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) mod broken_yaml;
mod change;
pub(crate) mod client_fault;
pub(crate) mod compat;
pub(crate) mod contact;
mod credential;
pub(crate) mod dial_address;
pub(crate) mod document;
pub(crate) mod error;
pub(crate) mod fill;
pub(crate) mod grammar;
pub(crate) mod health;
pub(crate) mod interval;
mod key_places;
pub(crate) mod link;
pub(crate) mod load;
mod misfit;
mod misplaced_list;
pub(crate) mod named_files;
pub(crate) mod nearest;
pub(crate) mod observe;
pub(crate) mod path;
pub(crate) mod printed;
pub(crate) mod read;
pub(crate) mod ready;
mod renamed;
mod resend;
pub(crate) mod resources;
pub(crate) mod saturation;
pub(crate) mod section;
pub(crate) mod smoke;
pub(crate) mod source;
pub(crate) mod spawn_rate;
pub(crate) mod summary;
pub(crate) mod sweep;
pub(crate) mod target;
pub(crate) mod target_url;
pub(crate) mod threshold;
mod typed;
mod value_kind;

use compat::CompatPlan;
use credential::mask;
use fill::FillPlan;
use health::HealthPlan;
use interval::IntervalLength;
use load::LoadPlan;
use observe::ObservePlan;
use resources::ResourcesPlan;
use section::Sections;
use summary::SummaryPlan;
use target::TargetPlan;
use threshold::ThresholdPlan;

/// A plan file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "hammer plan")]
pub(crate) struct Plan {
    /// What the plan is for; stands in the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The seed of everything that is drawn or minted.
    #[serde(default)]
    pub(crate) seed: u64,
    /// What is loaded.
    pub(crate) target: TargetPlan,
    /// What is sent, each workload with its own load.
    pub(crate) workloads: NonEmpty<WorkloadPlan>,
    /// What is sent ahead of all that, until enough of it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fill: Option<FillPlan>,
    /// Warm-up, measurement, drain.
    #[serde(default)]
    pub(crate) phases: PhasesPlan,
    /// What ends the arrivals besides time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stop: Option<StopPlan>,
    /// What is expected of the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) thresholds: Vec<ThresholdPlan>,
    /// What is expected of the generator itself.
    #[serde(default, skip_serializing_if = "HealthPlan::is_default")]
    pub(crate) health: HealthPlan,
    /// Threads of the generator.
    #[serde(default)]
    pub(crate) threads: ThreadsPlan,
    /// The length of an interval; 10 ms at least.
    #[serde(default)]
    pub(crate) interval: IntervalLength,
    /// Another tool whose way of counting requests the report has beside hammer's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compat: Option<CompatPlan>,
    /// How often the whole plan is carried out.
    #[serde(default = "once")]
    pub(crate) rounds: Count,
    /// Values for keys; the plan is carried out with every combination.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) sweep: BTreeMap<String, NonEmpty<Value>>,
    /// Which of rounds and combinations of swept values changes from run to run.
    #[serde(default)]
    pub(crate) order: RunOrder,
    /// What the summary of several runs goes by.
    #[serde(default, skip_serializing_if = "SummaryPlan::is_empty")]
    pub(crate) summary: SummaryPlan,
    /// Commands around the runs and in mid-run.
    #[serde(default, skip_serializing_if = "HooksPlan::is_empty")]
    pub(crate) hooks: HooksPlan,
    /// Numbers that are looked at beside the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) observe: Vec<Agreed<ObservePlan>>,
    /// Whose use of the machine is sampled beside the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resources: Option<ResourcesPlan>,
    /// Where reports go; the command line overrules it.
    #[serde(default, skip_serializing_if = "OutputPlan::is_empty")]
    pub(crate) output: OutputPlan,
}

/// One workload and its load. Exactly one key says what it does.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadPlan {
    /// Its name, a word that is unique in the plan.
    pub(crate) name: Word,
    /// What it does: one section, of the protocol that does it.
    #[serde(flatten, skip_deserializing)]
    #[schemars(skip)]
    pub(crate) operations: Sections,
    /// When it sends; only a workload that the plan is filled with may be without it.
    #[serde(default)]
    pub(crate) load: LoadPlan,
    /// Open loop: most operations in flight at once.
    #[serde(default = "default_in_flight")]
    pub(crate) in_flight: Count,
    /// Open loop: most operations that wait for a slot; what arrives beyond it is shed.
    #[serde(default = "default_backlog")]
    pub(crate) backlog: usize,
    /// How long one operation may take from its start.
    #[serde(default = "default_timeout")]
    pub(crate) timeout: TimeSpan,
    /// Expected of this workload's figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) thresholds: Vec<ThresholdPlan>,
}

/// The phases of a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PhasesPlan {
    /// Load whose figures do not count, but whose errors stay visible.
    pub(crate) warm_up: TimeSpan,
    /// Length of measurement; without it operations, a stop rule or a signal end it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) measurement: Option<TimeSpan>,
    /// How long drain may take; what it cuts off is abandoned.
    pub(crate) drain: TimeSpan,
}

/// What ends the arrivals besides time and operations: a number for what an observer sees, by the keys that protocols name.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "NoOwnKey")]
pub(crate) struct StopPlan(pub(crate) BTreeMap<String, u64>);

/// What ends the arrivals besides time and operations.
#[derive(JsonSchema)]
#[schemars(rename = "StopPlan", deny_unknown_fields)]
struct NoOwnKey {}

/// Threads of the generator.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ThreadsPlan {
    /// Threads that send. Without it: one, and for closed loops or more than 20,000/s one for each core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shards: Option<Count>,
    /// Threads that prepare operations; one without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) supply: Option<Count>,
    /// Threads that check promises, for each workload that receives any; one without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verify: Option<Count>,
}

/// Commands around the runs and in mid-run; each by `sh -c`. Of those around, a number or a text in the output stands in the
/// report.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HooksPlan {
    /// Before each run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) before: Vec<HookPlan>,
    /// Between two runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) between: Vec<HookPlan>,
    /// After each run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<HookPlan>,
    /// In mid-run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) at: Vec<TimedHookPlan>,
    /// A file of marks: each line that is appended to it during the run marks an instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) marks: Option<PathBuf>,
}

/// One command.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookPlan {
    /// What its output is called in the report.
    pub(crate) name: String,
    /// The command.
    pub(crate) run: String,
}

/// One command in mid-run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimedHookPlan {
    /// When it starts, from the start of measurement.
    pub(crate) at: TimeSpan,
    /// What the report calls it.
    pub(crate) name: String,
    /// The command. Lines of its output that start with `mark ` mark an instant.
    pub(crate) run: String,
}

/// Where reports go.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OutputPlan {
    /// The JSON report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<PathBuf>,
    /// Events and intervals, one JSON object a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) events: Option<PathBuf>,
    /// Single operations, one JSON object a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) samples: Option<PathBuf>,
}

impl Plan {
    /// The plan with another seed, when there is one.
    pub(crate) fn seed(mut self, seed: Option<u64>) -> Self {
        self.seed = seed.unwrap_or(self.seed);
        self
    }

    /// The workload that fills, and its place.
    pub(crate) fn filling(&self) -> Option<(usize, &WorkloadPlan)> {
        let fill = self.fill.as_ref()?;
        self.workloads.iter().enumerate().find(|(_, workload)| workload.name == fill.workload)
    }

    /// Whether nothing but a signal ends a run of it.
    pub(crate) fn is_endless(&self) -> bool {
        let is_bounded = self.phases.measurement.is_some() || self.stop.is_some();
        !is_bounded && self.measured().any(|(_, workload)| workload.load.is_endless())
    }

    /// The workloads that are measured, with their places: all but one that only fills.
    pub(crate) fn measured(&self) -> impl Iterator<Item = (usize, &WorkloadPlan)> {
        self.workloads.iter().enumerate().filter(|(_, workload)| !self.only_fills(workload))
    }

    /// Whether a workload fills, and does nothing else.
    pub(crate) fn only_fills(&self, workload: &WorkloadPlan) -> bool {
        workload.load.is_none() && self.fill.as_ref().is_some_and(|fill| fill.workload == workload.name)
    }

    /// The plan as reports hold it: what headers carry as credentials is left out.
    pub(crate) fn embedded(&self) -> Value {
        let mut plan = serde_json::to_value(self).unwrap_or(Value::Null);
        mask(&mut plan);
        plan
    }
}

impl HooksPlan {
    fn is_empty(&self) -> bool {
        let around = self.before.is_empty() && self.between.is_empty() && self.after.is_empty();
        around && self.at.is_empty() && self.marks.is_none()
    }
}

impl OutputPlan {
    fn is_empty(&self) -> bool {
        self.report.is_none() && self.events.is_none() && self.samples.is_none()
    }
}

impl Default for PhasesPlan {
    fn default() -> Self {
        Self { warm_up: TimeSpan::ZERO, measurement: None, drain: TimeSpan::from_secs(30) }
    }
}

fn once() -> Count {
    Count::ONE
}

fn default_in_flight() -> Count {
    Count::at_least_one(1_000)
}

fn default_backlog() -> usize {
    10_000
}

fn default_timeout() -> TimeSpan {
    TimeSpan::from_secs(30)
}
