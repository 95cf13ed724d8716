//! Reads in a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CtError;

/// Reads of a log in a plan file: tree heads, and tiles or entries of the tree that the last one covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadPlan {
    /// How many of 100 reads are of the checkpoint (static-ct) or of `get-sth` (rfc6962); the others are of hash tiles of
    /// level 0, or of `get-entries`.
    pub tree_head_percent: u8,
    /// How many entries one `get-entries` asks for; the log may answer with fewer (rfc6962 only).
    pub entries: u64,
    /// The name of the log that is read; all in turn without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

impl Default for ReadPlan {
    fn default() -> Self {
        Self { tree_head_percent: 20, entries: 32, log: None }
    }
}

impl ReadPlan {
    pub(crate) fn check(&self) -> Result<(), CtError> {
        let refused =
            |key, value: u64, expected| Err(CtError::Value { key, value: value.to_string(), expected });
        if self.tree_head_percent > 100 {
            return refused("tree_head_percent", self.tree_head_percent.into(), "0 to 100");
        }
        if self.entries == 0 {
            return refused("entries", 0, "1 or more");
        }
        Ok(())
    }
}
