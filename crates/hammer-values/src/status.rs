//! Statuses of HTTP.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue};

/// A status of HTTP (RFC 9110 section 15) from `LEAST` to `MOST`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Status<const LEAST: u16, const MOST: u16>(u16);

impl<const LEAST: u16, const MOST: u16> Status<LEAST, MOST> {
    /// The status of that number, or the nearest one that it may be.
    pub const fn nearest(code: u16) -> Self {
        match code {
            code if code < LEAST => Self(LEAST),
            code if code > MOST => Self(MOST),
            code => Self(code),
        }
    }

    /// Its number.
    pub const fn code(self) -> u16 {
        self.0
    }
}

impl<const LEAST: u16, const MOST: u16> ScalarValue for Status<LEAST, MOST> {
    const EXPECTED: &'static str = "status (a whole number, like 200)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        match scalar.whole().ok_or_else(|| scalar.is_no::<Self>())? {
            code if code < LEAST.into() => Err(ValueError::below(LEAST.to_string())),
            code if code > MOST.into() => Err(ValueError::above(MOST.to_string())),
            code => Ok(Self(code as u16)),
        }
    }
}

impl<const LEAST: u16, const MOST: u16> fmt::Display for Status<LEAST, MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl<'de, const LEAST: u16, const MOST: u16> Deserialize<'de> for Status<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

impl<const LEAST: u16, const MOST: u16> JsonSchema for Status<LEAST, MOST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Status".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": LEAST, "maximum": MOST })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_lies_in_its_range() {
        type Refusing = Status<400, 599>;
        for code in [400, 429, 599] {
            let status: Refusing = serde_json::from_str(&code.to_string()).unwrap();
            assert_eq!((status.code(), serde_json::to_string(&status).unwrap()), (code, code.to_string()));
        }
        assert_eq!([399, 429, 600].map(|code| Refusing::nearest(code).code()), [400, 429, 599]);
        for (json, why) in [
            ("399", "it must be 400 at least"),
            ("600", "it must be 599 at most"),
            ("99999", "it must be 599 at most"),
            ("-1", "`-1` is no status"),
            ("\"gone\"", "`gone` is no status"),
        ] {
            let error = serde_json::from_str::<Refusing>(json).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
