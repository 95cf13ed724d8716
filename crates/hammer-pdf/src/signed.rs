//! The signature in a document that came back: an incremental update (ISO 32000-1 section 7.5.6) behind the document that was sent, with a
//! signature dictionary whose `ByteRange` covers all but its own `Contents` (section 12.8.1; ETSI EN 319 142-1 section 4.2).

mod fault;
mod last_signature;
mod sections;
mod text;

use std::ops::Range;

pub use self::fault::PdfFault;
pub use self::last_signature::LastSignature;
use self::sections::{AppendedObject, Sections};
use self::text::{find_name, is_white_space, name_after, number_after, numbers_in_brackets, reference_after};
use crate::document::{Document, object};

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
    /// `startxref` after the other, leave what is on its page as it was, and have one signature dictionary, which a field names, of the form
    /// `ETSI.CAdES.detached`, and whose `ByteRange` leaves out its `Contents` and nothing else.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read(file: &[u8], sent: &Document) -> Result<Self, PdfFault> {
        if !sent.is_start_of(file) {
            return Err(PdfFault::Changed { what: "a byte of what was sent" });
        }
        let start = sent.len() as usize;
        if file.len() == start {
            return Err(PdfFault::Unsigned);
        }
        let sections = Sections::read(file, start, sent.xref() as usize)?;
        check_kept(file, &sections)?;
        let mut signatures =
            sections.objects.iter().filter(|object| find_name(object.text(file), b"/ByteRange").is_some());
        let signature = signatures.next().ok_or(PdfFault::Unsigned)?;
        if signatures.next().is_some() {
            return Err(PdfFault::Several);
        }
        let gap = gap(file, start, signature)?;
        // What stands in the dictionary beside its Contents, which is long and of no names.
        let around = [&file[signature.start..gap.start], &file[gap.end..signature.end]];
        let sub_filter = around.iter().find_map(|text| name_after(text, b"/SubFilter"));
        if sub_filter != Some(b"ETSI.CAdES.detached") {
            return Err(PdfFault::Form);
        }
        let is_field = |object: &&AppendedObject| {
            let text = object.text(file);
            reference_after(text, b"/V") == Some(signature.number) && name_after(text, b"/FT") == Some(b"Sig")
        };
        sections.objects.iter().find(is_field).ok_or(PdfFault::NoField)?;
        // Readers look for fields nowhere else (section 12.7.2).
        let is_form = |object: &AppendedObject| {
            object.number == object::CATALOG && find_name(object.text(file), b"/AcroForm").is_some()
        };
        if !sections.objects.iter().any(is_form) {
            return Err(PdfFault::NoField);
        }
        Ok(Self { contents: contents(&file[gap.start + 1..gap.end - 1])?, gap })
    }

    /// What is signed: all of the file but the gap.
    pub fn signed<'a>(&self, file: &'a [u8]) -> [&'a [u8]; 2] {
        [&file[..self.gap.start], &file[self.gap.end..]]
    }
}

/// Whether what is on the page is what was sent: a revision that puts others in the place of its objects shows another document.
fn check_kept(file: &[u8], sections: &Sections) -> Result<(), PdfFault> {
    let is_kept = |number| [object::PAGES, object::CONTENT, object::FONT, object::FILLER].contains(&number);
    if sections.freed.iter().any(|number| (1..object::COUNT).contains(number)) {
        return Err(PdfFault::Changed { what: "an object, which was freed" });
    }
    if sections.roots.iter().any(|root| *root != Some(object::CATALOG)) {
        return Err(PdfFault::Changed { what: "the catalog, in whose place is another" });
    }
    for object in &sections.objects {
        let text = object.text(file);
        let what = match object.number {
            number if is_kept(number) => Some("an object of the page"),
            object::CATALOG if reference_after(text, b"/Pages") != Some(object::PAGES) => {
                Some("the catalog, which names other pages")
            }
            object::CATALOG if ACTIONS.iter().any(|action| find_name(text, action).is_some()) => {
                Some("the catalog, which has an action")
            }
            object::PAGE if reference_after(text, b"/Contents") != Some(object::CONTENT) => {
                Some("the page, which names another content")
            }
            object::PAGE if !is_box_kept(text) => Some("the page, whose box or rotation is another"),
            // Of a field that is signed there is a widget; nobody asked for another annotation.
            _ if find_name(text, b"/Annot").is_some() && find_name(text, b"/Widget").is_none() => {
                Some("the page, which has an annotation")
            }
            _ => None,
        };
        if let Some(what) = what {
            return Err(PdfFault::Changed { what });
        }
    }
    Ok(())
}

