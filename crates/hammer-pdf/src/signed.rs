//! The signature in a document that came back: an incremental update (ISO 32000-1 section 7.5.6) behind the document that was sent, with a
//! signature dictionary whose `ByteRange` covers all but its own `Contents` (section 12.8.1; ETSI EN 319 142-1 section 4.2).

mod fault;
mod form;
mod last_signature;
mod object;
mod object_table;
mod scan_budget;
mod sections;
mod shown;
mod text;
mod token;

use std::borrow::Cow;
use std::ops::Range;

pub use self::fault::PdfFault;
pub use self::last_signature::LastSignature;
use self::object::{Dictionary, Object};
use self::object_table::ObjectTable;
use self::shown::check_shown;
use self::text::is_white_space;
use crate::document::Document;

/// A signature in a PDF, of which nothing is known but where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdfSignature {
    /// The DER of its CMS, without the zeros behind it.
    pub contents: Vec<u8>,
    /// Where its `Contents` stand in the file, brackets included: all else is signed.
    pub gap: Range<usize>,
}

impl PdfSignature {
    /// The one signature of `file`, which has to be the document that was sent with revisions behind it. These lead back to it, one
    /// `startxref` after the other. The last of each object counts: they leave what is on the page as it was, lay nothing over it, do nothing,
    /// and have one signature dictionary, which a field of the form has, of the form `ETSI.CAdES.detached`, and whose `ByteRange` leaves out its
    /// `Contents` and nothing else.
    ///
    /// # Errors
    /// The first thing that is wrong. Where something is not read here, which is unverified, it is that, unless another page is shown all the same.
    pub fn read(file: &[u8], sent: &Document) -> Result<Self, PdfFault> {
        if !sent.is_start_of(file) {
            return Err(PdfFault::Changed { what: "a byte of what was sent" });
        }
        let start = sent.len() as usize;
        if file.len() == start {
            return Err(PdfFault::Unsigned);
        }
        let objects = ObjectTable::read(file, sent)?;
        let found = Self::of(&objects, file, start);
        match (found, objects.unread()) {
            (Err(changed @ PdfFault::Changed { .. }), _) => Err(changed),
            (_, Some(unread)) => Err(unread),
            (Ok(_), None) if objects.passes_over_one() => {
                Err(PdfFault::Changed { what: "a revision that the last one passes over" })
            }
            (found, None) => found,
        }
    }

    fn of<'a>(objects: &ObjectTable<'a>, file: &'a [u8], start: usize) -> Result<Self, PdfFault> {
        let catalog = check_shown(objects)?;
        let signature = form::signature(objects, catalog)?;
        let gap = gap(objects, (file, start), signature)?;
        Ok(Self { contents: contents(&file[gap.start + 1..gap.end - 1])?, gap })
    }

    /// What is signed: all of the file but the gap.
    pub fn signed<'a>(&self, file: &'a [u8]) -> [&'a [u8]; 2] {
        [&file[..self.gap.start], &file[self.gap.end..]]
    }
}

