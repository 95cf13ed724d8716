//! Text that some tool left behind, read as a run.

use hammer_report::Report;
use hammer_report::report::ReadError;

use crate::from_hey::{self, HeyError};
use crate::from_k6::{self, K6Error};
use crate::from_oha::{self, OhaError};
use crate::from_report;
use crate::from_wrk::{self, WrkError};
use crate::measured_run::MeasuredRun;

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
    #[error(
        "it is neither a report of hammer nor what hey, oha (--output-format json), k6 (--summary-export) or wrk prints"
    )]
    Unknown,
}

impl MeasuredRun {
    /// Reads a report of hammer, what hey printed (its summary, or its CSV), what wrk or wrk2 did, or the JSON of oha or k6.
    ///
    /// # Errors
    /// Text that is none of them.
    pub fn read(text: &str) -> Result<Self, RunReadError> {
        // Lines are numbered as they are in the file, whatever it starts with.
        match text.trim_start_matches('\u{feff}').trim_start() {
            json if json.starts_with('{') => match () {
                // A plan may name its series as others name their figures.
                () if json.contains(OF_HAMMER) => of_hammer(json),
                () if json.contains(from_oha::OF_OHA) => Ok(from_oha::run(json)?),
                () if json.contains(from_k6::OF_K6) => Ok(from_k6::run(json)?),
                () => of_hammer(json),
            },
            csv if csv.starts_with(from_hey::CSV_HEADER) => Ok(from_hey::csv(csv)?),
            summary if summary.starts_with("Summary:") => Ok(from_hey::summary(text)?),
            wrk if wrk.starts_with(from_wrk::HEADER) => Ok(from_wrk::run(text)?),
            _ => Err(RunReadError::Unknown),
        }
    }
}

fn of_hammer(json: &str) -> Result<MeasuredRun, RunReadError> {
    from_report::run(&Report::parse(json)?).ok_or(RunReadError::Unmeasured)
}

/// How the schemas of its reports start.
const OF_HAMMER: &str = "hammer.report/";
