//! A document in the JSON of a request.

use std::ops::Range;

use hammer_net::BodySource;
use hammer_pdf::document::Document;

use crate::json_base64::append_base64;

/// A document in base64 (RFC 4648 section 4), made as it is sent: it takes no memory beside the little that stands around its filler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineDocument(Document);

impl InlineDocument {
    /// That of this document.
    pub fn new(document: Document) -> Self {
        Self(document)
    }

    /// The document.
    pub fn document(&self) -> &Document {
        &self.0
    }
}

impl BodySource for InlineDocument {
    fn length(&self) -> usize {
        self.0.len().div_ceil(3) as usize * 4
    }

    fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        if range.is_empty() {
            return;
        }
        // Three bytes are four letters: whole groups are encoded, and what was not asked for is cut off.
        let mut bytes = Vec::with_capacity(GROUPS * 3);
        let mut group = range.start / 4;
        while group * 4 < range.end {
            let end = range.end.div_ceil(4).min(group + GROUPS);
            bytes.clear();
            self.0.append(group as u64 * 3..end as u64 * 3, &mut bytes);
            let start = out.len();
            append_base64(&bytes, out);
            out.truncate(start + range.end - group * 4);
            if group * 4 < range.start {
                out.drain(start..start + range.start % 4);
            }
            group = end;
        }
    }
}

/// Groups that are encoded at once, in memory that stays in the first cache.
const GROUPS: usize = 2 << 10;

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    #[test]
    fn any_part_is_that_of_the_whole() {
        for length in [1000, 1001, 1002] {
            let document = Document::new(3, 4, length).unwrap();
            let whole = BASE64_STANDARD.encode(document.to_vec());
            let inline = InlineDocument::new(document);
            assert_eq!(inline.length(), whole.len());
            for start in (0..whole.len()).step_by(7).chain(whole.len() - 5..=whole.len()) {
                for end in [start, start + 1, start + 2, start + 3, start + 64, whole.len()] {
                    let end = end.min(whole.len());
                    let mut part = b"before".to_vec();
                    inline.append(start..end, &mut part);
                    assert_eq!(part, ["before", &whole[start..end]].concat().as_bytes(), "{start}..{end}");
                }
            }
        }
    }
}
