//! Calendar dates as seconds since the Unix epoch, without a clock.

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
    fn both_forms_of_a_date_are_the_same_seconds() {
        for (utc, generalized, expected) in [
            ("700101000000Z", "19700101000000Z", 0),
            ("260101000000Z", "20260101000000Z", 1_767_225_600),
            ("240229235959Z", "20240229235959Z", 1_709_251_199),
        ] {
            assert_eq!(from_utc_time(utc.as_bytes()), Some(expected));
            assert_eq!(from_generalized_time(generalized.as_bytes()), Some(expected));
        }
    }

    #[test]
    fn malformed_dates_are_refused() {
        assert_eq!(from_utc_time(b"2601010000Z"), None);
        assert_eq!(from_generalized_time(b"260101000000Z"), None);
    }
}
