//! DER (X.690) as certificates and timestamps are written in it: each element from its parts, innermost first.

use hammer_lab::date::civil;
use hammer_tlog::keys::der;

/// `NULL`.
pub const NULL: &[u8] = &[0x05, 0x00];
/// `BOOLEAN` true.
pub const TRUE: &[u8] = &[0x01, 0x01, 0xff];
/// `SET`, `SET OF`.
pub const SET: u8 = 0x31;
/// `UTF8String`.
pub const UTF8_STRING: u8 = 0x0c;
/// `PrintableString`.
pub const PRINTABLE_STRING: u8 = 0x13;

/// An element of these parts, one after another.
pub fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length = parts.iter().map(|part| part.len()).sum();
    let mut out = Vec::with_capacity(der::element_length(length));
    der::write_header(&mut out, tag, length);
    for part in parts {
        out.extend_from_slice(part);
    }
    out
}

/// `SEQUENCE` of these elements.
pub fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    element(der::SEQUENCE, parts)
}

/// `SET OF` these elements, which must be in order already.
pub fn set(parts: &[&[u8]]) -> Vec<u8> {
    element(SET, parts)
}

/// `OCTET STRING`.
pub fn octet_string(bytes: &[u8]) -> Vec<u8> {
    element(der::OCTET_STRING, &[bytes])
}

/// `BIT STRING` of whole bytes.
pub fn bit_string(bytes: &[u8]) -> Vec<u8> {
    element(der::BIT_STRING, &[&[0], bytes])
}

/// `OBJECT IDENTIFIER` of this content.
pub fn oid(content: &[u8]) -> Vec<u8> {
    element(der::OBJECT_IDENTIFIER, &[content])
}

/// `INTEGER` of a number that is not negative, given in big-endian bytes.
pub fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let leading = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = &bytes[leading..];
    // A number whose first bit is set would read as negative.
    let sign: &[u8] = if digits.first().is_none_or(|first| first & 0x80 != 0) { &[0] } else { &[] };
    element(der::INTEGER, &[sign, digits])
}

/// `UTCTime` until 2049 and `GeneralizedTime` after it, as certificates have it (RFC 5280 section 4.1.2.5).
pub fn certificate_time(unix_seconds: u64) -> Vec<u8> {
    let text = date_time(unix_seconds);
    if text.as_str() < "2050" {
        element(der::UTC_TIME, &[&text.as_bytes()[2..]])
    } else {
        element(der::GENERALIZED_TIME, &[text.as_bytes()])
    }
}

/// `GeneralizedTime` in whole seconds.
pub fn generalized_time(unix_seconds: u64) -> Vec<u8> {
    element(der::GENERALIZED_TIME, &[date_time(unix_seconds).as_bytes()])
}

/// `YYYYMMDDHHMMSSZ`.
fn date_time(unix_seconds: u64) -> String {
    let (days, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_right_at_leap_days_and_at_the_ends_of_years() {
        for (seconds, text) in [
            (0, "19700101000000Z"),
            (951_782_400, "20000229000000Z"),
            (1_709_251_199, "20240229235959Z"),
            (1_795_243_690, "20261121064810Z"),
            (4_102_444_799, "20991231235959Z"),
            (4_107_542_400, "21000301000000Z"),
        ] {
            assert_eq!(date_time(seconds), text);
        }
    }

    #[test]
    fn a_certificates_time_has_two_digits_of_the_year_until_2049() {
        assert_eq!(certificate_time(2_524_607_999), b"\x17\x0d491231235959Z");
        assert_eq!(certificate_time(2_524_608_000), b"\x18\x0f20500101000000Z");
    }

    #[test]
    fn an_integer_is_the_shortest_that_is_not_negative() {
        assert_eq!(unsigned(&[]), [2, 1, 0]);
        assert_eq!(unsigned(&[0, 0]), [2, 1, 0]);
        assert_eq!(unsigned(&[0, 1]), [2, 1, 1]);
        assert_eq!(unsigned(&[0x7f]), [2, 1, 0x7f]);
        assert_eq!(unsigned(&[0x80]), [2, 2, 0, 0x80]);
    }
}
