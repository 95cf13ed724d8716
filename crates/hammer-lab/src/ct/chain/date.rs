//! Calendar dates as seconds since the Unix epoch, without a clock.

/// Seconds since the Unix epoch of `YYYY-MM-DDThh:mm:ssZ` (RFC 3339, UTC, whole seconds).
pub(crate) fn from_rfc3339(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
    if bytes.len() != 20 || marks.iter().any(|&(at, mark)| bytes[at] != mark) {
        return None;
    }
    let part = |from: usize, to: usize| digits(&bytes[from..to]);
    seconds(part(0, 4)?, part(5, 7)?, part(8, 10)?, part(11, 13)?, part(14, 16)?, part(17, 19)?)
}

/// Seconds since the Unix epoch of a DER UTCTime (`YYMMDDhhmmssZ`, RFC 5280 section 4.1.2.5.1).
pub(crate) fn from_utc_time(bytes: &[u8]) -> Option<i64> {
    let year = digits(bytes.get(..2)?)?;
    let century = if year >= 50 { 1900 } else { 2000 };
    after_year(century + year, &bytes[2..])
}

/// Seconds since the Unix epoch of a DER GeneralizedTime (`YYYYMMDDhhmmssZ`, RFC 5280 section 4.1.2.5.2).
pub(crate) fn from_generalized_time(bytes: &[u8]) -> Option<i64> {
    after_year(digits(bytes.get(..4)?)?, &bytes[4..])
}

fn after_year(year: i64, rest: &[u8]) -> Option<i64> {
    if rest.len() != 11 || rest[10] != b'Z' {
        return None;
    }
    let part = |at: usize| digits(&rest[at..at + 2]);
    seconds(year, part(0)?, part(2)?, part(4)?, part(6)?, part(8)?)
}

fn seconds(year: i64, month: i64, day: i64, hour: i64, minute: i64, second: i64) -> Option<i64> {
    let valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..60).contains(&second);
    valid.then(|| days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Days since 1970-01-01 of a proleptic Gregorian date (Howard Hinnant, chrono-compatible date algorithms).
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_certificates_and_of_plans_are_the_same_seconds() {
        for (utc, generalized, rfc3339, expected) in [
            ("700101000000Z", "19700101000000Z", "1970-01-01T00:00:00Z", 0),
            ("260101000000Z", "20260101000000Z", "2026-01-01T00:00:00Z", 1_767_225_600),
            ("240229235959Z", "20240229235959Z", "2024-02-29T23:59:59Z", 1_709_251_199),
        ] {
            assert_eq!(from_utc_time(utc.as_bytes()), Some(expected));
            assert_eq!(from_generalized_time(generalized.as_bytes()), Some(expected));
            assert_eq!(from_rfc3339(rfc3339), Some(expected));
        }
    }

    #[test]
    fn malformed_dates_are_refused() {
        for text in ["", "2026", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+", "2026-01-01 00:00:00Z"] {
            assert_eq!(from_rfc3339(text), None, "{text}");
        }
        assert_eq!(from_utc_time(b"2601010000Z"), None);
        assert_eq!(from_generalized_time(b"260101000000Z"), None);
    }
}
