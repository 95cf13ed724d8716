//! Documents, each a valid PDF 1.7 of an exact length, pure in a key and a number: one page with a line of text, and bytes that no
//! compression makes shorter. Documents of a key start with the same bytes, and what is their own stands at their end, so that what was once
//! worked out of a start, as the state of a hash function, holds for all of them.

use std::ops::Range;
use std::sync::LazyLock;

/// The objects of a document, by their numbers.
pub mod object {
    /// The catalog, which a signature changes: it has the form's fields.
    pub const CATALOG: u64 = 1;
    /// The tree of pages.
    pub const PAGES: u64 = 2;
    /// The page, which a signature changes: it has the field's annotation.
    pub const PAGE: u64 = 3;
    /// What is on the page.
    pub const CONTENT: u64 = 4;
    /// Its font.
    pub const FONT: u64 = 5;
    /// What the content calls it.
    pub const FONT_NAME: &str = "F1";
    /// The filler.
    pub const FILLER: u64 = 6;
    /// How long it is.
    pub const FILLER_LENGTH: u64 = 7;
    /// The box of the page, which shows all of it.
    pub const MEDIA_BOX: [usize; 4] = [0, 0, 595, 842];
    /// How many there are, the free one of number 0 included.
    pub const COUNT: u64 = 8;
}

/// A document. What stands behind its filler is held, and the filler made where it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    filler_key: u64,
    filler: u64,
    /// The words that each block of the filler is made of, as many as it has at most.
    words: Vec<u64>,
    tail: Vec<u8>,
    xref: u64,
}

/// Why no document is of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnfitLength {
    /// What stands around the filler is longer.
    #[error("make a document of {length} bytes: it has {least} at least")]
    TooShort {
        /// Bytes asked for.
        length: u64,
        /// Bytes of the shortest.
        least: u64,
    },
    /// An offset of ten digits would not reach its end.
    #[error("make a document of {length} bytes: it has {most} at most")]
    TooLong {
        /// Bytes asked for.
        length: u64,
        /// Bytes of the longest.
        most: u64,
    },
}

impl Document {
    /// The document of a key and a number, of exactly that many bytes.
    ///
    /// # Errors
    /// Where it is shorter than what stands around the filler, some 800 bytes, or longer than an offset of ten digits reaches.
    pub fn new(key: u64, number: u64, length: u64) -> Result<Self, UnfitLength> {
        let least = (AROUND.head.len() + AROUND.tail.len()) as u64;
        match length.checked_sub(least) {
            None => Err(UnfitLength::TooShort { length, least }),
            Some(_) if length > LONGEST => Err(UnfitLength::TooLong { length, most: LONGEST }),
            Some(filler) => Ok(Self::with_filler(key, number, filler)),
        }
    }

    fn with_filler(key: u64, number: u64, filler: u64) -> Self {
        let around = &*AROUND;
        let filler_key = mix(key);
        let mut tail = around.tail.clone();
        let own = mix(filler_key ^ mix(number));
        let id = [own, mix(own)];
        let xref = around.shifted(around.xref, filler);
        write_digits(10, number, &mut tail[around.number.clone()]);
        write_digits(16, key, &mut tail[around.key.clone()]);
        write_digits(10, filler, &mut tail[around.filler.clone()]);
        for (object, place) in &around.entries {
            write_digits(10, around.shifted(around.offsets[*object], filler), &mut tail[place.clone()]);
        }
        for place in &around.ids {
            for (half, part) in tail[place.clone()].chunks_exact_mut(ID / 2).zip(id) {
                write_digits(16, part, half);
            }
        }
        write_digits(10, xref, &mut tail[around.startxref.clone()]);
        let words = (0..WORDS.min(filler.div_ceil(8))).map(|place| word(filler_key, place)).collect();
        Self { filler_key, filler, words, tail, xref }
    }

    /// Bytes of it.
    pub fn len(&self) -> u64 {
        self.common() + self.tail.len() as u64
    }

    /// Bytes at its start that are those of any document of its key that has as many.
    pub fn common(&self) -> u64 {
        AROUND.head.len() as u64 + self.filler
    }

    /// It never is.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Where its cross-reference table starts: what the first revision that follows names as its predecessor.
    pub const fn xref(&self) -> u64 {
        self.xref
    }

