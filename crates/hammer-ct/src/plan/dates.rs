//! Dates in a plan.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::error::CtError;

/// RFC 3339, a date alone (its first second, UTC), or whole days from `epoch` with a sign; in seconds since the Unix
/// epoch.
pub(super) fn unix_seconds(key: &'static str, text: &str, epoch: u64) -> Result<u64, CtError> {
    let refused = || CtError::Value {
        key,
        value: text.to_owned(),
        expected: "RFC 3339, a date since 1970, or days from the run's epoch such as -30d",
    };
    let seconds = match relative(text) {
        Some(days) => days.checked_mul(86_400).and_then(|offset| epoch.checked_add_signed(offset)),
        None => absolute(text),
    };
    seconds.ok_or_else(refused)
}

fn relative(text: &str) -> Option<i64> {
    let days = text.strip_suffix('d')?;
    days.starts_with(['+', '-']).then(|| days.parse().ok()).flatten()
}

fn absolute(text: &str) -> Option<u64> {
    let whole = if text.len() == "2026-01-01".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    u64::try_from(OffsetDateTime::parse(&whole, &Rfc3339).ok()?.unix_timestamp()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_absolute_or_days_from_the_epoch() {
        for (text, seconds) in [
            ("+0d", 1_000_000_000),
            ("-1d", 999_913_600),
            ("+60d", 1_005_184_000),
            ("1970-01-02", 86_400),
            ("2026-01-01T00:00:00Z", 1_767_225_600),
            ("2026-01-01T01:00:00+01:00", 1_767_225_600),
        ] {
            assert_eq!(unix_seconds("not_before", text, 1_000_000_000).unwrap(), seconds, "{text}");
        }
        for text in ["", "60d", "-d", "+1.5d", "-20000d", "2026-13-01", "1969-01-01", "tomorrow"] {
            assert!(unix_seconds("not_before", text, 1_000_000_000).is_err(), "{text}");
        }
    }
}
