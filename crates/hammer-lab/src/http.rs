//! Plain targets: one that answers with so many bytes, and one that records what it is sent.

mod plain;
mod recording;

pub use plain::{HttpLab, HttpLabHandle, HttpLabPlan};
pub use recording::{Recorded, RecordingLab, RecordingLabHandle, RecordingLabPlan};
