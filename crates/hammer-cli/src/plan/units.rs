//! Times and rates as a plan writes them.

use std::fmt;
use std::str::FromStr;

use hammer_measure::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A span of time: `250ms`, `5s`, `1m30s`, `12h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(crate) struct Span(pub(crate) Nanos);

/// A rate: `500/s`, `30/m`, `10/h`.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(with = "String")]
pub(crate) struct Rate {
    /// Arrivals a second.
    pub(crate) per_second: f64,
}

/// Text that is no such thing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {what}")]
pub(crate) struct UnitError {
    text: String,
    what: &'static str,
}

impl Span {
    /// `seconds` seconds.
    pub(crate) const fn from_secs(seconds: u64) -> Self {
        Self(Nanos::from_secs(seconds))
    }

    /// The span times `factor`.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self(Nanos((self.0.0 as f64 * factor).round() as u64))
    }
}

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let refused = || UnitError { text: text.to_owned(), what: "time (like 250ms, 5s, 1m30s, 12h)" };
        let (mut rest, mut total) = (text.trim(), 0.0);
        if rest.is_empty() {
            return Err(refused());
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(refused)?;
            let number: f64 = rest[..digits].parse().map_err(|_| refused())?;
            let unit_end =
                rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |end| digits + end);
            total += number * nanos_of(&rest[digits..unit_end]).ok_or_else(refused)?;
            rest = &rest[unit_end..];
        }
        Ok(Self(Nanos(total.round() as u64)))
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let refused = || UnitError { text: text.to_owned(), what: "rate (like 500/s, 30/m, 10/h)" };
        let (number, unit) = text.trim().split_once('/').ok_or_else(refused)?;
        let seconds = match unit.trim() {
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(refused()),
        };
        let number: f64 = number.trim().parse().map_err(|_| refused())?;
        if !number.is_finite() || !(0.0..=MOST_PER_SECOND).contains(&number) {
            return Err(refused());
        }
        Ok(Self { per_second: number / seconds })
    }
}

fn nanos_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return None,
    })
}

/// The shortest text that reads back as the same span.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 6] = [
            ("h", 3_600_000_000_000),
            ("m", 60_000_000_000),
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("us", 1_000),
            ("ns", 1),
        ];
        let nanos = self.0.0;
        let fits = UNITS.iter().find(|(_, unit)| nanos != 0 && nanos.is_multiple_of(*unit));
        match fits {
            Some((name, unit)) => write!(f, "{}{name}", nanos / unit),
            None => f.write_str("0s"),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.per_second)
    }
}

macro_rules! as_text {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

as_text!(Span);
as_text!(Rate);

/// Far beyond what any generator offers; above it instants would lose their meaning.
const MOST_PER_SECOND: f64 = 100_000_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_print_as_they_are_read() {
        for (text, nanos) in [
            ("250ms", 250_000_000),
            ("5s", 5_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1.5s", 1_500_000_000),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.0.0, nanos, "{text}");
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
        }
        for text in ["", "5", "s", "5 parsecs", "-1s", "1..5s"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn rates_have_units() {
        assert_eq!("500/s".parse::<Rate>().unwrap().per_second, 500.0);
        assert_eq!("30/m".parse::<Rate>().unwrap().per_second, 0.5);
        for text in ["500", "500/d", "/s", "-1/s", "inf/s", "5qps"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
