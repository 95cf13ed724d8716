//! The body of a request.

use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;
use std::{fmt, iter};

use bytes::Bytes;

/// The body of a request: parts, one behind the other, or none. A clone shares them.
///
/// A buffer that is used again and again becomes a part without a copy by [`Bytes::from_owner`]. What many bodies have in common is
/// a part of each. What takes too much memory is a part that is made as it is sent.
#[derive(Clone, Debug, Default)]
pub struct Body {
    first: BodyPart,
    rest: Vec<BodyPart>,
    length: usize,
}

/// A part of a body.
#[derive(Clone, Debug)]
pub enum BodyPart {
    /// Bytes that are there already.
    There(Bytes),
    /// Bytes that are made as they are sent.
    Made(Arc<dyn BodySource>),
}

/// Bytes of a body that are made as they are sent, and again where they are sent again: always the same.
pub trait BodySource: fmt::Debug + Send + Sync {
    /// How many there are.
    fn length(&self) -> usize;

    /// Appends those of that range, which is within them.
    fn append(&self, range: Range<usize>, out: &mut Vec<u8>);
}

impl BodyPart {
    fn len(&self) -> usize {
        match self {
            Self::There(bytes) => bytes.len(),
            Self::Made(source) => source.length(),
        }
    }

    /// Appends the bytes of that range, which is within them.
    pub(crate) fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        match self {
            Self::There(bytes) => out.extend_from_slice(&bytes[range]),
            Self::Made(source) => source.append(range, out),
        }
    }
}

impl Default for BodyPart {
    fn default() -> Self {
        Self::There(Bytes::new())
    }
}

impl<T: Into<Bytes>> From<T> for BodyPart {
    fn from(bytes: T) -> Self {
        Self::There(bytes.into())
    }
}

impl Body {
    /// No body.
    pub const fn empty() -> Self {
        Self { first: BodyPart::There(Bytes::new()), rest: Vec::new(), length: 0 }
    }

    /// A body of these parts, one behind the other.
    pub fn rope(parts: impl IntoIterator<Item = impl Into<BodyPart>>) -> Self {
        let mut parts = parts.into_iter().map(Into::into).filter(|part| part.len() > 0);
        let first = parts.next().unwrap_or_default();
        let rest: Vec<_> = parts.collect();
        let length = first.len() + rest.iter().map(BodyPart::len).sum::<usize>();
        Self { first, rest, length }
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Its parts, in order; none of them is empty.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &BodyPart> {
        iter::once(&self.first).chain(&self.rest).filter(|part| part.len() > 0)
    }

    /// Whether a part of it is made as it is sent.
    pub(crate) fn is_made(&self) -> bool {
        self.parts().any(|part| matches!(part, BodyPart::Made(_)))
    }

    /// All of it in one piece; without a copy where it has one part that is there.
    pub fn to_bytes(&self) -> Bytes {
        if let (BodyPart::There(bytes), []) = (&self.first, &*self.rest) {
            return bytes.clone();
        }
        let mut all = Vec::with_capacity(self.length);
        self.append_to(&mut all);
        all.into()
    }

    /// Appends all of it.
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        self.parts().for_each(|part| part.append(0..part.len(), out));
    }

    /// Appends what is to be made of the first part behind the first `skip` bytes that is made as it is sent, [`PIECE`] bytes at most; nothing
    /// where there is no such part.
    pub(crate) fn make(&self, mut skip: usize, out: &mut Vec<u8>) {
        for part in self.parts() {
            if skip >= part.len() {
                skip -= part.len();
                continue;
            }
            if let BodyPart::Made(source) = part {
                return source.append(skip..part.len().min(skip + PIECE), out);
            }
            skip = 0;
        }
    }

    /// Appends what is behind the first `skip` bytes, `most` at most.
    pub fn append_piece(&self, mut skip: usize, mut most: usize, out: &mut Vec<u8>) {
        while let Some((part, from)) = self.part_at(skip).filter(|_| most > 0) {
            let here = (part.len() - from).min(most);
            part.append(from..from + here, out);
            (skip, most) = (skip + here, most - here);
        }
    }

    /// Fills `slices` with what is behind the first `skip` bytes, as far as there is room and up to what is still to be made; returns how many it
    /// filled. `made` is what [`Body::make`] appended for the same `skip`.
    pub(crate) fn slices<'a>(
        &'a self,
        mut skip: usize,
        mut made: &'a [u8],
        slices: &mut [IoSlice<'a>],
    ) -> usize {
        let mut filled = 0;
        for part in self.parts() {
            if skip >= part.len() {
                skip -= part.len();
                continue;
            }
            let (here, is_whole) = match part {
                BodyPart::There(bytes) => (&bytes[skip..], true),
                BodyPart::Made(_) => {
                    let here = std::mem::take(&mut made);
                    (here, skip + here.len() == part.len())
                }
            };
            let Some(slice) = slices.get_mut(filled).filter(|_| !here.is_empty()) else { break };
            *slice = IoSlice::new(here);
            (skip, filled) = (0, filled + 1);
            if !is_whole {
                break;
            }
        }
        filled
    }

    /// The part with the byte behind the first `skip`, and where it is in that.
    fn part_at(&self, mut skip: usize) -> Option<(&BodyPart, usize)> {
        for part in self.parts() {
            if skip < part.len() {
                return Some((part, skip));
            }
            skip -= part.len();
        }
        None
    }
}

