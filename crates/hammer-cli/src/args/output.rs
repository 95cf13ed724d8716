//! Where a run leaves what it says.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, value_parser};
use hammer_measure::SampleSizes;
use hammer_values::TimeSpan;

use super::address::listen_address;
use super::otlp::OtlpArgs;

/// Where the report goes.
#[derive(Clone, Debug, Args, Default)]
pub(crate) struct OutputArgs {
    /// Write the JSON report to a file, or to standard output with `-` (the text then goes to standard error)
    #[arg(long, value_name = "FILE|-", value_parser = report_path)]
    pub(crate) out: Option<PathBuf>,
    /// Stream events and intervals to a file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Stream single operations to a file, one JSON object a line: the slowest of each interval and series, and a uniform sample of all
    #[arg(long, value_name = "FILE")]
    pub(crate) samples: Option<PathBuf>,
    /// How many of the slowest operations it has of each series, interval and phase; 3 by default
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1000))]
    pub(crate) samples_slowest: Option<u16>,
    /// How many operations the uniform sample has; 10 by default
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1000))]
    pub(crate) samples_uniform: Option<u16>,
    /// Write PREFIX_stats.csv, PREFIX_stats_history.csv and PREFIX_failures.csv, in the columns of Locust
    #[arg(long, value_name = "PREFIX")]
    pub(crate) csv: Option<PathBuf>,
    /// Stream response times as HdrHistogram's interval log (.hlog): a histogram for each interval and series
    #[arg(long, value_name = "FILE")]
    pub(crate) hlog: Option<PathBuf>,
    /// Write the report as one page of HTML with charts, which needs no network; of several runs of all of them, and beside it one each, numbered
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Serve the run's metrics for Prometheus at http://ADDRESS/metrics while it lasts; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Keep serving them after the end until they were read once more, so long at most
    #[arg(long, value_name = "TIME", requires = "metrics")]
    pub(crate) metrics_linger: Option<TimeSpan>,
    /// Serve the charts of the report at http://ADDRESS/ while the run lasts, to look at; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) web: Option<SocketAddr>,
    /// Have that page take commands (`hammer ctl`) from whoever has its token: pause, rate, in-flight, stop, mark
    #[arg(long, requires = "web")]
    pub(crate) control: bool,
    /// The token that commands need, and whoever looks on where ADDRESS is not a loopback: read from this file, or made and written there; by
    /// default a new one, which is gone with the run
    #[arg(long, value_name = "FILE", requires = "web")]
    pub(crate) web_token: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) otlp: OtlpArgs,
    /// Tell what is found against hammer's own health, its lateness above all, and exit as if it were not found (health.on_fail: warn)
    #[arg(long)]
    pub(crate) tolerate_lag: bool,
    /// Print all of the report (every wait, bytes, all events) instead of one screen of it
    #[arg(long)]
    pub(crate) detail: bool,
    /// Do not show progress on a terminal
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Show a dashboard instead of progress; its keys change the load (`?` lists them)
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) tui: bool,
    /// Draw the dashboard without colour, as NO_COLOR does
    #[arg(long, requires = "tui")]
    pub(crate) no_color: bool,
}

impl OutputArgs {
    /// How many operations are kept one by one.
    pub(crate) fn sample_sizes(&self) -> SampleSizes {
        let size = |given: Option<u16>, otherwise: u16| usize::from(given.unwrap_or(otherwise));
        SampleSizes {
            slowest: size(self.samples_slowest, SLOWEST),
            uniform: size(self.samples_uniform, UNIFORM),
        }
    }
}

/// A file for the report; what k6 takes there is a form and a file.
fn report_path(text: &str) -> Result<PathBuf, String> {
    match ["json=", "csv="].into_iter().find_map(|form| text.strip_prefix(form)) {
        Some(file) => Err(format!("a file is wanted, without its form before it: --out {file}")),
        None => Ok(text.into()),
    }
}

/// Of the slowest operations, unless a flag says otherwise.
const SLOWEST: u16 = 3;
/// Of the uniform sample, likewise.
const UNIFORM: u16 = 10;
