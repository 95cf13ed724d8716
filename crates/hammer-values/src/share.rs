//! Shares of a whole.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue};

/// A part of a whole, 0 to 1: `0.01` or `1%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Share(f64);

impl Share {
    /// Nothing.
    pub const NONE: Self = Self(0.0);
    /// The whole.
    pub const ALL: Self = Self(1.0);

    /// So many of a hundred.
    ///
    /// # Panics
    /// Above a hundred.
    pub const fn percent(percent: u8) -> Self {
        assert!(percent <= 100, "a share is 1 at most");
        Self(percent as f64 / 100.0)
    }

    /// The part, where the whole is 1.
    pub const fn of_1(self) -> f64 {
        self.0
    }
}

impl ScalarValue for Share {
    const EXPECTED: &'static str = "share (0 to 1, like 0.01 or 1%)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let of_100 = match scalar {
            Scalar::Text(text) => text.trim().strip_suffix('%'),
            _ => None,
        };
        let share = match of_100 {
            Some(percent) => scalar::decimal(percent.trim()).map(|percent| percent / 100.0),
            None => scalar.number(),
        };
        let share = share.filter(|share| (0.0..=1.0).contains(share));
        // The sum has no sign where both are 0.
        share.map(|share| Self(share + 0.0)).ok_or_else(|| scalar.is_no::<Self>())
    }
}

impl TryFrom<f64> for Share {
    type Error = ValueError;

    fn try_from(share: f64) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Decimal(share))
    }
}

impl FromStr for Share {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

impl JsonSchema for Share {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "minimum": 0, "maximum": 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_number_up_to_1_or_a_percentage() {
        for (json, share) in [("0.25", 0.25), ("1", 1.0), ("\"25%\"", 0.25), ("\"0.5\"", 0.5), ("0", 0.0)] {
            assert_eq!(serde_json::from_str::<Share>(json).unwrap().of_1(), share, "{json}");
        }
        for json in ["1.5", "-0.1", "\"150%\"", "\"half\"", "25"] {
            let error = serde_json::from_str::<Share>(json).unwrap_err().to_string();
            assert!(error.contains("` is no share (0 to 1, like 0.01 or 1%)"), "{error}");
        }
    }
}