/// A buffer that is written for one request and again for the next, and that bodies borrow without a copy.
#[derive(Clone, Default)]
pub struct BodyBuffer(Arc<Vec<u8>>);

/// The buffer as the owner of a part.
struct LentBuffer(Arc<Vec<u8>>);

impl AsRef<[u8]> for LentBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl BodyBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has `write` fill it anew. What was lent before has to be gone for its memory to be used again: a connection that was cut off
    /// may still hold it, and then this is another buffer.
    pub fn rewrite<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        if Arc::get_mut(&mut self.0).is_none() {
            self.0 = Arc::default();
        }
        let out = Arc::make_mut(&mut self.0);
        out.clear();
        write(out)
    }

    /// What was written.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// A body of what was written, which borrows the buffer as long as it lives.
    pub fn body(&self) -> Body {
        Bytes::from_owner(LentBuffer(self.0.clone())).into()
    }

    /// Bytes that it has room for.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl fmt::Debug for BodyBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyBuffer").field("length", &self.0.len()).finish_non_exhaustive()
    }
}

impl<T: Into<BodyPart>> From<T> for Body {
    fn from(part: T) -> Self {
        let first = part.into();
        Self { length: first.len(), first, rest: Vec::new() }
    }
}

/// Bytes that are made at once: what a socket takes at once, about.
pub(crate) const PIECE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rope_is_sent_from_anywhere_with_whatever_room_there_is() {
        let parts = ["ab", "", "cde", "f"].map(|part| Bytes::from_static(part.as_bytes()));
        let body = Body::rope(parts);
        assert_eq!((body.len(), body.parts().count()), (6, 3));
        for (skip, room, expected) in
            [(0, 4, "abcdef"), (1, 4, "bcdef"), (2, 1, "cde"), (5, 2, "f"), (6, 2, ""), (9, 2, "")]
        {
            let mut slices = [IoSlice::new(&[]); 4];
            let filled = body.slices(skip, &[], &mut slices[..room]);
            let text: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.iter().copied()).collect();
            assert_eq!(text, expected.as_bytes(), "from {skip} into {room}");
        }
        assert!(Body::rope([Bytes::new()]).is_empty() && Body::from("").is_empty());
    }

    /// Counts up from nothing.
    #[derive(Debug)]
    struct Counted(usize);

    impl BodySource for Counted {
        fn length(&self) -> usize {
            self.0
        }

        fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
            out.extend(range.map(|at| at as u8));
        }
    }

    #[test]
    fn what_is_made_as_it_is_sent_is_sent_from_anywhere() {
        let made = || BodyPart::Made(Arc::new(Counted(3)));
        let body = Body::rope([BodyPart::from("ab"), made(), made(), BodyPart::from("c")]);
        let whole = b"ab\0\x01\x02\0\x01\x02c";
        assert!(body.is_made() && body.len() == whole.len() && body.to_bytes() == whole[..]);
        for skip in 0..whole.len() {
            for most in 0..=whole.len() {
                let mut piece = Vec::new();
                body.append_piece(skip, most, &mut piece);
                assert_eq!(piece, &whole[skip..whole.len().min(skip + most)]);
            }
            let (mut made, mut slices) = (Vec::new(), [IoSlice::new(&[]); 4]);
            body.make(skip, &mut made);
            let filled = body.slices(skip, &made, &mut slices);
            let text: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.iter().copied()).collect();
            // Up to where the next part is to be made, with what is there already on both sides.
            let end = if skip < 5 { 5 } else { whole.len() };
            assert_eq!(text, &whole[skip..end], "{skip}");
        }
    }

    #[test]
    fn no_more_than_a_piece_is_made_and_nothing_sent_behind_a_part_of_it() {
        let body = Body::rope([BodyPart::Made(Arc::new(Counted(PIECE + 3))), BodyPart::from("end")]);
        for (skip, expected, parts) in [(0, PIECE, 1), (1, PIECE, 1), (3, PIECE + 3, 2), (PIECE + 3, 3, 1)] {
            let (mut made, mut slices) = (Vec::new(), [IoSlice::new(&[]); 4]);
            body.make(skip, &mut made);
            let filled = body.slices(skip, &made, &mut slices);
            let length: usize = slices[..filled].iter().map(|slice| slice.len()).sum();
            assert_eq!((length, filled), (expected, parts), "{skip}");
        }
    }

    #[test]
    fn a_buffer_is_used_again_once_nobody_has_it_any_more() {
        let mut buffer = BodyBuffer::new();
        buffer.rewrite(|out| out.extend_from_slice(&[1; 100]));
        let place = buffer.bytes().as_ptr();
        let body = buffer.body();
        buffer.rewrite(|out| out.extend_from_slice(&[2; 50]));
        assert_eq!((&body.to_bytes()[..], buffer.bytes()), (&[1; 100][..], &[2; 50][..]));
        let again = buffer.bytes().as_ptr();
        assert_ne!(again, place);
        drop(buffer.body());
        buffer.rewrite(|out| out.push(3));
        assert_eq!((buffer.bytes(), buffer.bytes().as_ptr()), (&[3][..], again));
    }
}
