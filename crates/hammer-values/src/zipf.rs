//! Exponents of Zipf distributions.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The exponent of a Zipf distribution, above 0 and up to 10: the r-th of all is drawn in proportion to r to the power of minus it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct ZipfExponent(f64);

impl ZipfExponent {
    /// The second is drawn half as often as the first.
    pub const ONE: Self = Self(1.0);

    /// As a number.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for ZipfExponent {
    type Error = String;

    fn try_from(exponent: f64) -> Result<Self, String> {
        if exponent > 0.0 && exponent <= 10.0 {
            return Ok(Self(exponent));
        }
        Err(format!("`{exponent}` is no exponent of a Zipf distribution (above 0, up to 10)"))
    }
}

impl From<ZipfExponent> for f64 {
    fn from(exponent: ZipfExponent) -> Self {
        exponent.0
    }
}

impl JsonSchema for ZipfExponent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ZipfExponent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": 10 })
    }
}
