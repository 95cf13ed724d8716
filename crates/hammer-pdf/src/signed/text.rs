//! Characters, names and numbers where they stand (ISO 32000-1 section 7.2).

/// Where that name stands, with its slash and as a whole.
pub(super) fn find_name(text: &[u8], name: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = find(&text[from..], name) {
        let end = from + at + name.len();
        if text.get(end).is_none_or(|next| !is_regular(*next)) {
            return Some(from + at);
        }
        from = end;
    }
    None
}

/// Where these bytes stand first.
pub(super) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, wanted)
}

/// The four numbers of an array that `text` starts with.
pub(super) fn numbers_in_brackets(text: &[u8]) -> Option<[usize; 4]> {
    let mut rest = text.trim_ascii_start().strip_prefix(b"[")?;
    let mut numbers = [0; 4];
    for place in &mut numbers {
        let (value, behind) = number(rest.trim_ascii_start())?;
        *place = usize::try_from(value).ok()?;
        rest = behind;
    }
    rest.trim_ascii_start().starts_with(b"]").then_some(numbers)
}

/// The number, without a sign, that `text` starts with, and what is behind it.
pub(super) fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    // Twelve digits are more than any offset has.
    if length == 0 || length > 12 {
        return None;
    }
    let (digits, rest) = text.split_at(length);
    let value = digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    Some((value, rest))
}

/// Whether a byte goes on with a name or a number: it is neither white space nor a delimiter.
pub(super) const fn is_regular(byte: u8) -> bool {
    let is_delimiter = matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%');
    !is_white_space(byte) && !is_delimiter
}

/// Whether a byte is white space (ISO 32000-1 table 1).
pub(super) const fn is_white_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}
