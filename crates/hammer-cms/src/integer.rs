//! `INTEGER`s that are not negative, in DER.

use hammer_tlog::keys::der::{self, DerError};

/// The digits of the content of an `INTEGER`, without the zero byte that keeps it from being negative. Fails for a negative
/// one, and where it is not the shortest (X.690 section 8.3.2).
pub(crate) fn digits<'a>(content: &'a [u8], what: &'static str) -> Result<&'a [u8], DerError> {
    match content {
        [0] => Ok(&[]),
        [0, digits @ ..] if digits.first().is_some_and(|first| *first >= 0x80) => Ok(digits),
        [1..=0x7f, ..] => Ok(content),
        _ => Err(DerError::Value { what }),
    }
}

/// The value of the content of an `INTEGER`; none if it takes more than 64 bits. Fails as [`digits`] does.
pub(crate) fn value(content: &[u8], what: &'static str) -> Result<Option<u64>, DerError> {
    let digits = digits(content, what)?;
    let fits = digits.len() <= size_of::<u64>();
    Ok(fits.then(|| digits.iter().fold(0, |value, digit| value << 8 | u64::from(*digit))))
}

/// The content of an `INTEGER`: the last bytes of the array, as many as said.
pub(crate) fn content(value: u64) -> ([u8; 9], usize) {
    let mut bytes = [0; 9];
    bytes[1..].copy_from_slice(&value.to_be_bytes());
    // One bit more than the value has, for the sign.
    let bits = 65 - value.leading_zeros() as usize;
    (bytes, bits.div_ceil(8))
}

/// Appends an `INTEGER`.
pub(crate) fn write(out: &mut Vec<u8>, value: u64) {
    let (bytes, length) = content(value);
    der::write(out, der::INTEGER, &bytes[bytes.len() - length..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_was_written() {
        for number in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, i64::MAX as u64, 1 << 63, u64::MAX] {
            let mut out = Vec::new();
            write(&mut out, number);
            assert_eq!(value(&out[2..], "number"), Ok(Some(number)), "{out:02x?}");
        }
    }

    #[test]
    fn what_is_negative_or_not_the_shortest_is_refused() {
        for content in [&[][..], &[0x80], &[0xff, 0xff], &[0, 0], &[0, 0x7f], &[0, 0, 0x80]] {
            assert_eq!(digits(content, "number"), Err(DerError::Value { what: "number" }), "{content:02x?}");
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_has_no_value() {
        assert_eq!(value(&[1; 9], "number"), Ok(None));
        assert_eq!(value(&[&[0], [0xff; 8].as_slice()].concat(), "number"), Ok(Some(u64::MAX)));
    }
}
