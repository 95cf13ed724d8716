//! The cross-reference sections of what was appended, from the last one back to that of the document (ISO 32000-1 section 7.5.4 to 7.5.6).

use memchr::memmem;

use super::fault::PdfFault;
use super::object::{Object, Reference};
use super::scan_budget::ScanBudget;
use super::text::{is_white_space, number};
use super::token::Tokens;
use crate::document::object;

/// What the last section that has an object says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) reference: Reference,
    /// Where `N G obj` starts; `None` of one that was freed.
    pub(super) offset: Option<usize>,
    /// Its section, the last one of the file being 0.
    section: usize,
}

/// What was appended.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// By number, one for each.
    pub(super) entries: Vec<Entry>,
    /// The catalog that the last trailer names.
    pub(super) root: Option<Reference>,
    /// How many there are.
    pub(super) count: usize,
    /// What is not read here of the sections or what they say of.
    pub(super) unread: Option<PdfFault>,
    /// The number that those of all objects are below, as the last trailer says.
    size: u64,
}

impl Sections {
    /// Those behind `start`, the first of which follows the section at `first`.
    pub(super) fn read(
        file: &[u8],
        (start, first): (usize, usize),
        budget: &ScanBudget,
    ) -> Result<Self, PdfFault> {
        let mut sections = Self { root: Some(Reference::to(object::CATALOG)), ..Self::default() };
        let mut visited = Vec::new();
        let mut at = last_section(&file[start..])?;
        while at != first {
            // Neither into what was sent, nor in a circle.
            if at < start || visited.contains(&at) || visited.len() == MOST_REVISIONS {
                return Err(PdfFault::Revisions);
            }
            let text = file.get(at..).ok_or(PdfFault::Revisions)?;
            let Some(text) = text.strip_prefix(b"xref") else {
                let is_stream = number(text).is_some();
                let fault = if is_stream { PdfFault::XrefStream } else { PdfFault::Revisions };
                if !is_stream || visited.is_empty() {
                    return Err(fault);
                }
                sections.unread = Some(fault);
                break;
            };
            let section = visited.len();
            visited.push(at);
            let trailer = sections.take_table(text, section)?;
            at = sections.take_trailer(trailer, section, budget)?;
        }
        sections.count = visited.len();
        sections.keep_last()?;
        Ok(sections)
    }

    /// Takes the table that stands there; what is behind it.
    fn take_table<'a>(&mut self, mut rest: &'a [u8], section: usize) -> Result<&'a [u8], PdfFault> {
        loop {
            rest = rest.trim_ascii_start();
            if let Some(trailer) = rest.strip_prefix(b"trailer") {
                return Ok(trailer);
            }
            let (first, behind) = number(rest).ok_or(TABLE)?;
            let (count, mut entries) = number(behind.trim_ascii_start()).ok_or(TABLE)?;
            for place in 0..count {
                let (offset, behind) = number(entries.trim_ascii_start()).ok_or(TABLE)?;
                let (generation, behind) = number(behind.trim_ascii_start()).ok_or(TABLE)?;
                let (kind, behind) = behind.trim_ascii_start().split_first().ok_or(TABLE)?;
                let offset = match kind {
                    b'n' => Some(usize::try_from(offset).map_err(|_| TABLE)?),
                    b'f' => None,
                    _ => return Err(TABLE),
                };
                let reference = Reference { number: first + place, generation };
                if self.entries.len() == MOST_OBJECTS {
                    return Err(TABLE);
                }
                self.entries.push(Entry { reference, offset, section });
                entries = behind;
            }
            rest = entries;
        }
    }

    /// Takes the trailer that stands there; where the section before it is.
    fn take_trailer(&mut self, text: &[u8], section: usize, budget: &ScanBudget) -> Result<usize, PdfFault> {
        let mut tokens = Tokens::new(text);
        let trailer = Object::read(&mut tokens)?;
        budget.count(2 * tokens.at())?;
        let Some(Object::Dictionary(trailer)) = trailer else { return Err(TRAILER) };
        let [root, size, prev, stream, encrypt] =
            trailer.values(["Root", "Size", "Prev", "XRefStm", "Encrypt"])?;
        if section == 0 {
            let Object::Integer(size) = size else { return Err(TRAILER) };
            self.size = u64::try_from(size).map_err(|_| TRAILER)?;
            self.root = if let Object::Reference(root) = root { Some(root) } else { None };
        }
        if !encrypt.is_null() {
            self.unread = Some(PdfFault::Encrypted);
        } else if !stream.is_null() {
            self.unread = Some(PdfFault::XrefStream);
        }
        let Object::Integer(prev) = prev else { return Err(PdfFault::Revisions) };
        usize::try_from(prev).map_err(|_| PdfFault::Revisions)
    }

    /// Keeps of each object what the last section says.
    fn keep_last(&mut self) -> Result<(), PdfFault> {
        self.entries.sort_unstable_by_key(|entry| (entry.reference.number, entry.section));
        let is_twice = |pair: &[Entry]| {
            pair[0].reference.number == pair[1].reference.number && pair[0].section == pair[1].section
        };
        if self.entries.windows(2).any(is_twice) {
            return Err(TABLE);
        }
        self.entries.dedup_by_key(|entry| entry.reference.number);
        // The first of the list of free objects is none itself (section 7.5.4).
        self.entries.retain(|entry| entry.reference.number != 0);
        // Some readers leave out what is beyond (section 7.5.5), and others do not.
        match self.entries.last() {
            Some(last) if last.reference.number >= self.size => Err(PdfFault::Malformed { what: "Size" }),
            _ => Ok(()),
        }
    }
}

/// Where the last section is, by the end of the file.
fn last_section(appended: &[u8]) -> Result<usize, PdfFault> {
    let end = &appended[appended.len().saturating_sub(LAST)..];
    let blank = end.iter().rev().take_while(|byte| is_white_space(**byte)).count();
    let end = end[..end.len() - blank].strip_suffix(b"%%EOF").ok_or(END)?;
    let at = memmem::rfind(end, STARTXREF).ok_or(END)?;
    let (offset, _) = number(end[at + 9..].trim_ascii_start()).ok_or(END)?;
    usize::try_from(offset).map_err(|_| PdfFault::Revisions)
}

/// Bytes from the end in which readers look for it.
const LAST: usize = 1024;
/// What leads to a section (section 7.5.5).
pub(super) const STARTXREF: &[u8] = b"startxref";
/// A signature adds one revision, and a timestamp of the document another.
const MOST_REVISIONS: usize = 64;
/// A signature adds some ten, and frees none.
const MOST_OBJECTS: usize = 4096;
const END: PdfFault = PdfFault::Malformed { what: "end" };
const TABLE: PdfFault = PdfFault::Malformed { what: "cross-reference table" };
const TRAILER: PdfFault = PdfFault::Malformed { what: "trailer" };
