use hammer_tlog::keys::certificate::unix_seconds;
use hammer_tlog::keys::der::{self, DerError, Tlv};

/// Characters of `YYYYMMDDhhmmss`.
const WHOLE: usize = 14;

/// `genTime` (RFC 3161 section 2.4.2): when a token was made, as exactly as the authority says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GenTime {
    /// Whole seconds since 1970.
    pub unix_seconds: i64,
    /// Nanoseconds of that second; further digits are cut off.
    pub nanos: u32,
    /// Digits of the fraction of a second: none where the authority counts in seconds.
    pub digits: usize,
}

impl GenTime {
    /// Reads a `GeneralizedTime` that ends in Z and has a fraction only where that is not 0, without trailing zeros.
    pub(super) fn parse(element: &Tlv<'_>) -> Result<Self, DerError> {
        let malformed = DerError::Value { what: "genTime" };
        let text = element.value.strip_suffix(b"Z").ok_or(malformed)?;
        let (whole, fraction) = text.split_at_checked(WHOLE).ok_or(malformed)?;
        let digits = match fraction {
            [] => fraction,
            [b'.', digits @ ..] if digits.last().is_some_and(|last| *last != b'0') => digits,
            _ => return Err(malformed),
        };
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(malformed);
        }
        let mut value = [b'Z'; WHOLE + 1];
        value[..WHOLE].copy_from_slice(whole);
        let unix_seconds = unix_seconds(&Tlv { tag: der::GENERALIZED_TIME, value: &value, raw: &value });
        Ok(Self { unix_seconds: unix_seconds.ok_or(malformed)?, nanos: nanos(digits), digits: digits.len() })
    }

    /// Milliseconds since 1970; what is shorter is cut off.
    pub fn unix_ms(&self) -> i64 {
        // A year has four digits, so that this is far below the largest number.
        self.unix_seconds * 1000 + i64::from(self.nanos / 1_000_000)
    }

    /// The last millisecond since 1970 that is written as this time, where the digits that are not there are cut off and not
    /// rounded.
    pub fn last_unix_ms(&self) -> i64 {
        let step = match self.digits {
            0 => 1000,
            1 => 100,
            2 => 10,
            _ => 1,
        };
        self.unix_ms() + step - 1
    }
}

/// The nanoseconds of the digits of a fraction.
fn nanos(digits: &[u8]) -> u32 {
    let nine = digits.iter().chain(std::iter::repeat(&b'0')).take(9);
    nine.fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0'))
}
