//! The report: the public schema. `docs/report.md` says the same in prose, `docs/report.schema.json` as JSON Schema.

use std::io::{self, BufWriter, Write};

use hammer_measure::{snapshot, threshold};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::verdict::{Reason, Verdict};

pub mod accounted_job;
pub mod accounting;
pub mod burst;
pub mod cause;
mod check;
pub mod connections;
pub mod disruption;
pub mod event;
pub mod figures;
pub mod fill;
pub mod flat;
pub mod groups;
pub mod headline;
pub mod health;
pub mod limit;
pub mod link;
pub mod operation_counters;
pub(crate) mod overload;
pub mod phase;
pub mod promises;
pub mod readiness;
pub mod response_times;
pub mod saturation;
pub mod series;
pub mod servers;
pub mod timeline;

use figures::finite;

pub use accounted_job::AccountedJob;
pub use accounting::{JobRequests, RequestAccounting};
pub use burst::{Burst, BurstKind};
pub use cause::Cause;
pub use connections::{Connections, PeerFigures};
pub use disruption::{Disruption, DisruptionKind, Pace};
pub use event::Event;
pub use figures::{Counts, DurationTable, Durations, EndCounts, Fates, Nanoseconds, Rates};
pub use fill::{Corpus, Fill, FillOutcome};
pub use flat::FlatSummary;
pub use headline::{HeadlineFigures, TreeSize};
pub use health::{Alarms, Finding, FindingKind, Health, HealthNote, HealthNoteKind, OnFail};
pub(crate) use limit::bounded_here;
pub use limit::{QuickSeries, RateLimit, SteadyRate};
pub use link::{CarriedBytes, LinkDirection, LinkFigures, LinkRates, LinkSource, LinkedOperation};
pub use operation_counters::OperationCounters;
pub use phase::{PhaseName, PhaseSpan};
pub use promises::{Breach, KindPromises, PromiseCounts, Promises, WorkloadPromises};
pub use readiness::{NotReady, Readiness};
pub use response_times::{ResponseStretch, ResponseTimes};
pub use series::{PhaseFigures, Series, SeriesKind};
pub use servers::ServerResources;
pub use timeline::{Interval, ObservationSeries, SeriesInterval};

/// The version of the schema. A change that can break a reader raises the number.
pub const SCHEMA: &str = "hammer.report/1";

/// Everything that one run leaves behind. Instants are nanoseconds since the run's epoch (`run.epoch`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `hammer.report/1`.
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// The exit code, and every reason for it.
    pub verdict: Verdict,
    /// Whether the generator kept its own plan.
    pub health: Health,
    /// The run in one flat object, for scripts; `null` of a run that goes on, and in reports of versions that made none.
    #[serde(default)]
    pub summary: Option<FlatSummary>,
    /// The run as it was set up and as it ended.
    pub run: Run,
    /// The phases as they really were.
    pub phases: Vec<PhaseSpan>,
    /// The fill ahead of the run; `null` where the plan has none.
    #[serde(default)]
    pub fill: Option<Fill>,
    /// All operation series together; steps are parts of operations and are left out.
    pub totals: Totals,
    /// The link between hammer and the target, and whether it was the limit; `null` where nobody says how fast it is.
    #[serde(default)]
    pub link: Option<LinkFigures>,
    /// By series: the operations of each workload, and the steps within them.
    pub series: Vec<Series>,
    /// What each group of users did, of the workloads whose plan has `load.groups`.
    #[serde(default)]
    pub groups: Vec<groups::WorkloadGroups>,
    /// What became of the connections to each service, by its name, over the whole run: set-up and warm-up are in these figures.
    #[serde(default)]
    pub connections: Vec<Connections>,
    /// The promise ledger.
    pub promises: Promises,
    /// The first broken promises, named; `promises.all.broken` counts them all.
    pub breaches: Vec<Breach>,
    /// The thresholds, judged.
    pub thresholds: Vec<Threshold>,
    /// The observations that the run names first, and how they went.
    #[serde(default)]
    pub headlines: Vec<HeadlineFigures>,
    /// The headline `tree_size`, when it was observed of exactly one tree.
    pub tree_size: Option<TreeSize>,
    /// What observers saw, by name.
    pub observations: Vec<ObservationSeries>,
    /// Which servers were asked once a second whether they were ready, and when they were not; empty where the plan has no
    /// `target.ready`.
    #[serde(default)]
    pub readiness: Vec<Readiness>,
    /// What the generator's own process used, since its start.
    pub resources: Resources,
    /// The requests of the run as another tool counts them; `null` where the plan has no `compat`.
    #[serde(default)]
    pub compat: Option<RequestAccounting>,
    /// What the servers of the run and their machine used; `null` where the plan has no `resources`.
    #[serde(default)]
    pub server_resources: Option<ServerResources>,
    /// When operations failed or lagged in measurement, and when they were served as before.
    #[serde(default)]
    pub disruptions: Vec<Disruption>,
    /// Times in measurement in which far more failed than over the rest of it, and a start that answered late; they decide nothing.
    #[serde(default)]
    pub bursts: Vec<Burst>,
    /// Operations that were accepted at a steady rate whatever waited, as something limits it.
    #[serde(default)]
    pub limits: Vec<RateLimit>,
    /// What happened besides the load.
    pub events: Vec<Event>,
    /// Notes, marks, breaches and changes of servers that were left out of `events`, which is bounded.
    pub events_left_out: u64,
    /// The run by interval. Long runs are thinned out: see `intervals[].merged`.
    pub intervals: Vec<Interval>,
    /// By series, in the order of `series`: response times over the run, as histograms.
    #[serde(default)]
    pub response_times: Vec<ResponseTimes>,
    /// The plan as it was run, every default written out.
    pub plan: Value,
}

