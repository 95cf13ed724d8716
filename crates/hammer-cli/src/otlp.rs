//! `--otlp`: the metrics of a run, sent to a collector of OpenTelemetry beside the load.

mod collector;
mod export;
mod header_file;
mod message;
mod tally;

pub(crate) use collector::Collector;
pub(crate) use export::RunExport;
