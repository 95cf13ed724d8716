//! Embedded targets that really do the work, with scripted faults: a Certificate Transparency log with a real
//! Merkle tree that validates chains from bytes alone, a plain HTTP target and a recording one. The default targets
//! of the tool, and what its tests run against. It never measures, never follows a plan, and shares no validation
//! code with the crate that mints what it is sent; apart from `clock` it never reads the time.

pub mod clock;
pub mod ct;
pub mod date;
pub mod error;
pub mod fault;
pub mod handle;
pub mod http;
pub mod http_get;
pub mod jws;
pub mod lie_rule;
pub mod serve;
pub mod stats;
mod throwaway;
pub mod token_endpoint;
mod told_lie;

pub use clock::{Clock, ManualClock, SystemClock};
pub use ct::{
    CtLabHandle, CtLabPlan, Lie, LogConfig,
    recording::{RecordingLabHandle, RecordingLabPlan},
};
pub use error::LabError;
pub use fault::FaultScript;
pub use handle::LabHandle;
pub use http::{HttpLabHandle, HttpLabPlan};
pub use stats::{LabStats, RequestCounts};
pub use throwaway::ThrowawaySigner;
pub use told_lie::{LieKind, ToldLie};
