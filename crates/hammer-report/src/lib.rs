//! What a run says while it runs and afterwards: the JSON report (the public schema), the text made from it, the
//! stream of events, single operations, Locust's CSV files, Markdown, a flat table of comma-separated values, JUnit's XML, HdrHistogram's curves and interval logs, pages of metrics, the progress line, and the summary of several runs. It opens no file, prints nothing itself,
//! and never asks the run for anything: reporters are sinks that write to what they were given.

pub mod builder;
mod csv_row;
pub mod events;
pub mod exit;
pub mod flat_csv;
mod flattening;
pub mod hgrm;
pub mod hlog;
pub mod junit;
pub mod locust;
pub mod markdown;
pub mod metrics;
pub mod progress;
pub mod report;
pub mod samples;
pub mod summary;
pub mod text;
pub mod verdict;
pub mod window;

#[cfg(test)]
mod fixture;

pub use builder::standing::StandingSoFar;
pub use builder::{BuildError, ReportBuilder, rfc3339};
pub use events::EventsWriter;
pub use exit::ExitCode;
pub use hlog::HlogWriter;
pub use hlog::logged_times::{LogFault, LoggedTimes, LoggedTimesError};
pub use locust::{LocustCsv, LocustWriters};
pub use report::Report;
pub use samples::SamplesWriter;
pub use summary::Summary;
pub use verdict::{Reason, ReasonKind, Standing, Verdict};
pub use window::{Window, WindowError};
