//! What runs of two or more variants say of each other. Runs are the samples, and not their requests: a thousand requests of one run share what that run
//! met with. It reads reports of hammer and what hey, oha, k6 and wrk print, and never runs anything.

mod baseline;
mod bound;
mod by_run;
mod cell;
mod claim;
mod comparison;
mod component;
mod component_tables;
mod conclusion;
mod document;
mod executive;
mod from_hey;
mod from_k6;
mod from_oha;
mod from_report;
mod from_summary;
mod from_wrk;
mod generator;
mod hop_tables;
mod hops;
mod measured_run;
mod metric;
mod number;
mod outcomes;
mod page;
mod pages;
mod ratio;
mod run_text;
mod sample;
mod series_table;
mod settings;
mod sla;
mod sweep;
mod sweep_pages;
mod variant;
mod warning;

pub use baseline::BaselineError;
pub use bound::{Bound, BoundError, FoundBound};
pub use claim::{CheckedClaim, Claim, ClaimError, Quantity, Said};
pub use comparison::{
    ComparedFigure, ComparedRatio, ComparedSeries, Comparison, ComparisonConfig, ComparisonError, Hops,
};
pub use component::{ComponentError, ComponentUse};
pub use component_tables::{ComponentFigures, LoadMemory};
pub use conclusion::Conclusion;
pub use from_hey::HeyError;
pub use from_k6::K6Error;
pub use from_oha::OhaError;
pub use from_wrk::WrkError;
pub use hops::{HopBreakdown, HopLink};
pub use measured_run::{GeneratorHealth, MeasuredRun, MeasuredSeries};
pub use metric::{Metric, UnknownMetric};
pub use number::Number;
pub use outcomes::FailedCause;
pub use page::{Bar, Block, Page};
pub use ratio::{NoRatio, RatioEstimate, runs_needed};
pub use run_text::RunReadError;
pub use sample::Sample;
pub use settings::Setting;
pub use sla::{HeldSla, MetSla, SlaBound, SlaError};
pub use sweep::{SweepComparison, SweptPoint};
pub use variant::Variant;