/// The program that made the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `hammer`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The run as it was set up and as it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The seed, a decimal integer below 2^64; a string since many JSON readers round integers beyond 2^53.
    pub seed: String,
    /// Shards that sent.
    pub shards: u64,
    /// The wall clock at the epoch, RFC 3339 with milliseconds, UTC.
    pub epoch: String,
    /// Cores that the process may use.
    pub cores: u32,
    /// Planned length of warm-up.
    pub warm_up_ns: u64,
    /// Planned length of measurement; `null` when something else was to end it.
    pub measurement_ns: Option<u64>,
    /// The measured length: what the rates of measurement are per second of.
    pub measured_seconds: f64,
    /// Why the arrivals ended.
    pub stopped: String,
    /// Whether a signal ended it.
    pub interrupted: bool,
}

/// Counts over all operation series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// The whole run, warm-up included.
    pub all: Counts,
    /// Warm-up alone.
    pub warm_up: Counts,
    /// Measurement alone.
    pub measurement: Counts,
    /// Bytes handed to connections a second of measurement.
    #[serde(default)]
    pub bytes_out_per_s: f64,
    /// Bytes read from connections a second of measurement.
    #[serde(default)]
    pub bytes_in_per_s: f64,
}

/// A judged threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Threshold {
    /// The series it was held against (`workload/name`), or `total`.
    pub series: String,
    /// The threshold as the plan says it.
    pub threshold: String,
    /// The figure found, as printed; `none` when nothing was recorded. Of a duration that is beyond all that ended as meant, the longest of these
    /// or `never`, and how many did not: `never (5 of 5 not accepted)`, `> 76.0ms (14 of 21 not accepted)`.
    pub found: String,
    /// Whether it holds.
    pub holds: bool,
    /// Whether the run was ended because of it.
    pub aborted: bool,
    /// The unit of both values below; `null` in reports of versions that had none, as they are.
    #[serde(default)]
    pub unit: Option<ThresholdUnit>,
    /// The figure found, as a number; `null` when nothing was recorded, and of a duration that is beyond all that ended.
    #[serde(default)]
    pub found_value: Option<f64>,
    /// Whether it is such a duration, and so longer than any bound.
    #[serde(default)]
    pub found_beyond: bool,
    /// The bound, as a number.
    #[serde(default)]
    pub bound_value: Option<f64>,
}

/// The unit of what a threshold compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdUnit {
    /// Nanoseconds, of durations.
    Ns,
    /// A second, of rates.
    PerS,
    /// Parts of one, of shares: 0.001 is 0.1 %.
    Share,
    /// Whole numbers, of counts.
    Count,
}

/// What the generator's own process used, since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resources {
    /// User CPU seconds.
    pub cpu_user_s: f64,
    /// System CPU seconds.
    pub cpu_system_s: f64,
    /// CPU time, user and system, divided by operations completed; `null` when none was.
    pub cpu_ns_per_completed: Option<u64>,
    /// Resident memory at the end, bytes.
    pub rss_bytes: u64,
    /// Greatest resident memory, bytes.
    pub max_rss_bytes: u64,
    /// Open descriptors at the end.
    pub descriptors: u64,
    /// The limit of descriptors.
    pub descriptor_limit: u64,
    /// Cores that the process may use.
    pub cores: u32,
}

