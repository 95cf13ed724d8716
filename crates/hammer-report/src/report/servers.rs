//! What the servers of a run and their machine used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::saturation::Saturation;

/// What the servers of a run and their machine used, as it was sampled beside the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerResources {
    /// How often was looked.
    pub every_ns: u64,
    /// The window of which `max_cores` is the greatest rate.
    pub window_ns: u64,
    /// How long was looked before the load; 0 where nobody did.
    pub idle_ns: u64,
    /// By component, in the order of the plan: processes, control groups, pages of metrics, then what a Prometheus was asked.
    pub components: Vec<ComponentResources>,
    /// Whether the CPU of a server was used up, and what it did then; `null` where the plan does not ask.
    #[serde(default)]
    pub saturation: Option<Saturation>,
    /// The machine that hammer runs on.
    pub machine: MachineResources,
    /// Other machines, in the order of the plan.
    #[serde(default)]
    pub machines: Vec<RemoteMachineResources>,
}

/// What one component used. Figures are of measurement, but for what is said to be idle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentResources {
    /// Its name in the plan.
    pub name: String,
    /// Who told it.
    pub source: ComponentSource,
    /// Cores in use before the load; `null` where nobody looked.
    pub idle_mean_cores: Option<f64>,
    /// CPU time; `null` where no two looks of measurement say what was used between them.
    pub cpu: Option<CpuFigures>,
    /// Greatest resident memory, bytes; of several processes the sum, in which what they share counts for each.
    pub memory_max_bytes: Option<u64>,
    /// Seconds of measurement in which a limit of CPU held its processes back, added up over them; `null` where nobody says so.
    #[serde(default)]
    pub held_back_s: Option<f64>,
    /// CPU time divided by operations completed in measurement; `null` where none was.
    pub cpu_ns_per_completed: Option<u64>,
    /// Operations completed in measurement, divided by CPU seconds; `null` where none were used.
    pub completed_per_core_s: Option<f64>,
    /// Samples of measurement, at which it was there.
    pub samples: u64,
    /// Looks, before the load and over the run, that found nothing out.
    pub gaps: u64,
    /// Seconds of measurement in which it was not there, as precise as looks are frequent.
    #[serde(default)]
    pub absent_s: f64,
}

/// CPU time over measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuFigures {
    /// User and system CPU seconds, over the time that the component was there; of a control group or a page that comes in mid-run, from
    /// the first look on that found it.
    pub used_s: f64,
    /// Cores in use, over the same time.
    pub mean_cores: f64,
    /// Cores in use over the window with most of it; the mean, where the component was there for no time as long as that.
    pub max_cores: f64,
}

/// Who tells what a component uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComponentSource {
    /// `/proc` of this machine.
    Processes,
    /// A control group of this machine.
    Cgroup,
    /// The component itself, or `hammer resources` beside it, on a page of metrics.
    Metrics,
    /// A Prometheus.
    Promql,
}

/// Another machine than hammer's, as its page tells of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteMachineResources {
    /// Its name in the plan.
    pub name: String,
    /// What it used.
    #[serde(flatten)]
    pub figures: MachineResources,
    /// Samples of measurement.
    pub samples: u64,
    /// Looks, before the load and over the run, that found nothing out.
    pub gaps: u64,
}

/// A machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineResources {
    /// Cores that are online.
    pub cores: u32,
    /// Before the load; `null` where nobody looked.
    pub idle: Option<MachineUse>,
    /// Over measurement; `null` where it has fewer than two samples.
    pub measurement: Option<MachineUse>,
    /// The greatest load average (over a minute) in measurement.
    pub load_max: Option<f64>,
    /// The least memory in measurement that programs could still have, bytes.
    pub memory_available_min_bytes: Option<u64>,
}

/// Shares (0 to 1) of the time of all cores; the rest was idle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineUse {
    /// In programs.
    pub user: f64,
    /// In the kernel, interrupts included.
    pub system: f64,
    /// Idle while something waited for a disk.
    pub iowait: f64,
    /// Taken by the host for others.
    pub steal: f64,
}

impl ComponentResources {
    /// The same with what it used for each of `completed` operations.
    #[must_use]
    pub fn per_completed(self, completed: u64) -> Self {
        let used = self.cpu.map_or(0.0, |cpu| cpu.used_s);
        let each = self.cpu.filter(|_| completed > 0).map(|cpu| (cpu.used_s * 1e9 / completed as f64) as u64);
        let per_core = (used > 0.0).then(|| completed as f64 / used);
        Self { cpu_ns_per_completed: each, completed_per_core_s: per_core, ..self }
    }
}
