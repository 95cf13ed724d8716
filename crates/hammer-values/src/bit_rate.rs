//! Rates of links.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue, times, with_unit};

/// So many bits a second, as links are sold: `6mbit`, `512kbit`, `1.5gbit`, `9600bit`; the units are decimal. One bit a second at least, and
/// 1,000 gbit at most. A bare number is none, since it could be bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct BitRate(u64);

impl BitRate {
    /// The nearest to so many bits a second that is one.
    pub fn nearest(bits_per_s: f64) -> Self {
        Self((bits_per_s.round() as u64).clamp(1, MOST.0))
    }

    /// Bits a second.
    pub const fn bits_per_s(self) -> u64 {
        self.0
    }

    /// How long so many bytes take alone, rounded up to a nanosecond.
    pub fn time_of(self, bytes: u64) -> Duration {
        let nanos = (u128::from(bytes) * 8 * 1_000_000_000).div_ceil(self.0.into());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl ScalarValue for BitRate {
    const EXPECTED: &'static str = "rate of a link (like 6mbit, 512kbit, 1.5gbit)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let Scalar::Text(text) = scalar else { return Err(scalar.is_no::<Self>()) };
        match bits(text.trim()).ok_or_else(|| scalar.is_no::<Self>())? {
            0 => Err(ValueError::below(Self(1).to_string())),
            bits => match u64::try_from(bits).map(Self) {
                Ok(rate) if rate <= MOST => Ok(rate),
                _ => Err(ValueError::above(MOST.to_string())),
            },
        }
    }
}

fn bits(text: &str) -> Option<u128> {
    let (number, unit) = with_unit(text);
    let bits = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    times(number, bits)
}

impl FromStr for BitRate {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

/// In the largest unit that there are whole ones of.
impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().find(|(_, unit)| self.0.is_multiple_of(*unit));
        let (name, unit) = whole.unwrap_or(&UNITS[3]);
        write!(f, "{}{name}", self.0 / unit)
    }
}

impl Serialize for BitRate {
    fn serialize<S: Serializer>(&self, plan: S) -> Result<S::Ok, S::Error> {
        plan.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BitRate {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

const UNITS: [(&str, u64); 4] = [("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];
/// Beyond every link that one host has.
const MOST: BitRate = BitRate(1_000_000_000_000);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rates_of_links_have_decimal_units_and_print_in_the_largest_that_is_whole() {
        for (text, bits, printed) in [
            ("6mbit", 6_000_000, "6mbit"),
            ("50 mbit", 50_000_000, "50mbit"),
            ("1.5gbit", 1_500_000_000, "1500mbit"),
            ("1000kbit", 1_000_000, "1mbit"),
            ("56.6kbit", 56_600, "56600bit"),
            ("9600bit", 9_600, "9600bit"),
            ("1000gbit", 1_000_000_000_000, "1000gbit"),
        ] {
            let rate: BitRate = text.parse().unwrap();
            assert_eq!((rate.bits_per_s(), rate.to_string().as_str()), (bits, printed), "{text}");
        }
    }

    #[test]
    fn what_could_be_bytes_or_has_no_end_is_no_rate_of_a_link() {
        for json in ["6", "\"6\"", "\"6MB\"", "\"6Mbit\"", "\"mbit\"", "\"-1mbit\"", "1.5", "\"1e3kbit\""] {
            let error = serde_json::from_str::<BitRate>(json).unwrap_err().to_string();
            let text = json.trim_matches('"');
            let expected = format!("`{text}` is no rate of a link (like 6mbit, 512kbit, 1.5gbit)");
            assert!(error.starts_with(&expected), "{error}");
        }
        let error = |text: &str| text.parse::<BitRate>().unwrap_err().to_string();
        assert_eq!(error("0mbit"), "it must be 1bit at least");
        assert_eq!(error("1001gbit"), "it must be 1000gbit at most");
    }

    #[test]
    fn bytes_take_their_bits_at_the_rate() {
        let rate: BitRate = "6mbit".parse().unwrap();
        assert_eq!(rate.time_of(750_000), Duration::from_secs(1));
        assert_eq!(rate.time_of(0), Duration::ZERO);
        assert_eq!(BitRate(3).time_of(1), Duration::from_nanos(2_666_666_667));
        assert_eq!(BitRate(1).time_of(u64::MAX), Duration::from_nanos(u64::MAX));
    }

    proptest! {
        #[test]
        fn every_rate_of_a_link_reads_back(bits in 1_u64..=MOST.0) {
            let rate = BitRate::nearest(bits as f64);
            prop_assert_eq!(rate.to_string().parse::<BitRate>().unwrap(), rate);
        }
    }
}
