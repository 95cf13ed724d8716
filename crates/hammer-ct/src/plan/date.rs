//! Dates in a plan.

use std::fmt;
use std::str::FromStr;

use hammer_values::{Date, ValueError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::CtError;

/// A date, or whole days from the run's epoch with a sign: `2026-01-01`, `2026-01-01T00:00:00Z`, `-30d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum PlanDate {
    /// The same in every run.
    At(Date),
    /// Another in every run.
    Days(i64),
}

impl PlanDate {
    /// Seconds since the Unix epoch in a run of that epoch, which is counted likewise.
    ///
    /// # Errors
    /// [`CtError::Value`] with that key for days that lead out of the years that there are.
    pub(super) fn unix_seconds(self, key: &'static str, epoch: u64) -> Result<u64, CtError> {
        let seconds = match self {
            Self::At(date) => Some(date.unix_seconds()),
            Self::Days(days) => days.checked_mul(86_400).and_then(|offset| epoch.checked_add_signed(offset)),
        };
        let expected = "days from the run's epoch that lead to a date since 1970";
        seconds.ok_or_else(|| CtError::Value { key, value: self.to_string(), expected })
    }

    /// Whether it is the same in every run.
    pub(super) fn is_fixed(self) -> bool {
        matches!(self, Self::At(_))
    }

    /// Whether it comes before the other in every run; of a date and days only a run can say.
    pub(super) fn is_before(self, other: Self) -> bool {
        match (self, other) {
            (Self::At(one), Self::At(other)) => one < other,
            (Self::Days(one), Self::Days(other)) => one < other,
            _ => false,
        }
    }
}

impl FromStr for PlanDate {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let days = text.strip_suffix('d').filter(|days| days.starts_with(['+', '-']));
        let date = match days {
            Some(days) => days.parse().ok().map(Self::Days),
            None => text.parse().ok().map(Self::At),
        };
        date.ok_or_else(|| ValueError::Form { text: text.to_owned(), expected: EXPECTED })
    }
}

impl fmt::Display for PlanDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(date) => date.fmt(f),
            Self::Days(days) => write!(f, "{days:+}d"),
        }
    }
}

impl From<Date> for PlanDate {
    fn from(date: Date) -> Self {
        Self::At(date)
    }
}

impl TryFrom<String> for PlanDate {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        text.parse()
    }
}

impl From<PlanDate> for String {
    fn from(date: PlanDate) -> Self {
        date.to_string()
    }
}

const EXPECTED: &str = "date: RFC 3339, a date since 1970, or days from the run's epoch such as -30d";

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: u64 = 1_000_000_000;

    fn date(text: &str) -> PlanDate {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn dates_are_absolute_or_days_from_the_epoch() {
        for (text, seconds, printed) in [
            ("+0d", EPOCH, "+0d"),
            ("-1d", 999_913_600, "-1d"),
            ("+60d", 1_005_184_000, "+60d"),
            ("1970-01-02", 86_400, "1970-01-02T00:00:00Z"),
            ("2026-01-01T01:00:00+01:00", 1_767_225_600, "2026-01-01T00:00:00Z"),
        ] {
            assert_eq!(date(text).unix_seconds("not_before", EPOCH).unwrap(), seconds, "{text}");
            assert_eq!((date(text).to_string().as_str(), date(printed)), (printed, date(text)));
        }
        for text in ["", "60d", "-d", "+1.5d", "2026-13-01", "1969-01-01", "tomorrow"] {
            let error = text.parse::<PlanDate>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is no date: RFC 3339, ")), "{error}");
        }
        let error = date("-20000d").unix_seconds("not_before", EPOCH).unwrap_err();
        assert_eq!(error.key(), Some("not_before"));
        assert!(error.to_string().starts_with("use \"-20000d\" as not_before: "), "{error}");
    }

    #[test]
    fn two_dates_of_one_kind_have_an_order() {
        for (one, other, is_before) in [
            ("+1d", "+2d", true),
            ("+2d", "+2d", false),
            ("2026-01-01", "2026-01-02", true),
            ("2026-01-02", "2026-01-01", false),
            ("1970-01-01", "+2d", false),
        ] {
            assert_eq!(date(one).is_before(date(other)), is_before, "{one} {other}");
        }
    }
}
