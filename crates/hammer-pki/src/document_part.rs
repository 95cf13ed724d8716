//! A part of a document, as it is uploaded.

use std::ops::Range;
use std::sync::Arc;

use hammer_net::BodySource;
use md5::{Digest as _, Md5};

use crate::inline_document::InlineDocument;

/// Bytes of a document that follow one another, made as they are sent.
#[derive(Debug, Clone)]
pub(crate) struct DocumentPart {
    document: Arc<InlineDocument>,
    range: Range<u64>,
}

impl DocumentPart {
    /// Those of that range, which is within the document.
    pub(crate) fn new(document: Arc<InlineDocument>, range: Range<u64>) -> Self {
        Self { document, range }
    }

    /// Its MD5 (RFC 1321), by which Rest PKI finds a part that came broken; it proves nothing.
    pub(crate) fn md5(&self) -> [u8; 16] {
        let (mut hashed, mut piece) = (Md5::new(), Vec::with_capacity(PIECE));
        for start in (0..self.length()).step_by(PIECE) {
            piece.clear();
            self.append(start..self.length().min(start + PIECE), &mut piece);
            hashed.update(&piece);
        }
        hashed.finalize().into()
    }
}

impl BodySource for DocumentPart {
    fn length(&self) -> usize {
        (self.range.end - self.range.start) as usize
    }

    fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        let [start, end] = [range.start, range.end].map(|at| self.range.start + at as u64);
        self.document.document().append(start..end, out);
    }
}

/// Bytes that are made at once.
const PIECE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use hammer_pdf::document::Document;

    use super::*;

    #[test]
    fn parts_follow_one_another_and_have_the_digest_of_their_bytes() {
        let document = Document::new(3, 4, 200_001).unwrap();
        let whole = document.to_vec();
        let document = Arc::new(InlineDocument::new(document));
        let mut uploaded = Vec::new();
        for start in (0..200_001).step_by(70_000) {
            let part = DocumentPart::new(document.clone(), start..(start + 70_000).min(200_001));
            let from = uploaded.len();
            part.append(0..part.length(), &mut uploaded);
            assert_eq!(part.md5(), <[u8; 16]>::from(Md5::digest(&uploaded[from..])));
        }
        assert_eq!(uploaded, whole);
    }
}
