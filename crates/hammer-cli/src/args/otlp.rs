//! Where a run's metrics are sent.

use std::path::PathBuf;

use clap::Args;
use hammer_values::TimeSpan;

/// A collector of OpenTelemetry, and how it is reached.
#[derive(Clone, Debug, Args, Default)]
pub(crate) struct OtlpArgs {
    /// Send the run's metrics to a collector of OpenTelemetry (OTLP over HTTP) while it lasts and at its end; to /v1/metrics unless the URL has a path
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// How often they are sent while it lasts; 10s by default
    #[arg(long, value_name = "TIME", requires = "otlp")]
    pub(crate) otlp_interval: Option<TimeSpan>,
    /// Send the headers in a file with them, "Name: value" a line, which no output shows
    #[arg(long, value_name = "FILE", requires = "otlp")]
    pub(crate) otlp_header_file: Option<PathBuf>,
    /// PEM file of further roots that are trusted where the collector is reached by https
    #[arg(long, value_name = "FILE", requires = "otlp")]
    pub(crate) otlp_cacert: Option<PathBuf>,
}
