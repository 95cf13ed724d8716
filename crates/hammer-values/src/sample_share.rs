//! How many of many are looked at.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue};
use crate::share::Share;

/// Which part of many is looked at: `all`, `none`, or a share (`0.1` or `10%`).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct SampleShare(Share);

impl Eq for SampleShare {}

impl SampleShare {
    /// All of them.
    pub const ALL: Self = Self(Share::ALL);
    /// None of them.
    pub const NONE: Self = Self(Share::NONE);

    /// So many of a hundred.
    ///
    /// # Panics
    /// Above a hundred.
    pub const fn percent(percent: u8) -> Self {
        Self(Share::percent(percent))
    }

    /// The part, where the whole is 1.
    pub const fn of_1(self) -> f64 {
        self.0.of_1()
    }
}

impl ScalarValue for SampleShare {
    const EXPECTED: &'static str = "sample (all, none, or a share like 0.1 or 10%)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        match scalar {
            Scalar::Text(text) if text.trim() == "all" => Ok(Self::ALL),
            Scalar::Text(text) if text.trim() == "none" => Ok(Self::NONE),
            scalar => Share::of_scalar(scalar).map(Self).map_err(|_| scalar.is_no::<Self>()),
        }
    }
}

impl fmt::Display for SampleShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ALL => f.write_str("all"),
            Self::NONE => f.write_str("none"),
            Self(share) => write!(f, "{share}"),
        }
    }
}

impl Serialize for SampleShare {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SampleShare {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

impl JsonSchema for SampleShare {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SampleShare".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "minimum": 0, "maximum": 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_all_or_none_or_a_share_and_prints_as_what_reads_back() {
        for (json, share) in
            [("\"all\"", 1.0), ("\"none\"", 0.0), ("0.25", 0.25), ("\"25%\"", 0.25), ("1", 1.0)]
        {
            let sample: SampleShare = serde_json::from_str(json).unwrap();
            assert_eq!(sample.of_1(), share, "{json}");
            let text = serde_json::to_string(&sample).unwrap();
            assert_eq!(serde_json::from_str::<SampleShare>(&text).unwrap(), sample);
        }
        for json in ["1.5", "\"some\"", "-1", "\"101%\""] {
            let error = serde_json::from_str::<SampleShare>(json).unwrap_err().to_string();
            assert!(error.contains("` is no sample (all, none, or a share like 0.1 or 10%)"), "{error}");
        }
        assert_eq!(SampleShare::percent(10).of_1(), 0.1);
    }
}
