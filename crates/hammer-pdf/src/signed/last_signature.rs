use std::ops::Range;

use super::fault::PdfFault;
use super::text::{find, find_name, numbers_in_brackets};
use super::{contents, is_hexadecimal};

/// The last signature of a PDF that anybody made: where it stands, and what it covers. Nothing of it is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSignature {
    /// Where its `Contents` stand in the file, brackets included.
    pub gap: Range<usize>,
    /// Where what it covers ends.
    pub end: usize,
    /// The DER of its CMS, without the zeros behind it.
    pub contents: Vec<u8>,
}

impl LastSignature {
    /// That of `file`: the one whose `ByteRange` stands last, starts with the file, and leaves out a string of hexadecimal digits alone.
    ///
    /// # Errors
    /// A file without such a signature.
    pub fn read(file: &[u8]) -> Result<Self, PdfFault> {
        let at = memchr::memmem::rfind(file, BYTE_RANGE).ok_or(PdfFault::Unsigned)? + BYTE_RANGE.len();
        let numbers = numbers_in_brackets(&file[at..]).ok_or(PdfFault::Malformed { what: "ByteRange" })?;
        let [first, before, second, behind] = numbers;
        let end = second.checked_add(behind).filter(|end| *end <= file.len());
        let gap = file.get(before..second);
        let digits = gap.and_then(|gap| gap.strip_prefix(b"<")?.strip_suffix(b">"));
        let digits = digits.filter(|digits| first == 0 && is_hexadecimal(digits));
        match (digits, end) {
            (Some(digits), Some(end)) => Ok(Self { gap: before..second, end, contents: contents(digits)? }),
            _ => Err(PdfFault::ByteRange { what: "leaves out more than Contents" }),
        }
    }

    /// Where the digits of `contents` stand, two for each byte of it: white space may stand among them (ISO 32000-1 section 7.3.4.3).
    pub fn digits(&self, file: &[u8]) -> impl Iterator<Item = usize> {
        let is_digit = |at: &usize| file.get(*at).is_some_and(u8::is_ascii_hexdigit);
        self.gap.clone().filter(is_digit)
    }

    /// Where the data of streams stands that the signature covers, but for those that say where objects are (ISO 32000-1 sections 7.5.7
    /// and 7.5.8): what a reader that looks for signatures alone need not decode.
    pub fn streams(&self, file: &[u8]) -> Vec<Range<usize>> {
        let (mut streams, mut from) = (Vec::new(), 0);
        while let Some(at) = find(&file[from..self.end], STREAM).map(|at| from + at) {
            let start = at + STREAM.len();
            let line_end = match file[start..self.end] {
                [b'\r', b'\n', ..] => 2,
                [b'\n', ..] => 1,
                _ => 0,
            };
            from = start;
            if line_end == 0 || file[..at].ends_with(b"end") {
                continue;
            }
            // Without one here there is none behind, either.
            let Some(length) = find(&file[start..self.end], END_STREAM) else { break };
            let data = start + line_end..(start + length).max(start + line_end);
            from = start + length + END_STREAM.len();
            let dictionary = dictionary_before(file, at);
            let says_where = STRUCTURE.iter().any(|name| find_name(dictionary, name).is_some());
            let is_covered = data.end <= self.gap.start || data.start >= self.gap.end;
            if !says_where && is_covered && !data.is_empty() {
                streams.push(data);
            }
        }
        streams
    }
}

/// What stands between the start of the object and its stream, as far as any dictionary of a stream goes.
fn dictionary_before(file: &[u8], at: usize) -> &[u8] {
    let text = &file[at.saturating_sub(LONGEST_DICTIONARY)..at];
    let start = text.windows(OBJECT.len()).rposition(|word| word == OBJECT);
    &text[start.unwrap_or(0)..]
}

const BYTE_RANGE: &[u8] = b"/ByteRange";
const STREAM: &[u8] = b"stream";
const END_STREAM: &[u8] = b"endstream";
const OBJECT: &[u8] = b" obj";
/// Cross-references and objects in streams.
const STRUCTURE: [&[u8]; 2] = [b"/XRef", b"/ObjStm"];
const LONGEST_DICTIONARY: usize = 4096;
