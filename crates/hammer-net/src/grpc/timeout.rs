//! The time that a call has, as it is told to the server (gRPC's doc/PROTOCOL-HTTP2.md, "Timeout").

use std::time::Duration;

use http::HeaderValue;

/// The value of `grpc-timeout`: at most eight digits and a unit, the finest one that has room. It is never longer than `timeout`,
/// but for less than a nanosecond, which is told as one.
pub(super) fn timeout_value(timeout: Duration) -> HeaderValue {
    let nanos = timeout.as_nanos().max(1);
    let (per_unit, unit) =
        UNITS.into_iter().find(|(per_unit, _)| nanos / per_unit <= MOST).unwrap_or(UNITS[UNITS.len() - 1]);
    let value = format!("{}{unit}", (nanos / per_unit).min(MOST));
    // Digits and a letter are always a header's value.
    HeaderValue::try_from(value).unwrap_or_else(|_| HeaderValue::from_static("99999999H"))
}

/// Nanoseconds in each unit, and its letter.
const UNITS: [(u128, char); 6] = [
    (1, 'n'),
    (1_000, 'u'),
    (1_000_000, 'm'),
    (1_000_000_000, 'S'),
    (60_000_000_000, 'M'),
    (3_600_000_000_000, 'H'),
];

const MOST: u128 = 99_999_999;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_has_at_most_eight_digits_and_is_never_longer() {
        for (timeout, value) in [
            (Duration::ZERO, "1n"),
            (Duration::from_millis(50), "50000000n"),
            (Duration::from_nanos(99_999_999), "99999999n"),
            (Duration::from_nanos(100_000_999), "100000u"),
            (Duration::from_secs(10), "10000000u"),
            (Duration::from_secs(100), "100000m"),
            (Duration::from_secs(200_000), "200000S"),
            (Duration::MAX, "99999999H"),
        ] {
            assert_eq!(timeout_value(timeout), value);
        }
    }
}
