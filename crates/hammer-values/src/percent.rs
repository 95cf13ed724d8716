//! Percentages.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue};

/// So many of a hundred, 0 to 100, with a fraction or without: `5`, `2.5` or `2.5%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Percent(f64);

/// So many of a hundred, 0 to 100, without a fraction: `30` or `30%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct WholePercent(u8);

impl Percent {
    /// None of a hundred.
    pub const ZERO: Self = Self(0.0);

    /// How many of a hundred.
    pub const fn of_100(self) -> f64 {
        self.0
    }

    /// Whether it is more than none.
    pub fn is_any(self) -> bool {
        self.0 > 0.0
    }
}

impl WholePercent {
    /// None of a hundred.
    pub const ZERO: Self = Self(0);

    /// How many of a hundred.
    pub const fn of_100(self) -> u8 {
        self.0
    }
}

impl ScalarValue for Percent {
    const EXPECTED: &'static str = "percentage (0 to 100, like 5, 2.5 or 2.5%)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let percent = percent(scalar).filter(|percent| (0.0..=100.0).contains(percent));
        percent.map(Self).ok_or_else(|| scalar.is_no::<Self>())
    }
}

impl ScalarValue for WholePercent {
    const EXPECTED: &'static str = "whole percentage (0 to 100, like 30 or 30%)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let percent = percent(scalar).filter(|percent| (0.0..=100.0).contains(percent));
        let percent = percent.filter(|percent| percent.fract() == 0.0);
        percent.map(|percent| Self(percent as u8)).ok_or_else(|| scalar.is_no::<Self>())
    }
}

fn percent(scalar: Scalar<'_>) -> Option<f64> {
    match scalar {
        Scalar::Text(text) => scalar::decimal(text.trim().trim_end_matches('%').trim()),
        // The sum has no sign where both are 0.
        number => number.number().map(|percent| percent + 0.0),
    }
}

impl TryFrom<f64> for Percent {
    type Error = ValueError;

    fn try_from(percent: f64) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Decimal(percent))
    }
}

impl TryFrom<u8> for WholePercent {
    type Error = ValueError;

    fn try_from(percent: u8) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Whole(percent.into()))
    }
}

impl FromStr for Percent {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

impl FromStr for WholePercent {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl fmt::Display for WholePercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

impl<'de> Deserialize<'de> for WholePercent {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

impl JsonSchema for Percent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Percent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "minimum": 0, "maximum": 100 })
    }
}

impl JsonSchema for WholePercent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "WholePercent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "minimum": 0, "maximum": 100 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_a_bare_number_or_has_its_sign() {
        for (json, percent) in
            [("5", 5.0), ("2.5", 2.5), ("\"2.5%\"", 2.5), ("\"100 %\"", 100.0), ("0", 0.0), ("-0.0", 0.0)]
        {
            let read: Percent = serde_json::from_str(json).unwrap();
            assert_eq!(read.of_100(), percent, "{json}");
            assert_eq!(read.to_string().parse::<Percent>().unwrap(), read);
            assert_eq!(
                serde_json::from_str::<Percent>(&serde_json::to_string(&read).unwrap()).unwrap(),
                read
            );
        }
        for (json, percent) in [("30", 30), ("\"30%\"", 30), ("100.0", 100)] {
            assert_eq!(serde_json::from_str::<WholePercent>(json).unwrap().of_100(), percent, "{json}");
        }
        assert_eq!(serde_json::to_string(&WholePercent(30)).unwrap(), "30");
    }

    #[test]
    fn what_is_not_between_0_and_100_is_no_percentage() {
        for json in ["101", "-0.1", "100.1", "\"-1%\"", "\"much\"", "\"\""] {
            let error = serde_json::from_str::<Percent>(json).unwrap_err().to_string();
            assert!(error.contains("` is no percentage (0 to 100, like 5, 2.5 or 2.5%)"), "{error}");
        }
        for json in ["101", "-1", "2.5", "\"2.5%\""] {
            let error = serde_json::from_str::<WholePercent>(json).unwrap_err().to_string();
            assert!(error.contains("` is no whole percentage (0 to 100, like 30 or 30%)"), "{error}");
        }
        assert!(Percent::try_from(f64::NAN).is_err() && Percent::try_from(f64::INFINITY).is_err());
    }
}
