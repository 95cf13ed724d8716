//! Base64 (RFC 4648) as verifiers write it.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// The bytes of a text in either alphabet (sections 4 and 5), with padding or without; nothing where it is of neither. v0.0.2608 writes the
/// nonce of a session in the one and that of its result in the other, and later sources write both in the second, without padding.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let is_url_safe = text.bytes().any(|byte| matches!(byte, b'-' | b'_'));
    if is_url_safe { BASE64_URL.decode(text).ok() } else { BASE64.decode(text).ok() }
}

/// Whether a text is of these bytes, in either alphabet, with padding or without; no memory is asked for.
pub fn is_of(text: &str, bytes: &[u8]) -> bool {
    let mut rest = text.trim_end_matches('=').as_bytes();
    let mut buffer = [0; WRITTEN];
    for part in bytes.chunks(READ) {
        let Ok(length) = BASE64_UNPADDED.encode_slice(part, &mut buffer) else { return false };
        let Some((text, behind)) = rest.split_at_checked(length) else { return false };
        let written = &buffer[..length];
        // What is equal is so in most cases at once.
        if text != written && !text.iter().zip(written).all(|(text, written)| is_same(*text, *written)) {
            return false;
        }
        rest = behind;
    }
    rest.is_empty()
}

/// Whether a letter of either alphabet is that one of the first.
const fn is_same(letter: u8, first: u8) -> bool {
    letter == first || matches!((letter, first), (b'-', b'+') | (b'_', b'/'))
}

/// So many bytes are written as so many letters.
const READ: usize = 192;
const WRITTEN: usize = 256;
const BASE64_UNPADDED: GeneralPurpose = base64::engine::general_purpose::STANDARD_NO_PAD;
/// The second alphabet, with padding or without.
pub(crate) const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, UNPADDED_OR_PADDED);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, UNPADDED_OR_PADDED);
const UNPADDED_OR_PADDED: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{
        STANDARD as STANDARD_PADDED, URL_SAFE as URL_SAFE_PADDED, URL_SAFE_NO_PAD as URL_SAFE_UNPADDED,
    };

    use super::*;

    #[test]
    fn a_text_is_of_its_own_bytes_alone() {
        for length in [0, 1, 2, 3, 191, 192, 193, 546] {
            let bytes: Vec<u8> = (0..length).map(|byte| (byte * 7 + 251) as u8).collect();
            for engine in [STANDARD_PADDED, BASE64_UNPADDED, URL_SAFE_PADDED, URL_SAFE_UNPADDED] {
                let text = engine.encode(&bytes);
                assert!(is_of(&text, &bytes), "{text}");
                let mut other = bytes.clone();
                if let Some(last) = other.last_mut() {
                    *last ^= 1;
                    assert!(!is_of(&text, &other) && !is_of(&text, &bytes[1..]));
                }
                assert!(!is_of(&text, &[bytes.as_slice(), &[7]].concat()));
                assert!(!is_of(&format!("{text}AAAA"), &bytes));
            }
        }
    }

    #[test]
    fn the_same_bytes_are_read_of_either_alphabet_padded_or_not() {
        for text in ["-_-_-w==", "-_-_-w", "+/+/+w==", "+/+/+w"] {
            assert_eq!(decode(text), Some(vec![0xfb, 0xff, 0xbf, 0xfb]), "{text}");
        }
        assert_eq!(decode(""), Some(Vec::new()));
        for text in ["+_+_+w==", "-", "no text", "é"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
