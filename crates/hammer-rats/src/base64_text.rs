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

/// The second alphabet, with padding or without.
pub(crate) const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, UNPADDED_OR_PADDED);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, UNPADDED_OR_PADDED);
const UNPADDED_OR_PADDED: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

#[cfg(test)]
mod tests {
    use super::*;

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
