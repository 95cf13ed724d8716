//! The revision of a PDF with a signature (ISO 32000-1 sections 7.5.6 and 12.8.1): an incremental update behind the document, whose
//! signature dictionary leaves room for a CMS.

use std::str;

/// A document with the revision behind it that waits for its signature.
#[derive(Debug, Clone)]
pub struct SignedRevision {
    file: Vec<u8>,
    /// Bytes of the document that the file starts with.
    document: usize,
    /// Where the digits of `Contents` stand.
    digits: usize,
    /// Bytes that are not signed beside them, before and behind.
    left_out: usize,
}

/// Why no revision is put behind a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnusableDocument {
    /// What is missing in it, or not of the form that is read here.
    #[error("read the PDF: {0}")]
    Form(&'static str),
    /// The signature does not fit where there is room for it.
    #[error("put {bytes} bytes into a room for {ROOM}")]
    Room {
        /// Bytes of the CMS.
        bytes: usize,
    },
}

/// The objects of a document that a revision is made from.
struct Objects<'a> {
    document: &'a [u8],
    /// Where its cross-reference table starts.
    xref: usize,
    /// Where each object starts, by its number.
    offsets: Vec<usize>,
    root: usize,
    /// The value of `ID`, with its name.
    id: &'a str,
}

impl SignedRevision {
    /// Puts a revision with an empty signature behind `document`, which has one table of objects, and a catalog and a page that are written
    /// without dictionaries in them that hold a name which is asked for. The time that it states is text as in `M` (section 7.9.4).
    ///
    /// # Errors
    /// A document that is not of that form.
    pub fn behind(document: &[u8], time: &str) -> Result<Self, UnusableDocument> {
        let objects = Objects::of(document)?;
        let catalog = objects.dictionary(objects.root)?;
        let pages = objects.dictionary(reference(catalog, "/Pages")?)?;
        let page = reference(pages, "/Kids[")?;
        let page_text = objects.dictionary(page)?;
        let (signature, field) = (objects.offsets.len(), objects.offsets.len() + 1);
        let room = "0".repeat(2 * ROOM);
        let mut appended: Vec<(usize, String)> = vec![
            (objects.root, format!("<<{catalog}/AcroForm<</Fields[{field} 0 R]/SigFlags 3>>>>")),
            (page, format!("<<{page_text}/Annots[{field} 0 R]>>")),
            (
                signature,
                format!(
                    "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M({time}){HOLE}/Contents<{room}>>>"
                ),
            ),
            (
                field,
                format!(
                    "<</Type/Annot/Subtype/Widget/FT/Sig/T(Signature1)/Rect[0 0 0 0]/F 132/V {signature} 0 R/P {page} 0 R>>"
                ),
            ),
        ];
        appended.sort_by_key(|(number, _)| *number);
        let (mut file, mut table) = (document.to_vec(), "xref\n0 1\n0000000000 65535 f \n".to_owned());
        for (number, text) in &appended {
            table += &format!("{number} 1\n{:010} 00000 n \n", file.len());
            file.extend_from_slice(format!("{number} 0 obj\n{text}\nendobj\n").as_bytes());
        }
        let (at, size) = (file.len(), field + 1);
        let Objects { root, xref, id, .. } = objects;
        let trailer = format!("trailer\n<</Size {size}/Root {root} 0 R{id}/Prev {xref}>>\n");
        file.extend_from_slice(format!("{table}{trailer}startxref\n{at}\n%%EOF\n").as_bytes());
        Ok(Self::with_byte_range(file, document.len()))
    }

    /// Writes the numbers, which have the same room whatever they are, into a file whose revision starts there.
    fn with_byte_range(mut file: Vec<u8>, revision: usize) -> Self {
        let hole = revision + find(&file[revision..], HOLE.as_bytes()).unwrap_or_default();
        let start = hole + HOLE.len() + "/Contents".len();
        let end = start + 2 * ROOM + 2;
        let range = format!("/ByteRange[0 {start:010} {end:010} {:010}]", file.len() - end);
        file[hole..hole + range.len()].copy_from_slice(range.as_bytes());
        Self { file, document: revision, digits: start + 1, left_out: 1 }
    }

    /// What is signed: all but the signature.
    #[must_use]
    pub fn signed(&self) -> [&[u8]; 2] {
        let end = self.digits + 2 * ROOM + self.left_out;
        [&self.file[..self.digits - self.left_out], &self.file[end..]]
    }

    /// Leaves out more than `Contents`, and says so in `ByteRange`.
    pub(crate) fn leave_out_more(&mut self) {
        let (hole, more) = (self.digits - 1 - "/Contents".len() - HOLE.len(), 2);
        self.left_out = more;
        let (start, end) = (self.digits - more, self.digits + 2 * ROOM + more);
        let range = format!("/ByteRange[0 {start:010} {end:010} {:010}]", self.file.len() - end);
        self.file[hole..hole + range.len()].copy_from_slice(range.as_bytes());
    }

