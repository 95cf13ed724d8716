//! One run of a variant, whatever measured it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::component::ComponentUse;
use crate::metric::Metric;
use crate::number::{figures, optional};

/// What a run is compared by. A baseline that was kept may lack what later versions have beside that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MeasuredRun {
    /// What measured it: `hammer`, `hey`.
    pub tool: String,
    /// The plan: its keys and what each says, in JSON, but for those that say whom it loads. Empty where the tool writes none down.
    pub plan: BTreeMap<String, String>,
    /// What it was carried out with beside the plan: the tool's version, cores, the target of the plan as JSON. Empty where the tool does not say.
    pub environment: BTreeMap<String, String>,
    /// When it started, RFC 3339 in UTC; none where the tool does not say.
    pub started: Option<String>,
    /// Its series.
    pub series: Vec<MeasuredSeries>,
    /// What speaks against the run itself: that its figures are not to be believed, or that it was cut off. Empty where nothing does, or the tool does not say.
    pub findings: Vec<String>,
    /// Seconds over which it measured.
    pub measured_seconds: f64,
    /// Promises of the service that were broken.
    pub broken: u64,
    /// What the tool says of itself; none where it says nothing.
    pub generator: Option<GeneratorHealth>,
    /// What the components of the service used, where somebody looked.
    pub components: Vec<ComponentUse>,
    /// What distinguishes a run of a sweep from all others of it but those of another round: swept keys with their values.
    pub at: BTreeMap<String, Value>,
}

/// Whether what sent the load kept its plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneratorHealth {
    /// Whether nothing speaks against its figures.
    pub healthy: bool,
    /// What does, as sentences without full stops.
    pub findings: Vec<String>,
    /// The 99th percentile of how late arrivals were released, nanoseconds: of its series the latest. None where no lateness was recorded.
    #[serde(with = "optional")]
    pub dispatch_lag_p99_ns: Option<f64>,
    /// Operations that were due and not prepared; none where it does not say.
    pub starved: Option<u64>,
    /// Operations that found the backlog full; none where it does not say.
    pub shed: Option<u64>,
}

/// A series of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MeasuredSeries {
    /// `workload/name`; of a tool without series, `requests`.
    pub path: String,
    /// Whether it is one of steps within operations.
    pub is_step: bool,
    /// Whether it is all operations of its run together.
    pub is_total: bool,
    /// Whether users waited for answers before they sent again.
    pub is_closed_loop: bool,
    /// Whether it is of what is wrong on purpose, of which nothing need be accepted.
    pub refusals_meant: bool,
    /// Response times that were recorded.
    pub count: u64,
    /// Operations that were to be carried out.
    pub offered: u64,
    /// Those of them that were accepted.
    pub accepted: u64,
    /// Failures a second of measurement; none where nobody knows.
    pub failed_per_s: Option<f64>,
    /// How close to the truth its times can be, nanoseconds.
    pub resolution_ns: f64,
    /// How close to the truth they can be in parts of themselves.
    pub resolution: f64,
    /// Whether requests without an answer are left out of it, so that nobody knows how many there were.
    pub lacks_failures: bool,
    /// Rates a second and response times in nanoseconds; those that nothing is known of are absent, and beyond all that was measured infinite.
    #[serde(with = "figures")]
    pub figures: BTreeMap<Metric, f64>,
    /// Ends in any other way than accepted, by what lies behind them.
    pub failures: BTreeMap<String, u64>,
}

impl MeasuredRun {
    /// That of a tool whose requests are one series.
    pub(crate) fn of_requests(tool: &'static str, measured_seconds: f64, requests: MeasuredSeries) -> Self {
        let failed = requests.failures.values().copied().fold(0, u64::saturating_add);
        let accepted = requests.offered.saturating_sub(failed);
        let failed_per_s = (measured_seconds > 0.0).then(|| failed as f64 / measured_seconds);
        let requests = MeasuredSeries { path: "requests".to_owned(), accepted, failed_per_s, ..requests };
        let series = vec![requests.or_outage()];
        Self { tool: tool.to_owned(), series, measured_seconds, ..Self::default() }
    }

    /// Whether operations were offered that should be accepted, and none was.
    pub(crate) fn is_outage(&self) -> bool {
        let own = || self.series.iter().filter(|series| series.is_operation() && !series.refusals_meant);
        let sum = |of: fn(&MeasuredSeries) -> u64| own().map(of).fold(0, u64::saturating_add);
        sum(|series| series.offered) > 0 && sum(|series| series.accepted) == 0
    }

    /// Its series of that path.
    pub(crate) fn of_path(&self, path: &str) -> Option<&MeasuredSeries> {
        self.series.iter().find(|series| series.path == path)
    }
}

impl MeasuredSeries {
    /// The share of what was offered that was accepted; none where nothing was offered.
    pub(crate) fn success(&self) -> Option<f64> {
        (self.offered > 0).then(|| self.accepted as f64 / self.offered as f64)
    }

    /// Whether it is of whole operations of one kind: neither a step of them nor all kinds together.
    pub(crate) const fn is_operation(&self) -> bool {
        !self.is_step && !self.is_total
    }

    /// The same, but that where nothing was accepted every time is beyond what was measured: how fast a port refuses says nothing of a service. Not so of what is
    /// wrong on purpose.
    pub(crate) fn or_outage(mut self) -> Self {
        if !self.refusals_meant
            && self.offered > 0
            && self.figures.get(&Metric::Rate).is_none_or(|rate| *rate <= 0.0)
        {
            self.figures = Metric::ALL.into_iter().map(|metric| (metric, f64::INFINITY)).collect();
            self.figures.insert(Metric::Rate, 0.0);
        }
        self
    }
}

/// Whether a time, in seconds or below, or a rate can have been measured: a number from 0 on, and no thousand years.
pub(crate) fn is_measured(figure: f64) -> bool {
    (0.0..MOST_SECONDS).contains(&figure)
}

/// Beyond that no run lasts.
const MOST_SECONDS: f64 = 3e10;

/// How many were to be carried out, where so many were accepted and all others failed.
pub(crate) fn offered(accepted: u64, failures: &BTreeMap<String, u64>) -> u64 {
    failures.values().fold(accepted, |all, failed| all.saturating_add(*failed))
}

/// Adds failures; their number is whatever a file says.
pub(crate) fn add_failures(failures: &mut BTreeMap<String, u64>, cause: String, count: u64) {
    let all = failures.entry(cause).or_default();
    *all = all.saturating_add(count);
}
