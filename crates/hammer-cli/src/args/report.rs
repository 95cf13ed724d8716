//! Arguments of `hammer report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hammer_values::TimeSpan;

/// A report, and what it is printed as.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// What --out wrote, of one run or of several
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// The form of what is printed
    #[arg(long = "as", value_enum, default_value_t = ReportForm::Text, value_name = "FORM")]
    pub(crate) form: ReportForm,
    /// Print all of the text (every wait, bytes, all events) instead of one screen of it
    #[arg(long, conflicts_with = "html")]
    pub(crate) detail: bool,
    /// Write one page of HTML with charts to a file, which needs no network, instead of printing
    #[arg(long, value_name = "FILE", conflicts_with = "form")]
    pub(crate) html: Option<PathBuf>,
    /// The interval log that the run wrote (--hlog of a run): charts of the page have its response times, interval by interval
    #[arg(long, value_name = "FILE", requires = "html")]
    pub(crate) hlog: Option<PathBuf>,
    /// Charts of the page start so long after the run's start (like 10m)
    #[arg(long, value_name = "TIME", requires = "html")]
    pub(crate) from: Option<TimeSpan>,
    /// Charts of the page end so long after the run's start (like 12m30s)
    #[arg(long, value_name = "TIME", requires = "html")]
    pub(crate) to: Option<TimeSpan>,
    /// The series whose response times `--as hgrm` prints (WORKLOAD/NAME); by default the only one of operations
    #[arg(long, value_name = "SERIES")]
    pub(crate) series: Option<String>,
}

/// What a report is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportForm {
    /// The text that the run ended with
    Text,
    /// Markdown with tables: verdict and health, series, what was not accepted, promises, thresholds; of several runs what their text has
    Markdown,
    /// JUnit's XML: the verdict, thresholds and promises as test cases
    Junit,
    /// A flat table (RFC 4180): a row for each series and phase; of several runs one for each run and series, with what was swept
    Csv,
    /// The same bytes as PREFIX_stats.csv of --csv
    LocustCsv,
    /// The response times of a series over measurement as HdrHistogram's percentile distribution, in milliseconds
    Hgrm,
    /// Response times by stretches of the run as HdrHistogram's interval log, whose values are nanoseconds
    Hlog,
    /// The counts of the run as a page of metrics in Prometheus's text format, as --metrics serves it at the end
    Prom,
}
