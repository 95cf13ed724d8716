//! Durations as a plan writes them: a number and a unit, `250ms`, `1.5s`, `2m`.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A duration that reads and writes as text: a decimal number followed by `us`, `ms`, `s`, `m` or `h`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl Span {
    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(Duration::from_millis(ms))
    }

    /// Reads `250ms`, `1.5s`, `2m`.
    ///
    /// # Errors
    /// The text, when it has no number, no unit, or a unit that is not known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let seconds_per_unit = match unit {
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(format!("{text:?} is not a duration such as 250ms or 1.5s")),
        };
        let number: f64 =
            number.trim().parse().map_err(|_| format!("{text:?} has no number before its unit"))?;
        Duration::try_from_secs_f64(number * seconds_per_unit)
            .map(Self)
            .map_err(|_| format!("{text:?} is out of range"))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        span.0
    }
}

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = self.0.as_micros();
        match us {
            _ if us.is_multiple_of(1_000_000) => write!(out, "{}s", us / 1_000_000),
            _ if us.is_multiple_of(1_000) => write!(out, "{}ms", us / 1_000),
            _ => write!(out, "{us}us"),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit_are_a_duration_and_print_back() {
        for (text, ms, printed) in
            [("250ms", 250, "250ms"), ("1.5s", 1500, "1500ms"), ("2m", 120_000, "120s"), ("0s", 0, "0s")]
        {
            let span = Span::parse(text).unwrap();
            assert_eq!(span.0, Duration::from_millis(ms));
            assert_eq!(span.to_string(), printed);
        }
    }

    #[test]
    fn a_duration_without_unit_or_number_is_refused() {
        for text in ["5", "", "s", "-1s", "5 parsecs", "1e30h", "nans"] {
            assert!(Span::parse(text).is_err(), "{text}");
        }
    }
}
