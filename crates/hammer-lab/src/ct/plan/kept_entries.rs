//! How many entries a log in memory keeps.

use hammer_values::ValueError;
use serde::{Deserialize, Serialize};

/// A number of the newest entries, 1,024 at least: a few bundles, so that readers who are not far behind find what they ask
/// for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct KeptEntries(u64);

impl KeptEntries {
    /// The fewest.
    pub const LEAST: Self = Self(1_024);
}

impl TryFrom<u64> for KeptEntries {
    type Error = ValueError;

    fn try_from(entries: u64) -> Result<Self, ValueError> {
        match entries < Self::LEAST.0 {
            true => Err(ValueError::below(Self::LEAST.0.to_string())),
            false => Ok(Self(entries)),
        }
    }
}

impl From<KeptEntries> for u64 {
    fn from(kept: KeptEntries) -> Self {
        kept.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_a_few_bundles_at_least() {
        assert_eq!(serde_json::from_str::<KeptEntries>("1024").unwrap(), KeptEntries::LEAST);
        let error = serde_json::from_str::<KeptEntries>("1023").unwrap_err().to_string();
        assert!(error.starts_with("it must be 1024 at least"), "{error}");
    }
}
