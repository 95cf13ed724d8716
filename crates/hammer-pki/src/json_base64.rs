//! Bytes in the JSON of requests and answers: base64 (RFC 4648 section 4).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Appends bytes as base64.
pub(crate) fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    // There is room for exactly so many.
    let encoded = BASE64_STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or_default();
    out.truncate(start + encoded);
}