/// The gap that the `ByteRange` of a signature dictionary leaves, which has to be its `Contents` and nothing else.
fn gap<'a>(
    objects: &ObjectTable<'a>,
    (file, start): (&'a [u8], usize),
    signature: Dictionary<'a>,
) -> Result<Range<usize>, PdfFault> {
    let [kind, form, range, contents] =
        objects.values(signature, ["Type", "SubFilter", "ByteRange", "Contents"])?;
    let Object::Array(range) = objects.resolved(range)? else { return Err(BYTE_RANGE) };
    let mut numbers = objects.elements(range)?;
    let mut four = [0; 4];
    for number in &mut four {
        let Some(Object::Integer(value)) = numbers.next().transpose()? else { return Err(BYTE_RANGE) };
        *number = usize::try_from(value).map_err(|_| BYTE_RANGE)?;
    }
    if numbers.next().is_some() {
        return Err(BYTE_RANGE);
    }
    let [first, before, second, behind] = four;
    let end = second.checked_add(behind).ok_or(PdfFault::ByteRange { what: "a length that overflows" })?;
    let signature = place(file, signature.0);
    let is_contents = |gap: Range<usize>| match contents {
        Object::String(contents @ [b'<', digits @ .., b'>']) => {
            place(file, contents) == gap && is_hexadecimal(digits)
        }
        _ => false,
    };
    let what = match () {
        () if first != 0 => "does not start with the file",
        () if end != file.len() => "does not end with the file",
        () if before < start || second < before + 2 => "has a gap in what was sent",
        () if before < signature.start || second > signature.end => {
            "has a gap outside of the signature dictionary"
        }
        () if !is_contents(before..second) => "leaves out more than Contents",
        () => {
            // One of a timestamp is another kind of signature (ISO 32000-2 section 12.8.5).
            let kind = objects.resolved(kind)?;
            let is_signature = kind.is_null() || kind.is_name("Sig");
            let is_asked_for = objects.resolved(form)?.is_name("ETSI.CAdES.detached");
            return if is_signature && is_asked_for { Ok(before..second) } else { Err(PdfFault::Form) };
        }
    };
    Err(PdfFault::ByteRange { what })
}

/// Where a part of the file stands in it.
fn place(file: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr() - file.as_ptr().addr();
    start..start + part.len()
}

/// Whether that is what stands between the brackets of a hexadecimal string: digits, and white space that nobody reads (ISO 32000-1 section
/// 7.3.4.3).
fn is_hexadecimal(text: &[u8]) -> bool {
    all(text, |byte| byte.is_ascii_hexdigit() | is_white_space(byte))
}

/// The DER in the text of a hexadecimal string, behind which are zeros alone.
fn contents(text: &[u8]) -> Result<Vec<u8>, PdfFault> {
    let malformed = PdfFault::Malformed { what: "Contents" };
    let digits = match all(text, |byte| !is_white_space(byte)) {
        true => Cow::Borrowed(text),
        false => text.iter().copied().filter(|byte| !is_white_space(*byte)).collect(),
    };
    let length = element_length(&of_pairs(&digits[..digits.len().min(2 * HEADER)]));
    let length = length.filter(|length| *length <= digits.len().div_ceil(2)).ok_or(malformed)?;
    // Most of it are the zeros.
    let (element, behind) = digits.split_at(digits.len().min(2 * length));
    if all(behind, |digit| digit == b'0') { Ok(of_pairs(element)) } else { Err(malformed) }
}

/// Whether that is so of each byte. Some dozens are looked at before the next is asked for, which is several times as fast as to stop at the first.
fn all(bytes: &[u8], is: impl Fn(u8) -> bool) -> bool {
    bytes.chunks(64).all(|chunk| chunk.iter().fold(true, |all, byte| all & is(*byte)))
}

/// The bytes that hexadecimal digits stand for. Behind a last digit without another a zero is meant.
fn of_pairs(digits: &[u8]) -> Vec<u8> {
    // Letters of both cases have the bit that digits have not, and start at one.
    let value = |digit: u8| (digit & 0xf) + 9 * (digit >> 6);
    let (pairs, last) = digits.as_chunks();
    let pairs = pairs.iter().map(|[high, low]| value(*high) << 4 | value(*low));
    pairs.chain(last.iter().map(|high| value(*high) << 4)).collect()
}

/// Bytes of the DER element that these start with, its header included.
fn element_length(bytes: &[u8]) -> Option<usize> {
    let first = usize::from(*bytes.get(1)?);
    if first < 0x80 {
        return Some(2 + first);
    }
    let count = first & 0x7f;
    if count == 0 || count > 4 {
        return None;
    }
    let digits = bytes.get(2..2 + count)?;
    let length = digits.iter().fold(0_usize, |length, digit| length << 8 | usize::from(*digit));
    length.checked_add(2 + count)
}

/// Bytes of the longest header of an element that is read.
const HEADER: usize = 6;
const BYTE_RANGE: PdfFault = PdfFault::Malformed { what: "ByteRange" };
