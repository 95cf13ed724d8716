//! Bytes in hexadecimal digits.

/// Two lower-case digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            digits.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    digits
}
