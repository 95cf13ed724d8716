//! BER (X.690 section 8), which CMS allows besides DER and which streaming encoders write: lengths that are indefinite or longer than
//! need be, and octet strings in pieces.

use std::borrow::Cow;

use hammer_tlog::keys::der;

/// The bit of an identifier that says that elements are in it.
const CONSTRUCTED: u8 = 0x20;
/// Elements in one another, at most; a signature with a timestamp has 20.
const DEEPEST: usize = 64;
/// Elements that are read, at most: encoders write octets in pieces of a thousand.
const MOST_PIECES: usize = 1 << 20;

/// The same element with all lengths, and the octet strings in it that come in pieces, as DER has them. All else stays as it is: the
/// bytes themselves where there is nothing to change, and where they are no one element, or one too deep or of too many others.
///
/// Costs time as the bytes are long, and no more memory than them.
pub fn to_der(bytes: &[u8]) -> Cow<'_, [u8]> {
    let lengths = measured(bytes).filter(|measured| !measured.is_der).map(|measured| measured.lengths);
    let written = lengths.and_then(|lengths| written(bytes, &lengths));
    written.map_or(Cow::Borrowed(bytes), Cow::Owned)
}

/// What a first reading found.
struct Measured {
    /// How long the content of each constructed element will be, in the order in which they start.
    lengths: Vec<usize>,
    is_der: bool,
}

fn measured(bytes: &[u8]) -> Option<Measured> {
    let mut walk = Walk::new(bytes);
    let (mut lengths, mut open): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    while !walk.is_done() {
        let length = match walk.read()? {
            Piece::Start { .. } => {
                open.push(lengths.len());
                lengths.push(0);
                continue;
            }
            Piece::Whole { value, .. } => value.len(),
            Piece::End => lengths[open.pop()?],
        };
        if let Some(parent) = open.last() {
            lengths[*parent] += if walk.is_in_string() { length } else { der::element_length(length) };
        }
    }
    Some(Measured { lengths, is_der: walk.is_der })
}

fn written(bytes: &[u8], lengths: &[usize]) -> Option<Vec<u8>> {
    let mut walk = Walk::new(bytes);
    let mut out = Vec::with_capacity(der::element_length(*lengths.first()?));
    let mut lengths = lengths.iter();
    while !walk.is_done() {
        let is_in_string = walk.is_in_string();
        match walk.read()? {
            Piece::Start { tag } => {
                let length = *lengths.next()?;
                if !is_in_string {
                    der::write_header(&mut out, tag, length);
                }
            }
            Piece::Whole { value, .. } if is_in_string => out.extend_from_slice(value),
            Piece::Whole { tag, value } => der::write(&mut out, tag, value),
            Piece::End => {}
        }
    }
    Some(out)
}

/// What comes next of an element.
enum Piece<'a> {
    /// An element with others in it, by the tag that it has in DER.
    Start { tag: u8 },
    /// One with none.
    Whole { tag: u8, value: &'a [u8] },
    /// The end of the last that started.
    End,
}

/// An element that has started.
struct Open {
    /// Where it ends; none where that is marked by two zero bytes.
    end: Option<usize>,
    /// Where it ends at the latest.
    limit: usize,
    /// Whether it is an octet string in pieces.
    is_string: bool,
}

/// Reads one element from its start to its end.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    open: Vec<Open>,
    pieces: usize,
    is_der: bool,
}

impl<'a> Walk<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, open: Vec::new(), pieces: 0, is_der: true }
    }

    /// Whether the element has been read, and is all there is.
    fn is_done(&self) -> bool {
        self.open.is_empty() && self.at == self.bytes.len() && self.pieces > 0
    }

    /// Whether what comes next is a piece of an octet string.
    fn is_in_string(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_string)
    }

    /// What comes next; none where that is no BER, not read here or too much. Not to be asked when all is done.
    fn read(&mut self) -> Option<Piece<'a>> {
        self.pieces += 1;
        let is_at_end = self.open.last().is_some_and(|open| open.end == Some(self.at));
        if is_at_end {
            self.open.pop();
            return Some(Piece::End);
        }
        if self.pieces > MOST_PIECES || (self.open.is_empty() && self.at > 0) {
            return None;
        }
        let limit = self.open.last().map_or(self.bytes.len(), |open| open.limit);
        let (&tag, rest) = self.bytes[self.at..limit].split_first()?;
        let (length, rest) = self.read_length(rest)?;
        let start = limit - rest.len();
        if tag == 0 {
            // The end of contents.
            let is_marked = self.open.last().is_some_and(|open| open.end.is_none());
            (is_marked && self.bytes[self.at + 1] == 0).then(|| self.open.pop())?;
            self.at = start;
            return Some(Piece::End);
        }
        let is_known =
            tag & 0x1f != 0x1f && (!self.is_in_string() || tag & !CONSTRUCTED == der::OCTET_STRING);
        let end = match length {
            Some(length) => Some(start.checked_add(length).filter(|end| *end <= limit)?),
            None => None,
        };
        if !is_known || self.open.len() == DEEPEST {
            return None;
        }
        if tag & CONSTRUCTED == 0 {
            self.at = end?;
            return Some(Piece::Whole { tag, value: &self.bytes[start..self.at] });
        }
        let is_string = tag & !CONSTRUCTED == der::OCTET_STRING;
        self.is_der &= !is_string;
        self.open.push(Open { end, limit: end.unwrap_or(limit), is_string });
        self.at = start;
        Some(Piece::Start { tag: if is_string { der::OCTET_STRING } else { tag } })
    }

    /// The length, which is none where it is indefinite, and what follows it.
    fn read_length<'b>(&mut self, bytes: &'b [u8]) -> Option<(Option<usize>, &'b [u8])> {
        let (&first, rest) = bytes.split_first()?;
        if first < 0x80 {
            return Some((Some(usize::from(first)), rest));
        }
        let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        self.is_der &= !matches!(digits, [] | [0, ..] | [1..0x80]);
        if digits.is_empty() {
            return Some((None, rest));
        }
        let length = digits
            .iter()
            .try_fold(0_usize, |length, digit| Some(length.checked_mul(256)? + usize::from(*digit)))?;
        Some((Some(length), rest))
    }
}

#[cfg(test)]
mod tests;