impl Report {
    /// Says one more thing against the run: that a report could not be written, say.
    pub fn add_reason(&mut self, reason: Reason) {
        self.verdict.add(reason);
        self.settle();
    }

    /// Says that the plan itself expected something of the run's answers, and found it.
    pub fn expect(&mut self) {
        self.verdict.expect();
        self.settle();
    }

    /// Has the flat summary say what the verdict does.
    fn settle(&mut self) {
        if let Some(summary) = &mut self.summary {
            summary.judge(&self.verdict);
        }
    }

    /// Writes it as one line of JSON, and flushes.
    ///
    /// # Errors
    /// When `writer` does.
    pub fn write(&self, writer: impl Write) -> io::Result<()> {
        let mut writer = BufWriter::new(writer);
        serde_json::to_writer(&mut writer, self)?;
        writer.write_all(b"\n")?;
        writer.flush()
    }

    /// The reverse of [`Report::write`].
    ///
    /// # Errors
    /// When the text is no report of this schema.
    pub fn parse(json: &str) -> Result<Self, ReadError> {
        let value: Value = serde_json::from_str(json)?;
        match value.get("schema").and_then(Value::as_str) {
            Some(SCHEMA) => Ok(serde_json::from_value(value)?),
            other => Err(ReadError::Schema(other.unwrap_or("none").to_owned())),
        }
    }

    /// The requests or operations of the run as `compat` counts them, by jobs.
    pub fn accounted(&self, compat: &str, jobs: &[AccountedJob]) -> RequestAccounting {
        let time = (self.phases.as_slice(), self.intervals.as_slice(), self.run.measured_seconds);
        RequestAccounting::of(compat, jobs, &self.series, time)
    }

    /// The link between hammer and its target, of such rates, over measurement.
    pub fn link_figures(&self, source: LinkSource, rates: LinkRates) -> LinkFigures {
        let carried = CarriedBytes {
            out_per_s: self.totals.bytes_out_per_s,
            in_per_s: self.totals.bytes_in_per_s,
            measured_seconds: self.run.measured_seconds,
        };
        LinkFigures::of(source, rates, carried, self.operations())
    }

    /// What contradicts itself in the figures: the identities of fates and of promises, totals, payloads, verdict.
    /// Empty for every report that a run made.
    pub fn check(&self) -> Vec<String> {
        check::problems(self)
    }

    /// The series that are whole operations.
    pub fn operations(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|series| series.kind == SeriesKind::Operation)
    }
}

/// A text that is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or a field is not what the schema says.
    #[error("read a report: {0}")]
    Json(#[from] serde_json::Error),
    /// Another schema, or another version of it.
    #[error("read a report: its schema is `{0}`, not `hammer.report/1`")]
    Schema(String),
}

impl From<&threshold::Verdict> for Threshold {
    fn from(verdict: &threshold::Verdict) -> Self {
        let numbers = verdict.numbers;
        Self {
            series: verdict.series.clone(),
            threshold: verdict.threshold.clone(),
            found: verdict.found.clone(),
            holds: verdict.holds,
            aborted: verdict.aborted,
            unit: numbers.map(|numbers| numbers.unit.into()),
            found_value: numbers.and_then(|numbers| numbers.found),
            found_beyond: numbers.is_some_and(|numbers| numbers.is_beyond),
            bound_value: numbers.map(|numbers| numbers.bound),
        }
    }
}

impl From<threshold::ThresholdUnit> for ThresholdUnit {
    fn from(unit: threshold::ThresholdUnit) -> Self {
        match unit {
            threshold::ThresholdUnit::Nanoseconds => Self::Ns,
            threshold::ThresholdUnit::PerSecond => Self::PerS,
            threshold::ThresholdUnit::Share => Self::Share,
            threshold::ThresholdUnit::Count => Self::Count,
        }
    }
}

impl Resources {
    /// What was used for `completed` operations.
    pub fn of(resources: &snapshot::Resources, completed: u64) -> Self {
        let cpu_ns = resources.cpu_seconds() * 1e9;
        Self {
            cpu_user_s: finite(resources.cpu_user),
            cpu_system_s: finite(resources.cpu_system),
            cpu_ns_per_completed: (completed > 0).then(|| (cpu_ns / completed as f64) as u64),
            rss_bytes: resources.rss_bytes,
            max_rss_bytes: resources.max_rss_bytes,
            descriptors: resources.descriptors,
            descriptor_limit: resources.descriptor_limit,
            cores: resources.cores,
        }
    }
}

#[cfg(test)]
mod tests;