    /// Where the object of that number starts.
    pub fn offset(&self, number: u64) -> Option<usize> {
        let offset = *AROUND.offsets.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
        usize::try_from(AROUND.shifted(offset, self.filler)).ok()
    }

    /// Appends the bytes of that range, as far as there are any.
    pub fn append(&self, range: Range<u64>, out: &mut Vec<u8>) {
        let head = &AROUND.head;
        let parts = [head.len() as u64, self.filler, self.tail.len() as u64];
        let mut start = 0;
        for (place, length) in parts.into_iter().enumerate() {
            let [from, to] = [range.start, range.end].map(|at| at.clamp(start, start + length) - start);
            if from < to {
                match place {
                    0 => out.extend_from_slice(&head[from as usize..to as usize]),
                    1 => self.append_filler(from..to, out),
                    _ => out.extend_from_slice(&self.tail[from as usize..to as usize]),
                }
            }
            start += length;
        }
    }

    /// All of it.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.len() as usize);
        self.append(0..self.len(), &mut all);
        all
    }

    /// Hands over all of it in pieces, of which none is longer than 64 KiB.
    pub fn pieces(&self, mut take: impl FnMut(&[u8])) {
        let mut piece = Vec::with_capacity(PIECE as usize);
        let mut at = 0;
        while at < self.len() {
            piece.clear();
            self.append(at..at + PIECE, &mut piece);
            take(&piece);
            at += piece.len() as u64;
        }
    }

    /// Whether `bytes` are all of it, and nothing else.
    pub fn is_whole(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.len() && self.is_start_of(bytes)
    }

    /// Whether `bytes` starts with all of it.
    pub fn is_start_of(&self, bytes: &[u8]) -> bool {
        let mut rest = Some(bytes);
        self.pieces(|piece| rest = rest.and_then(|rest| rest.strip_prefix(piece)));
        rest.is_some()
    }

    /// Appends the bytes of that range of the filler. Its blocks are the document's words, each block's XORed with another one: no compressor
    /// finds more in them than in words that were each made anew, which takes many times as long.
    fn append_filler(&self, Range { start, end }: Range<u64>, out: &mut Vec<u8>) {
        out.reserve((end - start) as usize);
        // Made where it stays in the first cache, and copied from there.
        let mut made = [0; BLOCK as usize];
        let mut at = start;
        while at < end {
            let (block, skip) = (at / BLOCK, (at % BLOCK) as usize);
            let own = if block == 0 { 0 } else { word(self.filler_key, WORDS + block) };
            for (bytes, word) in made.as_chunks_mut().0.iter_mut().zip(&self.words) {
                *bytes = (word ^ own).to_le_bytes();
            }
            let here = (made.len() - skip).min((end - at) as usize);
            out.extend_from_slice(&made[skip..skip + here]);
            at += here as u64;
        }
    }
}

/// What stands around the filler of any document, with zeros where documents differ. Each of those has a fixed width, so that all else
/// stands at the same places.
struct Around {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Where the document's number, its key and the length of its filler stand in the tail.
    number: Range<usize>,
    key: Range<usize>,
    filler: Range<usize>,
    /// Objects behind the filler, by their places, and where the tail has their offsets.
    entries: Vec<(usize, Range<usize>)>,
    /// Where both identifiers stand in the tail, and the place of the table of cross references.
    ids: [Range<usize>; 2],
    startxref: Range<usize>,
    /// Where each object starts, from the first one on, and the table of cross references, in a document whose filler is empty.
    offsets: [u64; object::COUNT as usize - 1],
    xref: u64,
}

