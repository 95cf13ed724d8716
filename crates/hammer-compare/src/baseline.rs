//! A variant that is kept in a file, so that runs of another day are compared with it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::measured_run::MeasuredRun;
use crate::variant::Variant;

/// What the file of a baseline holds.
#[derive(Serialize, Deserialize)]
struct BaselineModel {
    schema: String,
    #[serde(flatten)]
    variant: Variant,
}

/// Text that is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// It is no JSON, or a key is not what it should be.
    #[error("read a baseline: {0}")]
    Json(#[from] serde_json::Error),
    /// It is something else, or a baseline of another version.
    #[error("read a baseline: its schema is `{0}`, not `{BASELINE}`")]
    Schema(String),
    /// It has no run.
    #[error("read a baseline: it has no run")]
    Empty,
    /// Whatever comes later is faster than a run in which nothing was accepted, and no gate would ever fail.
    #[error("keep a baseline: in run {0} nothing was accepted, and beside an outage everything is better")]
    Outage(usize),
}

impl Variant {
    /// The variant with its runs as JSON, which [`Variant::from_baseline`] reads.
    ///
    /// # Errors
    /// Runs that nothing should be held against.
    pub fn to_baseline(&self) -> Result<String, BaselineError> {
        if let Some(place) = self.runs.iter().position(MeasuredRun::is_outage) {
            return Err(BaselineError::Outage(place + 1));
        }
        let model = BaselineModel { schema: BASELINE.to_owned(), variant: self.clone() };
        Ok(format!("{}\n", serde_json::to_string(&model)?))
    }

    /// The variant that was kept as JSON.
    ///
    /// # Errors
    /// Text that is no baseline.
    pub fn from_baseline(text: &str) -> Result<Self, BaselineError> {
        let value: Value = serde_json::from_str(text)?;
        match value.get("schema").and_then(Value::as_str) {
            Some(BASELINE) => {}
            other => return Err(BaselineError::Schema(other.unwrap_or("none").to_owned())),
        }
        let BaselineModel { variant, .. } = serde_json::from_value(value)?;
        if variant.runs.is_empty() { Err(BaselineError::Empty) } else { Ok(variant) }
    }
}

/// The version of its form.
const BASELINE: &str = "hammer.baseline/1";
