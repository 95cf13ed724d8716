//! The text of a status (gRPC's doc/PROTOCOL-HTTP2.md, "Status-Message").

use std::borrow::Cow;

/// The text of a `grpc-message`, in which `%` and two hexadecimal digits are a byte. What is not one stays as it is, and what is no
/// UTF-8 is replaced: a message is never refused.
pub(super) fn percent_decoded(value: &[u8]) -> Cow<'_, str> {
    if !value.contains(&b'%') {
        return String::from_utf8_lossy(value);
    }
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((&first, behind)) = rest.split_first() {
        let escaped = behind.first_chunk::<2>().filter(|_| first == b'%').and_then(|digits| byte_of(*digits));
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &behind[2..] } else { behind };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn byte_of([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_is_read_and_what_is_not_stays() {
        for (value, text) in [
            (&b"plain"[..], "plain"),
            (b"a%20b%0A%25", "a b\n%"),
            (b"%C3%BC", "\u{fc}"),
            (b"100%", "100%"),
            (b"%4", "%4"),
            (b"%zz%41", "%zzA"),
            (b"%+1%ff", "%+1\u{fffd}"),
        ] {
            assert_eq!(percent_decoded(value), text);
        }
    }
}
