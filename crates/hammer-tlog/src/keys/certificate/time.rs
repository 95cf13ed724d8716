//! Times of certificates, as seconds since 1970.

use crate::keys::der::{self, Tlv};

/// The seconds since 1970 of a `UTCTime` or `GeneralizedTime` in the form of RFC 5280 section 4.1.2.5; none where it is
/// neither.
pub fn unix_seconds(time: &Tlv<'_>) -> Option<i64> {
    let (year, rest) = match time.tag {
        der::UTC_TIME => {
            let (year, rest) = digits(time.value, 2)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        der::GENERALIZED_TIME => digits(time.value, 4)?,
        _ => return None,
    };
    let (month, rest) = digits(rest, 2)?;
    let (day, rest) = digits(rest, 2)?;
    let (hour, rest) = digits(rest, 2)?;
    let (minute, rest) = digits(rest, 2)?;
    let (second, rest) = digits(rest, 2)?;
    let in_range = (1..=12).contains(&month)
        && (1..=month_days(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if rest != b"Z" || !in_range {
        return None;
    }
    Some(((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// The number in the first `count` digits, and the rest.
fn digits(text: &[u8], count: usize) -> Option<(i64, &[u8])> {
    let (digits, rest) = text.split_at_checked(count)?;
    let number = digits
        .iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))?;
    Some((number, rest))
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the Gregorian calendar, by years that start in March, so that the leap day is the last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let march_year = if month > 2 { year } else { year - 1 };
    let march_month = (month + 9) % 12;
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    365 * march_year + march_year / 4 - march_year / 100 + march_year / 400 + day_of_year - 719_468
}
