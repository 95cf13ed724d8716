//! One run of a variant, whatever measured it.

use std::collections::BTreeMap;

use hammer_report::Report;
use hammer_report::report::ReadError;

use crate::from_hey::{self, HeyError};
use crate::from_k6::{self, K6Error};
use crate::from_oha::{self, OhaError};
use crate::from_report;
use crate::from_wrk::{self, WrkError};
use crate::metric::Metric;

/// What a run is compared by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredRun {
    /// The plan: its keys and what each says, in JSON, but for those that say whom it loads. Empty where the tool writes none down.
    pub plan: BTreeMap<String, String>,
    /// Its series.
    pub series: Vec<MeasuredSeries>,
    /// What speaks against the run itself: that its figures are not to be believed, or that it was cut off. Empty where nothing does, or the tool does not say.
    pub findings: Vec<String>,
    /// Seconds over which it measured.
    pub measured_seconds: f64,
    /// Promises of the service that were broken.
    pub broken: u64,
}

/// A series of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredSeries {
    /// `workload/name`; of a tool without series, `requests`.
    pub path: String,
    /// Whether it is one of steps within operations.
    pub is_step: bool,
    /// Whether users waited for answers before they sent again.
    pub is_closed_loop: bool,
    /// Response times that were recorded.
    pub count: u64,
    /// Operations that were to be carried out.
    pub offered: u64,
    /// How close to the truth its times can be, nanoseconds.
    pub resolution_ns: f64,
    /// How close to the truth they can be in parts of themselves.
    pub resolution: f64,
    /// Whether requests without an answer are left out of it, so that nobody knows how many there were.
    pub lacks_failures: bool,
    /// Rates a second and response times in nanoseconds; those that nothing is known of are absent, and beyond all that was measured infinite.
    pub figures: BTreeMap<Metric, f64>,
    /// Ends in any other way than accepted, by what lies behind them.
    pub failures: BTreeMap<String, u64>,
}

/// Text of which no run is read.
#[derive(Debug, thiserror::Error)]
pub enum RunReadError {
    /// JSON that is no report of hammer.
    #[error(transparent)]
    Report(#[from] ReadError),
    /// A report of a run that ended before anything was measured.
    #[error("read a report: no time was measured")]
    Unmeasured,
    /// What hey printed, of which nothing can be taken.
    #[error(transparent)]
    Hey(#[from] HeyError),
    /// What wrk printed, of which nothing can be taken.
    #[error(transparent)]
    Wrk(#[from] WrkError),
    /// What oha wrote, of which nothing can be taken.
    #[error(transparent)]
    Oha(#[from] OhaError),
    /// What k6 wrote, of which nothing can be taken.
    #[error(transparent)]
    K6(#[from] K6Error),
    /// None of them.
    #[error("it is neither a report of hammer nor what hey, oha, k6 or wrk prints")]
    Unknown,
}

impl MeasuredRun {
    /// Reads a report of hammer, what hey printed (its summary, or its CSV), what wrk or wrk2 did, or the JSON of oha or k6.
    ///
    /// # Errors
    /// Text that is none of them.
    pub fn read(text: &str) -> Result<Self, RunReadError> {
        match text.trim_start_matches('\u{feff}').trim_start() {
            json if json.starts_with('{') => match () {
                // A plan may name its series as others name their figures.
                () if json.contains(OF_HAMMER) => of_hammer(json),
                () if json.contains(from_oha::OF_OHA) => Ok(from_oha::run(json)?),
                () if json.contains(from_k6::OF_K6) => Ok(from_k6::run(json)?),
                () => of_hammer(json),
            },
            csv if csv.starts_with(from_hey::CSV_HEADER) => Ok(from_hey::csv(csv)?),
            summary if summary.starts_with("Summary:") => Ok(from_hey::summary(summary)?),
            wrk if wrk.starts_with(from_wrk::HEADER) => Ok(from_wrk::run(wrk)?),
            _ => Err(RunReadError::Unknown),
        }
    }

    /// Its series of that path.
    pub(crate) fn of_path(&self, path: &str) -> Option<&MeasuredSeries> {
        self.series.iter().find(|series| series.path == path)
    }
}

fn of_hammer(json: &str) -> Result<MeasuredRun, RunReadError> {
    from_report::run(&Report::parse(json)?).ok_or(RunReadError::Unmeasured)
}

/// How the schemas of its reports start.
const OF_HAMMER: &str = "hammer.report/";

/// Adds failures; their number is whatever a file says.
pub(crate) fn add_failures(failures: &mut BTreeMap<String, u64>, cause: String, count: u64) {
    let all = failures.entry(cause).or_default();
    *all = all.saturating_add(count);
}
