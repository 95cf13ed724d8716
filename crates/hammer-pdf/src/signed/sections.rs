//! The cross-reference sections of what was appended, from the last one back to that of the document (ISO 32000-1 section 7.5.4 to 7.5.6).

use super::fault::PdfFault;
use super::text::{find, number, number_after, reference_after};

/// An object that was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AppendedObject {
    pub(super) number: u64,
    /// Where `N 0 obj` starts.
    pub(super) start: usize,
    /// Behind its `endobj`.
    pub(super) end: usize,
}

impl AppendedObject {
    pub(super) fn text<'a>(&self, file: &'a [u8]) -> &'a [u8] {
        &file[self.start..self.end]
    }
}

/// What was appended.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// Objects, those of later revisions first.
    pub(super) objects: Vec<AppendedObject>,
    /// The numbers of objects that were freed.
    pub(super) freed: Vec<u64>,
    /// The catalog of each revision.
    pub(super) roots: Vec<Option<u64>>,
    /// How many bytes of objects and trailers may still be searched.
    unsearched: usize,
}

impl Sections {
    /// Those behind `start`, the first of which follows the section at `first`.
    pub(super) fn read(file: &[u8], start: usize, first: usize) -> Result<Self, PdfFault> {
        let appended = file.len() - start;
        let mut sections = Self { unsearched: appended.saturating_mul(MOST_SEARCHES), ..Self::default() };
        let mut visited = Vec::new();
        let mut at = last_section(&file[start..])?;
        while at != first {
            // Neither into what was sent, nor in a circle.
            if at < start || visited.contains(&at) || visited.len() == MOST_REVISIONS {
                return Err(PdfFault::Revisions);
            }
            visited.push(at);
            at = sections.take(file, (start, at))?;
        }
        Ok(sections)
    }

    /// Takes the section at that place; where the one before it is.
    fn take(&mut self, file: &[u8], (start, at): (usize, usize)) -> Result<usize, PdfFault> {
        let text = file.get(at..).ok_or(PdfFault::Revisions)?;
        let Some(mut rest) = text.strip_prefix(b"xref") else {
            return Err(match number(text) {
                Some(_) => PdfFault::XrefStream,
                None => PdfFault::Revisions,
            });
        };
        let malformed = PdfFault::Malformed { what: "cross-reference table" };
        loop {
            rest = rest.trim_ascii_start();
            if let Some(trailer) = rest.strip_prefix(b"trailer") {
                let end = find(trailer, b"startxref").ok_or(PdfFault::Malformed { what: "trailer" })?;
                self.count_search(end)?;
                let trailer = &trailer[..end];
                self.roots.push(reference_after(trailer, b"/Root"));
                let before = number_after(trailer, b"/Prev").ok_or(PdfFault::Revisions)?;
                return usize::try_from(before).map_err(|_| PdfFault::Revisions);
            }
            let (first, behind) = number(rest).ok_or(malformed)?;
            let (count, mut entries) = number(behind.trim_ascii_start()).ok_or(malformed)?;
            for place in 0..count {
                let (offset, behind) = number(entries.trim_ascii_start()).ok_or(malformed)?;
                let (_, behind) = number(behind.trim_ascii_start()).ok_or(malformed)?;
                let (kind, behind) = behind.trim_ascii_start().split_first().ok_or(malformed)?;
                let number = first + place;
                match kind {
                    b'f' if self.freed.len() == MOST_OBJECTS => return Err(malformed),
                    b'f' => self.freed.push(number),
                    b'n' => self.add(file, start, number, offset)?,
                    _ => return Err(malformed),
                }
                entries = behind;
            }
            rest = entries;
        }
    }

    /// Adds the object of that number at that offset.
    fn add(&mut self, file: &[u8], start: usize, number: u64, offset: u64) -> Result<(), PdfFault> {
        let malformed = PdfFault::Malformed { what: "object" };
        let at =
            usize::try_from(offset).ok().filter(|at| *at >= start && *at < file.len()).ok_or(malformed)?;
        let (found, behind) = self::number(&file[at..]).ok_or(malformed)?;
        let (_, behind) = self::number(behind.trim_ascii_start()).ok_or(malformed)?;
        if found != number || !behind.trim_ascii_start().starts_with(b"obj") {
            return Err(malformed);
        }
        let length = find(&file[at..], b"endobj").ok_or(malformed)?;
        if self.objects.len() == MOST_OBJECTS {
            return Err(malformed);
        }
        self.count_search(length)?;
        self.objects.push(AppendedObject { number, start: at, end: at + length + b"endobj".len() });
        Ok(())
    }

    /// Counts what was searched. Objects of a document do not overlap; where they do, each of thousands could be as long as the file.
    fn count_search(&mut self, bytes: usize) -> Result<(), PdfFault> {
        let rest = self.unsearched.checked_sub(bytes);
        self.unsearched = rest.ok_or(PdfFault::Malformed { what: "overlapping objects" })?;
        Ok(())
    }
}

/// Where the last section is, by the end of the file.
fn last_section(appended: &[u8]) -> Result<usize, PdfFault> {
    let end = &appended[appended.len().saturating_sub(LAST)..];
    let end = end.trim_ascii_end().strip_suffix(b"%%EOF").ok_or(PdfFault::Malformed { what: "end" })?;
    let at = end
        .windows(9)
        .rposition(|window| window == b"startxref")
        .ok_or(PdfFault::Malformed { what: "end" })?;
    let (offset, _) = number(end[at + 9..].trim_ascii_start()).ok_or(PdfFault::Malformed { what: "end" })?;
    usize::try_from(offset).map_err(|_| PdfFault::Revisions)
}

/// Bytes from the end in which readers look for it.
const LAST: usize = 1024;
/// A signature adds one revision, and a timestamp of the document another.
const MOST_REVISIONS: usize = 64;
/// A signature adds some ten, and frees none.
const MOST_OBJECTS: usize = 4096;
/// Objects that several revisions name are searched as often.
const MOST_SEARCHES: usize = 4;
