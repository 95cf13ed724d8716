//! Dates.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue};

/// A second between the years 1970 and 9999: RFC 3339 (`2026-01-01T00:00:00Z`), or a day, which is its first second in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct Date(OffsetDateTime);

impl Date {
    /// Seconds since the Unix epoch.
    pub fn unix_seconds(self) -> u64 {
        // It is not before the epoch.
        self.0.unix_timestamp().unsigned_abs()
    }
}

impl ScalarValue for Date {
    const EXPECTED: &'static str = "date since 1970 (like 2026-01-01 or 2026-01-01T00:00:00Z)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let Scalar::Text(text) = scalar else { return Err(scalar.is_no::<Self>()) };
        let is_day = text.len() == "2026-01-01".len();
        let whole = if is_day { format!("{text}T00:00:00Z") } else { text.to_owned() };
        let seconds = OffsetDateTime::parse(&whole, &Rfc3339).ok().map(OffsetDateTime::unix_timestamp);
        let seconds = seconds.filter(|seconds| (0..=LAST_SECOND_OF_9999).contains(seconds));
        // In UTC and without a fraction, so that it prints as one text.
        let date = seconds.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
        date.map(Self).ok_or_else(|| scalar.is_no::<Self>())
    }
}

impl FromStr for Date {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

/// As `2026-01-01T00:00:00Z`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.format(&Rfc3339).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, plan: S) -> Result<S::Ok, S::Error> {
        plan.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

const LAST_SECOND_OF_9999: i64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_date_is_a_second_or_a_day() {
        for (text, seconds, printed) in [
            ("1970-01-02", 86_400, "1970-01-02T00:00:00Z"),
            ("2026-01-01T00:00:00Z", 1_767_225_600, "2026-01-01T00:00:00Z"),
            ("2026-01-01T01:00:00.5+01:00", 1_767_225_600, "2026-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59Z", LAST_SECOND_OF_9999 as u64, "9999-12-31T23:59:59Z"),
        ] {
            let date: Date = text.parse().unwrap();
            assert_eq!((date.unix_seconds(), date.to_string().as_str()), (seconds, printed), "{text}");
        }
        for text in ["", "2026-13-01", "1969-12-31", "tomorrow", "2026-01-01T00:00:00", "+1d"] {
            let error = text.parse::<Date>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{text}` is no date since 1970 (like 2026-01-01")),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_date_reads_back(seconds in 0..=LAST_SECOND_OF_9999) {
            let date = Date(OffsetDateTime::from_unix_timestamp(seconds).unwrap());
            prop_assert_eq!(date.to_string().parse::<Date>().unwrap(), date);
            prop_assert_eq!(date.unix_seconds(), seconds as u64);
        }
    }
}
