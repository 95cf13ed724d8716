//! The body of a request.

use std::fmt;
use std::io::IoSlice;
use std::sync::Arc;

use bytes::Bytes;

/// The body of a request: parts that are there already, one behind the other, or none. A clone shares them.
///
/// A buffer that is used again and again becomes a part without a copy by [`Bytes::from_owner`]. What many bodies have in common is
/// a part of each.
#[derive(Clone, Debug, Default)]
pub struct Body {
    first: Bytes,
    rest: Vec<Bytes>,
    length: usize,
}

impl Body {
    /// No body.
    pub const fn empty() -> Self {
        Self { first: Bytes::new(), rest: Vec::new(), length: 0 }
    }

    /// A body of these parts, one behind the other.
    pub fn rope(parts: impl IntoIterator<Item = Bytes>) -> Self {
        let mut parts = parts.into_iter().filter(|part| !part.is_empty());
        let first = parts.next().unwrap_or_default();
        let rest: Vec<_> = parts.collect();
        let length = first.len() + rest.iter().map(Bytes::len).sum::<usize>();
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
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Bytes> {
        std::iter::once(&self.first).chain(&self.rest).filter(|part| !part.is_empty())
    }

    /// All of it in one piece; without a copy where it has one part.
    pub(crate) fn to_bytes(&self) -> Bytes {
        match &*self.rest {
            [] => self.first.clone(),
            rest => Bytes::from([std::slice::from_ref(&self.first), rest].concat().concat()),
        }
    }

    /// Fills `slices` with what is behind the first `skip` bytes, as far as there is room; returns how many it filled.
    pub(crate) fn slices<'a>(&'a self, mut skip: usize, slices: &mut [IoSlice<'a>]) -> usize {
        let mut filled = 0;
        for part in self.parts() {
            if skip >= part.len() {
                skip -= part.len();
                continue;
            }
            let Some(slice) = slices.get_mut(filled) else { break };
            *slice = IoSlice::new(&part[skip..]);
            skip = 0;
            filled += 1;
        }
        filled
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

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        let first = bytes.into();
        Self { length: first.len(), first, rest: Vec::new() }
    }
}

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
            let filled = body.slices(skip, &mut slices[..room]);
            let text: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.iter().copied()).collect();
            assert_eq!(text, expected.as_bytes(), "from {skip} into {room}");
        }
        assert!(Body::rope([]).is_empty() && Body::from("").is_empty());
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
