//! Bytes as text.

use std::fmt::Write as _;

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // A string takes whatever is written to it.
        let _ = write!(out, "{byte:02x}");
    }
    out
}
