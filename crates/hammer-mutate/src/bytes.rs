use crate::rng::Rng;

/// One edit.
pub(crate) fn edit(rng: &mut Rng, out: &mut Vec<u8>, other: &[u8]) {
    match rng.below(14) {
        0 | 1 => flip_bit(rng, out),
        2 | 3 => set_byte(rng, out),
        4 => insert(rng, out),
        5 => drop(out.drain(rng.stretch(out.len()))),
        6 => repeat(rng, out),
        7 => out.truncate(rng.below(out.len())),
        8 => {
            let count = 1 + rng.below(40);
            out.extend(rng.some_bytes(count));
        }
        9 => splice(rng, out, other),
        10 | 11 => length(rng, out),
        12 => number(rng, out),
        _ => swap(rng, out),
    }
}

fn flip_bit(rng: &mut Rng, out: &mut [u8]) {
    let (at, bit) = (rng.below(out.len()), rng.below(8));
    if let Some(byte) = out.get_mut(at) {
        *byte ^= 1 << bit;
    }
}

fn set_byte(rng: &mut Rng, out: &mut [u8]) {
    let value = match rng.below(3) {
        0 => rng.bits() as u8,
        _ => *rng.of(&[&0, &0xff, &0x80, &0x7f, &b'\n', &b'\r', &b'=', &b'"', &b'+', &b'A', &b' ', &b'/']),
    };
    let at = rng.below(out.len());
    if let Some(byte) = out.get_mut(at) {
        *byte = value;
    }
}

fn insert(rng: &mut Rng, out: &mut Vec<u8>) {
    let (at, count) = (rng.below(out.len() + 1), 1 + rng.below(8));
    let inserted = if rng.one_in(2) { rng.some_bytes(count) } else { vec![rng.bits() as u8; count] };
    out.splice(at..at, inserted);
}

/// A stretch stands there once more, or many times.
fn repeat(rng: &mut Rng, out: &mut Vec<u8>) {
    let stretch = rng.stretch(out.len());
    let times = if rng.one_in(8) { 1 + rng.below(200) } else { 1 };
    let copy = out[stretch.clone()].repeat(times);
    out.splice(stretch.end..stretch.end, copy.into_iter().take(LONGEST_COPY));
}

fn splice(rng: &mut Rng, out: &mut Vec<u8>, other: &[u8]) {
    let (replaced, from) = (rng.stretch(out.len()), rng.stretch(other.len()));
    out.splice(replaced, other[from].iter().copied());
}

/// What may be a length, of one byte to eight, says something else.
fn length(rng: &mut Rng, out: &mut [u8]) {
    let width = *rng.of(&[&1, &2, &3, &4, &5, &8]);
    let at = rng.below(out.len());
    let Some(field) = out.get_mut(at..at + width) else { return };
    let now = field.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    let value = match rng.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => now.wrapping_add(1),
        3 => now.wrapping_sub(1),
        4 => now << 1,
        5 => 1 << 63 >> (64 - width * 8),
        6 => u64::MAX >> (65 - width * 8),
        _ => rng.below(300) as u64,
    };
    field.copy_from_slice(&value.to_be_bytes()[8 - width..]);
}

/// A run of digits says another number.
fn number(rng: &mut Rng, out: &mut Vec<u8>) {
    let from = rng.below(out.len());
    let Some(start) = out[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else { return };
    let end = out[start..].iter().position(|byte| !byte.is_ascii_digit()).map_or(out.len(), |at| start + at);
    out.splice(start..end, rng.of(&NUMBERS).bytes());
}

fn swap(rng: &mut Rng, out: &mut [u8]) {
    let (one, two) = (rng.below(out.len()), rng.below(out.len()));
    if one < out.len() && two < out.len() {
        out.swap(one, two);
    }
}

const LONGEST_COPY: usize = 4096;

/// Numbers at the edges of types, and texts that are nearly numbers.
pub(crate) const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "+1",
    "00",
    "007",
    "255",
    "256",
    "257",
    "65535",
    "65536",
    "16777216",
    "1099511627776",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999",
    "1e400",
    "0.5",
    "0x10",
];