/// Whether a page that was put in the place of the one that was sent shows as much of it. A box in decimals, as some write it, is not compared.
fn is_box_kept(page: &[u8]) -> bool {
    let Some(at) = find_name(page, b"/MediaBox") else { return false };
    let media = numbers_in_brackets(&page[at + b"/MediaBox".len()..]);
    let is_cut = find_name(page, b"/CropBox").is_some();
    let is_turned = find_name(page, b"/Rotate").is_some() && number_after(page, b"/Rotate") != Some(0);
    media.is_none_or(|media| media == object::MEDIA_BOX) && !is_cut && !is_turned
}

/// What a catalog has done as somebody opens the document (section 12.6).
const ACTIONS: [&[u8]; 3] = [b"/OpenAction", b"/AA", b"/JavaScript"];

/// The gap that the `ByteRange` of a signature dictionary leaves, which has to be its `Contents` and nothing else.
fn gap(file: &[u8], start: usize, signature: &AppendedObject) -> Result<Range<usize>, PdfFault> {
    let text = signature.text(file);
    let at = find_name(text, b"/ByteRange").unwrap_or(0) + b"/ByteRange".len();
    let numbers = numbers_in_brackets(&text[at..]).ok_or(PdfFault::Malformed { what: "ByteRange" })?;
    let [first, before, second, behind] = numbers;
    let end = second.checked_add(behind).ok_or(PdfFault::ByteRange { what: "a length that overflows" })?;
    let what = match () {
        () if first != 0 => Some("does not start with the file"),
        () if end != file.len() => Some("does not end with the file"),
        () if before < start || second < before + 2 => Some("has a gap in what was sent"),
        () if before < signature.start || second > signature.end => {
            Some("has a gap outside of the signature dictionary")
        }
        () => None,
    };
    if let Some(what) = what {
        return Err(PdfFault::ByteRange { what });
    }
    let gap = &file[before..second];
    let is_hex = is_hexadecimal(&gap[1..gap.len() - 1]);
    let ahead = file[signature.start..before].trim_ascii_end();
    if gap[0] != b'<' || gap[gap.len() - 1] != b'>' || !is_hex || !ahead.ends_with(b"/Contents") {
        return Err(PdfFault::ByteRange { what: "leaves out more than Contents" });
    }
    Ok(before..second)
}

/// Whether that is what stands between the brackets of a hexadecimal string: digits, and white space that nobody reads (ISO 32000-1 section
/// 7.3.4.3).
fn is_hexadecimal(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_hexdigit() || is_white_space(*byte))
}

/// The DER in the text of a hexadecimal string, behind which are zeros alone.
fn contents(text: &[u8]) -> Result<Vec<u8>, PdfFault> {
    let malformed = PdfFault::Malformed { what: "Contents" };
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    };
    let of_pairs = |digits: &[u8]| -> Vec<u8> {
        // Behind a last digit without another a zero is meant.
        digits.chunks(2).map(|pair| digit(pair[0]) << 4 | pair.get(1).map_or(0, |low| digit(*low))).collect()
    };
    let mut bytes = match text.iter().any(|byte| is_white_space(*byte)) {
        true => {
            let digits: Vec<u8> = text.iter().copied().filter(|byte| !is_white_space(*byte)).collect();
            of_pairs(&digits)
        }
        false => of_pairs(text),
    };
    let length = element_length(&bytes).filter(|length| *length <= bytes.len()).ok_or(malformed)?;
    if bytes[length..].iter().any(|byte| *byte != 0) {
        return Err(malformed);
    }
    bytes.truncate(length);
    Ok(bytes)
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
