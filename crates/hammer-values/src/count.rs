//! Numbers of things of which there is at least one.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue};

/// How many there are, one at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Count(NonZeroUsize);

impl Count {
    /// One.
    pub const ONE: Self = Self(NonZeroUsize::MIN);

    /// So many, or one where that is none.
    pub const fn at_least_one(count: usize) -> Self {
        match NonZeroUsize::new(count) {
            Some(count) => Self(count),
            None => Self::ONE,
        }
    }

    /// How many.
    pub const fn get(self) -> usize {
        self.0.get()
    }
}

impl ScalarValue for Count {
    const EXPECTED: &'static str = "whole number";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let count = scalar.whole().and_then(|number| usize::try_from(number).ok());
        let count = count.ok_or_else(|| scalar.is_no::<Self>())?;
        NonZeroUsize::new(count).map(Self).ok_or_else(|| ValueError::below("1"))
    }
}

impl FromStr for Count {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

impl JsonSchema for Count {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_at_least() {
        assert_eq!(serde_json::from_str::<Count>("3").unwrap().get(), 3);
        assert_eq!("3".parse::<Count>().unwrap(), Count::at_least_one(3));
        for (json, why) in [
            ("0", "it must be 1 at least"),
            ("-1", "`-1` is no whole number"),
            ("1.5", "`1.5` is no whole number"),
            ("\"many\"", "`many` is no whole number"),
        ] {
            let error = serde_json::from_str::<Count>(json).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
