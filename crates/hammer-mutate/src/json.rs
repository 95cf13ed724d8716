use std::ops::Range;

use crate::bytes::NUMBERS;
use crate::rng::Rng;

/// One edit by tokens; whether there were any.
pub(crate) fn edit(rng: &mut Rng, out: &mut Vec<u8>) -> bool {
    let tokens = tokens(out);
    if tokens.is_empty() {
        return false;
    }
    let one = tokens[rng.below(tokens.len())].clone();
    let two = tokens[rng.below(tokens.len())].clone();
    match rng.below(8) {
        0..=2 => {
            let value = value(rng);
            out.splice(one, value);
        }
        3 => {
            let other = out[two].to_vec();
            out.splice(one, other);
        }
        4 => within(rng, out, one),
        5 => twice(out, one.start.min(two.start)..one.end.max(two.end)),
        6 => drop(out.drain(one.start.min(two.start)..one.end.max(two.end))),
        _ => {
            let space = rng.of(&[" ", "\n\t", ",", ":", "\u{feff}", "/**/"]);
            out.splice(one.start..one.start, space.bytes());
        }
    }
    true
}

/// Where the strings (keys too), numbers and words stand.
fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(&byte) = text.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => {
                while let Some(&byte) = text.get(at).filter(|byte| **byte != b'"') {
                    at += if byte == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(text.len());
            }
            b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                at += text[at..].iter().take_while(|byte| is_part(byte)).count();
            }
            _ => continue,
        }
        tokens.push(start..at);
    }
    tokens
}

/// A value that is probably not what stood there.
fn value(rng: &mut Rng) -> Vec<u8> {
    match rng.below(8) {
        0 => rng.of(&["null", "true", "false", "\"\"", "[]", "{}", "[{}]", "{\"\":0}"]).into(),
        1..=3 => rng.of(&NUMBERS).into(),
        4 => rng
            .of(&["\"=\"", "\"AA\"", "\"AA==\"", "\"\\u0000\"", "\"\\ud800\"", "\"-\"", "\"\u{fffd}\""])
            .into(),
        5 => {
            let (open, close) = *rng.of(&[&("[", "]"), &("{\"a\":", "}")]);
            let deepest = if rng.one_in(4) { 3000 } else { 150 };
            let depth = 1 + rng.below(deepest);
            let end = if rng.one_in(2) { close.repeat(depth) } else { String::new() };
            format!("{}0{end}", open.repeat(depth)).into()
        }
        6 => format!("\"{}\"", "QUJD".repeat(rng.below(300))).into(),
        _ => {
            let alphabet = rng.of(&[b"ABab01+/=".as_slice(), b"\\\"u0{}[]"]);
            let count = rng.below(50);
            let text: Vec<u8> = (0..count).map(|_| alphabet[rng.below(alphabet.len())]).collect();
            [b"\"".as_slice(), &text, b"\""].concat()
        }
    }
}

/// One character of a token becomes another that may stand in base64 and in numbers.
fn within(rng: &mut Rng, out: &mut [u8], token: Range<usize>) {
    let at = token.start + rng.below(token.len());
    out[at] = *rng.of(&[&b'0', &b'1', &b'9', &b'A', &b'Q', &b'z', &b'/', &b'+', &b'=', &b'-', &b'.']);
}

/// The stretch stands there once more, behind a comma.
fn twice(out: &mut Vec<u8>, stretch: Range<usize>) {
    let copy = [b",", &out[stretch.clone()]].concat();
    out.splice(stretch.end..stretch.end, copy);
}
