//! Identifiers of sessions: UUIDs of version 1 (RFC 9562 section 5.1), of a time, a clock sequence and a machine.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// A UUID, in network order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SessionId(u128);

impl SessionId {
    /// Reads a UUID in any form that the services take.
    ///
    /// # Errors
    /// What the services' library says of it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let bytes = text.as_bytes();
        let digits = match bytes.len() {
            32 => return hex(bytes).map(Self).ok_or_else(format_error),
            36 => bytes,
            38 => &bytes[1..37],
            45 if text.is_char_boundary(9) && text[..9].eq_ignore_ascii_case("urn:uuid:") => &bytes[9..],
            45 => return Err(format!("invalid urn prefix: {:?}", String::from_utf8_lossy(&bytes[..9]))),
            length => return Err(format!("invalid UUID length: {length}")),
        };
        let dashes = [8, 13, 18, 23];
        if dashes.iter().any(|at| digits[*at] != b'-') {
            return Err(format_error());
        }
        let mut plain = [0; 32];
        let others = digits.iter().enumerate().filter(|(at, _)| !dashes.contains(at));
        plain.iter_mut().zip(others).for_each(|(digit, (_, other))| *digit = *other);
        hex(&plain).map(Self).ok_or_else(format_error)
    }
}

fn hex(digits: &[u8]) -> Option<u128> {
    // A sign is none of a number here.
    let all = digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| all)?;
    u128::from_str_radix(text, 16).ok()
}

fn format_error() -> String {
    "invalid UUID format".to_owned()
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |shift: u32, bits: u32| (self.0 >> shift) & ((1 << bits) - 1);
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            part(96, 32),
            part(80, 16),
            part(64, 16),
            part(48, 16),
            part(0, 48)
        )
    }
}

/// Makes identifiers, no two of which are the same.
#[derive(Debug)]
pub(crate) struct SessionIds {
    /// Clock sequence and machine, the lower half of each.
    place: u64,
    /// The time of the last one, in steps of 100 ns since 15 October 1582.
    last: Mutex<u64>,
}

impl SessionIds {
    /// Those of a machine and a clock sequence that are drawn.
    pub(crate) fn new(drawn: [u8; 8]) -> Self {
        let variant = u64::from_be_bytes(drawn) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
        Self { place: variant, last: Mutex::new(0) }
    }

    /// One that is made at this time since the Unix epoch.
    pub(crate) fn next(&self, unix: Duration) -> SessionId {
        let now = u64::try_from(unix.as_nanos() / 100).unwrap_or(u64::MAX).saturating_add(FROM_1582_TO_1970);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = now.max(*last + 1);
        let (low, middle, high) = (*last & 0xffff_ffff, *last >> 32 & 0xffff, *last >> 48 & 0xfff);
        let upper = low << 32 | middle << 16 | 0x1000 | high;
        SessionId(u128::from(upper) << 64 | u128::from(self.place))
    }
}

const FROM_1582_TO_1970: u64 = 0x01b2_1dd2_1381_4000;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const RECORDED: &str = "3ad2c972-e575-11f1-9ceb-336431323139";

    #[test]
    fn an_identifier_prints_as_it_was_read_in_any_form() {
        let plain = RECORDED.replace('-', "");
        for text in [RECORDED, &plain, &format!("{{{RECORDED}}}"), &format!("URN:uuid:{RECORDED}")] {
            assert_eq!(SessionId::parse(text).unwrap().to_string(), RECORDED);
        }
    }

    #[test]
    fn what_is_none_is_refused_in_the_words_of_the_services_library() {
        for (text, error) in [
            ("nope", "invalid UUID length: 4"),
            ("3ad2c972-e575-11f1-9ceb-33643132313g", "invalid UUID format"),
            ("3ad2c972ae575-11f1-9ceb-336431323139", "invalid UUID format"),
            ("+ad2c972e57511f19ceb336431323139", "invalid UUID format"),
            ("urn:uuiD-3ad2c972-e575-11f1-9ceb-336431323139", "invalid urn prefix: \"urn:uuiD-\""),
            ("üüüüüüüüüüüüüüüüüü", "invalid UUID format"),
            ("üüüüüüüüüüüüüüüü", "invalid UUID format"),
        ] {
            assert_eq!(SessionId::parse(text), Err(error.to_owned()), "{text}");
        }
    }

    #[test]
    fn identifiers_are_of_version_1_and_differ_while_the_clock_stands_still() {
        let ids = SessionIds::new([0xff; 8]);
        // The time at which the recorded one was made.
        let unix = Duration::new(1_795_242_708, 602_353_000);
        let made: HashSet<String> = (0..1000).map(|_| ids.next(unix).to_string()).collect();
        assert_eq!(made.len(), 1000);
        assert!(made.iter().all(|id| id[9..].starts_with("e575-11f1-bfff-")), "{made:?}");
    }
}