impl Around {
    fn new() -> Self {
        let mut written = Written { bytes: Vec::new(), offsets: [0; object::COUNT as usize - 1] };
        // Binary bytes in the first comment say that this is no text (section 7.5.2).
        written.bytes.extend_from_slice(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n");
        written.append(object::CATALOG, "<</Type/Catalog/Pages 2 0 R>>\nendobj\n");
        written.append(object::PAGES, "<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n");
        written.append(
            object::PAGE,
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>\nendobj\n",
        );
        written.append(object::FONT, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>\nendobj\n");
        // Its length stands behind it (section 7.3.8.2), since documents of many lengths start alike.
        let head = written.append(object::FILLER, "<</Length 7 0 R>>\nstream\n");
        written.bytes.extend_from_slice(b"\nendstream\nendobj\n");
        let end = written.append(object::FILLER_LENGTH, &format!("{:0OFFSET$}\nendobj\n", 0));
        let filler = end - "\nendobj\n".len() - OFFSET;
        let (before, between, behind) = ("BT /F1 24 Tf 72 760 Td (document ", " of ", ") Tj ET");
        let length = before.len() + NUMBER + between.len() + KEY + behind.len();
        let shown = format!("{before}{:0NUMBER$}{between}{:0KEY$}{behind}", 0, 0);
        let stream = format!("<</Length {length}>>\nstream\n{shown}\nendstream\nendobj\n");
        let end = written.append(object::CONTENT, &stream);
        let key = end - "\nendstream\nendobj\n".len() - behind.len() - KEY;
        let number = key - between.len() - NUMBER;
        let Written { mut bytes, offsets } = written;
        let xref = bytes.len();
        bytes.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", object::COUNT).as_bytes());
        let mut entries = Vec::new();
        for (object, offset) in offsets.iter().enumerate() {
            if *offset > head as u64 {
                entries.push((object, bytes.len()));
            }
            bytes.extend_from_slice(format!("{offset:0OFFSET$} 00000 n \n").as_bytes());
        }
        bytes.extend_from_slice(format!("trailer\n<</Size {}/Root 1 0 R/ID[<", object::COUNT).as_bytes());
        let first = bytes.len();
        let second = first + ID + "><".len();
        bytes.extend_from_slice(format!("{:0ID$}><{:0ID$}>]>>\nstartxref\n", 0, 0).as_bytes());
        let startxref = bytes.len();
        bytes.extend_from_slice(format!("{:0OFFSET$}\n%%EOF\n", 0).as_bytes());
        let tail = bytes.split_off(head);
        let in_tail = |start: usize, digits: usize| start - head..start - head + digits;
        Self {
            head: bytes,
            tail,
            number: in_tail(number, NUMBER),
            key: in_tail(key, KEY),
            filler: in_tail(filler, OFFSET),
            entries: entries.into_iter().map(|(object, at)| (object, in_tail(at, OFFSET))).collect(),
            ids: [first, second].map(|start| in_tail(start, ID)),
            startxref: in_tail(startxref, OFFSET),
            offsets,
            xref: xref as u64,
        }
    }

    /// Where that place of a document whose filler is empty stands in one whose filler has so many bytes.
    const fn shifted(&self, place: u64, filler: u64) -> u64 {
        if place < self.head.len() as u64 { place } else { place + filler }
    }
}

/// Objects that follow one another.
struct Written {
    bytes: Vec<u8>,
    offsets: [u64; object::COUNT as usize - 1],
}

impl Written {
    /// Appends the object of that number; where it ends.
    fn append(&mut self, number: u64, object: &str) -> usize {
        self.offsets[number as usize - 1] = self.bytes.len() as u64;
        self.bytes.extend_from_slice(format!("{number} 0 obj\n{object}").as_bytes());
        self.bytes.len()
    }
}

static AROUND: LazyLock<Around> = LazyLock::new(Around::new);

/// Writes a number with as many digits as there is room for: formatting all that stands around a filler takes as long as half a signature of
/// P-256.
fn write_digits(base: u64, mut number: u64, out: &mut [u8]) {
    for digit in out.iter_mut().rev() {
        *digit = DIGITS[(number % base) as usize];
        number /= base;
    }
}

/// A word of the sequence of a key.
const fn word(key: u64, place: u64) -> u64 {
    mix(key.wrapping_add(place.wrapping_mul(GOLDEN)))
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(GOLDEN);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const PIECE: u64 = 64 << 10;
/// Words of a block of the filler.
const WORDS: u64 = 256;
/// Bytes of one.
const BLOCK: u64 = WORDS * 8;
/// An offset in a cross-reference table has ten digits (section 7.5.4).
const LONGEST: u64 = 9_999_999_999;
/// Digits of a document's number, of its key, of an offset, and of an identifier.
const NUMBER: usize = 20;
const KEY: usize = 16;
const OFFSET: usize = 10;
const ID: usize = 32;
const DIGITS: &[u8; 16] = b"0123456789abcdef";
