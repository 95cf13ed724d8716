//! Spans of time.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue, times};

/// A span of time: `250ms`, `1.5s`, `1m30s`, `12h`; up to 200 years, in whole nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct TimeSpan(Duration);

impl TimeSpan {
    /// No time.
    pub const ZERO: Self = Self(Duration::ZERO);

    /// Whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// Whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// The span.
    pub const fn duration(self) -> Duration {
        self.0
    }

    /// The span times `factor`, rounded to a nanosecond; the longest one where it would be longer.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let nanos = (self.0.as_nanos() as f64 * factor).round();
        Self(Duration::from_nanos(nanos as u64).min(LONGEST))
    }
}

impl ScalarValue for TimeSpan {
    const EXPECTED: &'static str = "time (like 250ms, 1.5s, 1m30s, 12h)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let Scalar::Text(text) = scalar else { return Err(scalar.is_no::<Self>()) };
        let nanos = nanos(text.trim()).ok_or_else(|| scalar.is_no::<Self>())?;
        let span = u64::try_from(nanos).map(Duration::from_nanos).ok().filter(|span| *span <= LONGEST);
        span.map(Self).ok_or_else(|| ValueError::above(Self(LONGEST).to_string()))
    }
}

/// Nanoseconds of one number and unit after another.
fn nanos(text: &str) -> Option<u128> {
    let (mut rest, mut total) = (text, 0_u128);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let unit = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let end = rest[unit..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |end| unit + end);
        total = times(&rest[..unit], nanos_of(rest[unit..end].trim())?)?.checked_add(total)?;
        rest = &rest[end..];
    }
    Some(total)
}

fn nanos_of(unit: &str) -> Option<u64> {
    let known = UNITS.iter().find(|(name, _)| *name == unit || (unit == "min" && *name == "m"));
    known.map(|(_, nanos)| *nanos)
}

impl FromStr for TimeSpan {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

/// The shortest text of one number and unit that reads back as the same span.
impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        match UNITS.iter().find(|(_, unit)| nanos != 0 && nanos.is_multiple_of(u128::from(*unit))) {
            Some((name, unit)) => write!(f, "{}{name}", nanos / u128::from(*unit)),
            None => f.write_str("0s"),
        }
    }
}

impl From<TimeSpan> for Duration {
    fn from(span: TimeSpan) -> Self {
        span.0
    }
}

impl From<Duration> for TimeSpan {
    fn from(span: Duration) -> Self {
        Self(span.min(LONGEST))
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, plan: S) -> Result<S::Ok, S::Error> {
        plan.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeSpan {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

/// From the longest, each with its nanoseconds; minutes are also read as `min`.
const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];
/// 200 years, which 64 bits hold in nanoseconds.
const LONGEST: Duration = Duration::from_secs(73_000 * 86_400);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_have_units_and_print_as_the_shortest_that_reads_back() {
        for (text, millis, printed) in [
            ("250ms", 250, "250ms"),
            ("5s", 5_000, "5s"),
            ("1m30s", 90_000, "90s"),
            ("1.5s", 1_500, "1500ms"),
            ("2m", 120_000, "2m"),
            ("2min", 120_000, "2m"),
            ("1h 30m", 5_400_000, "90m"),
            (" 10 s ", 10_000, "10s"),
            ("24h", 86_400_000, "1d"),
            ("0ms", 0, "0s"),
        ] {
            let span: TimeSpan = text.parse().unwrap();
            assert_eq!(span, TimeSpan::from_millis(millis), "{text}");
            assert_eq!(span.to_string(), printed);
        }
        assert_eq!("1500ns".parse::<TimeSpan>().unwrap().duration(), Duration::from_nanos(1500));
    }

    #[test]
    fn what_has_no_unit_or_no_end_is_no_time() {
        for text in ["", "5", "s", "5 parsecs", "-1s", "1..5s", "1e3s", "infs", "5s5", ".5s"] {
            let error = text.parse::<TimeSpan>().unwrap_err();
            assert_eq!(error.to_string(), format!("`{text}` is no time (like 250ms, 1.5s, 1m30s, 12h)"));
        }
        let longest = "99999999999999999999d".parse::<TimeSpan>().unwrap_err();
        assert_eq!(longest.to_string(), "it must be 73000d at most");
        let bare = serde_json::from_str::<TimeSpan>("5").unwrap_err();
        assert!(bare.to_string().starts_with("`5` is no time"), "{bare}");
    }

    #[test]
    fn a_span_is_scaled_to_a_nanosecond() {
        assert_eq!(TimeSpan::from_secs(3).scaled(0.5), TimeSpan::from_millis(1500));
        assert_eq!(TimeSpan::from_secs(1).scaled(f64::MAX).duration(), LONGEST);
    }

    proptest! {
        #[test]
        fn every_span_reads_back(number in 0..73_000u64, unit in 0..UNITS.len()) {
            let span = TimeSpan(Duration::from_nanos(number * UNITS[unit].1));
            prop_assert_eq!(span.to_string().parse::<TimeSpan>().unwrap(), span);
        }

        #[test]
        fn every_nanosecond_counts(nanos in 0..LONGEST.as_nanos() as u64) {
            let span = TimeSpan(Duration::from_nanos(nanos));
            prop_assert_eq!(span.to_string().parse::<TimeSpan>().unwrap(), span);
        }
    }
}
