//! Rates.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue, decimal};

/// Something so often in a span of time: `500/s`, `30/min`, `10/h`; 100 million a second at most.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, JsonSchema)]
#[schemars(with = "String")]
pub struct Rate {
    per_second: f64,
}

impl Rate {
    /// How often in a second.
    pub const fn per_second(self) -> f64 {
        self.per_second
    }
}

impl ScalarValue for Rate {
    const EXPECTED: &'static str = "rate (like 500/s, 30/min, 10/h)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let Scalar::Text(text) = scalar else { return Err(scalar.is_no::<Self>()) };
        let per_second = per_second(text).ok_or_else(|| scalar.is_no::<Self>())?;
        match per_second > MOST.per_second {
            true => Err(ValueError::above(MOST.to_string())),
            false => Ok(Self { per_second }),
        }
    }
}

fn per_second(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once('/')?;
    let seconds = match unit.trim() {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Some(decimal(number.trim())? / seconds)
}

impl FromStr for Rate {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.per_second)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, plan: S) -> Result<S::Ok, S::Error> {
        plan.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

/// Far beyond what any generator offers; above it instants would lose their meaning.
const MOST: Rate = Rate { per_second: 100_000_000.0 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_units_and_print_by_the_second() {
        for (text, per_second, printed) in [
            ("500/s", 500.0, "500/s"),
            ("30/m", 0.5, "0.5/s"),
            ("30/min", 0.5, "0.5/s"),
            ("0.25 / s", 0.25, "0.25/s"),
            ("7200/h", 2.0, "2/s"),
            ("86400/d", 1.0, "1/s"),
            ("0/s", 0.0, "0/s"),
        ] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!((rate.per_second(), rate.to_string().as_str()), (per_second, printed), "{text}");
            assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate);
        }
    }

    #[test]
    fn what_has_no_unit_or_no_end_is_no_rate() {
        for text in ["500", "500/y", "/s", "-1/s", "inf/s", "5qps", "1e3/s"] {
            let error = text.parse::<Rate>().unwrap_err();
            assert_eq!(error.to_string(), format!("`{text}` is no rate (like 500/s, 30/min, 10/h)"));
        }
        let error = "100000001/s".parse::<Rate>().unwrap_err();
        assert_eq!(error.to_string(), "it must be 100000000/s at most");
    }
}