    /// Changes a byte of the document, in its head, that shows nowhere.
    pub(crate) fn change_document(&mut self) {
        if let Some(byte) = self.file.get_mut(BINARY_COMMENT) {
            *byte ^= 1;
        }
    }

    /// Takes the document out, so that it can be kept elsewhere until it is put back.
    #[must_use]
    pub fn take_document(&mut self) -> Vec<u8> {
        let revision = self.file.split_off(self.document);
        std::mem::replace(&mut self.file, revision)
    }

    /// Puts back what was taken out.
    pub fn put_document(&mut self, mut document: Vec<u8>) {
        document.append(&mut self.file);
        self.file = document;
    }

    /// The file with the DER of its CMS.
    ///
    /// # Errors
    /// One that is longer than the room for it.
    pub fn filled(mut self, cms: &[u8]) -> Result<Vec<u8>, UnusableDocument> {
        if cms.len() > ROOM {
            return Err(UnusableDocument::Room { bytes: cms.len() });
        }
        let digits = &mut self.file[self.digits..self.digits + 2 * cms.len()];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(cms) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        Ok(self.file)
    }
}

impl<'a> Objects<'a> {
    fn of(document: &'a [u8]) -> Result<Self, UnusableDocument> {
        let form = UnusableDocument::Form;
        let tail = &document[document.len().saturating_sub(TAIL)..];
        let at = tail.windows(START.len()).rposition(|window| window == START.as_bytes());
        let at = at.ok_or(form("it has no startxref"))? + START.len();
        let xref = number(tail[at..].trim_ascii_start()).ok_or(form("startxref has no number"))?;
        let table = document.get(xref..).and_then(|table| table.strip_prefix(b"xref\n0 "));
        let table = table.ok_or(form("its cross-reference table is not one section from 0 on"))?;
        let count = number(table).ok_or(form("its cross-reference table has no length"))?;
        let lines = table.iter().position(|byte| *byte == b'\n').map(|end| &table[end + 1..]);
        let lines = lines.filter(|lines| lines.len() / LINE >= count).ok_or(form("its table is cut off"))?;
        let offsets = lines.chunks_exact(LINE).take(count).map(number).collect::<Option<Vec<_>>>();
        let offsets = offsets.ok_or(form("its table has an offset that is none"))?;
        let trailer = str::from_utf8(&lines[count * LINE..]).map_err(|_| form("its trailer is no text"))?;
        let root = reference(trailer, "/Root")?;
        let id = trailer.find("/ID[").and_then(|at| {
            let end = trailer[at..].find(']')?;
            Some(&trailer[at..=at + end])
        });
        Ok(Self { document, xref, offsets, root, id: id.unwrap_or_default() })
    }

    /// What stands in the dictionary of an object, without its brackets.
    fn dictionary(&self, number: usize) -> Result<&'a str, UnusableDocument> {
        let form = UnusableDocument::Form;
        let object = self.offsets.get(number).and_then(|at| self.document.get(*at..));
        let object = object.ok_or(form("it names an object that it has not"))?;
        let end = find(object, b"\nendobj").ok_or(form("an object has no end"))?;
        let text = str::from_utf8(&object[..end]).map_err(|_| form("a dictionary is no text"))?;
        let start = format!("{number} 0 obj\n<<");
        let inner = text.strip_prefix(start.as_str()).and_then(|text| text.strip_suffix(">>"));
        inner.ok_or(form("an object is no dictionary"))
    }
}

/// The number of the object that stands behind a name.
fn reference(text: &str, name: &str) -> Result<usize, UnusableDocument> {
    let behind = text.find(name).map(|at| text[at + name.len()..].trim_start());
    behind.and_then(|behind| number(behind.as_bytes())).ok_or(UnusableDocument::Form("it lacks a reference"))
}

/// The decimal number that these bytes start with.
fn number(bytes: &[u8]) -> Option<usize> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&bytes[..digits]).ok()?.parse().ok()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Where a byte of the comment stands that says that the file is binary (section 7.5.2).
const BINARY_COMMENT: usize = 10;
/// Bytes that a CMS may have: with a timestamp and the chains of both.
pub const ROOM: usize = 12 << 10;
/// In its place the numbers are written once all else is there; each has ten digits.
const HOLE: &str = "/ByteRange[0 0000000000 0000000000 0000000000]";
const START: &str = "startxref";
/// Bytes at the end in which `startxref` stands.
const TAIL: usize = 1 << 10;
/// Bytes of a line of a cross-reference table (section 7.5.4).
const LINE: usize = 20;
const DIGITS: &[u8; 16] = b"0123456789abcdef";
