//! Entry bundles of tlog-tiles: each entry behind its length in two bytes.

use bytes::Bytes;
use hammer_tlog::logs::tile::{FULL_WIDTH, TileId};

/// The bundles of a log.
#[derive(Debug, Default)]
pub(super) struct Bundles {
    full: Vec<Bytes>,
    last: Vec<u8>,
    /// End of each entry in `last`.
    ends: Vec<usize>,
}

impl Bundles {
    /// Appends an entry of less than 64 KiB, as all are that were accepted; a longer one would be cut off.
    pub(super) fn push(&mut self, body: &[u8]) {
        let length = u16::try_from(body.len()).unwrap_or(u16::MAX);
        self.last.extend_from_slice(&length.to_be_bytes());
        self.last.extend_from_slice(&body[..usize::from(length)]);
        self.ends.push(self.last.len());
        if self.ends.len() == usize::from(FULL_WIDTH) {
            self.ends.clear();
            self.full.push(Bytes::from(std::mem::take(&mut self.last)));
        }
    }

    /// The first `tile.width` entries of a bundle, if they are there.
    pub(super) fn bundle(&self, tile: &TileId) -> Option<Bytes> {
        let index = usize::try_from(tile.index).ok()?;
        if let Some(bundle) = self.full.get(index) {
            return Some(bundle.slice(..end_of(bundle, usize::from(tile.width))?));
        }
        let end = *self.ends.get(usize::from(tile.width).checked_sub(1)?)?;
        (index == self.full.len()).then(|| Bytes::copy_from_slice(&self.last[..end]))
    }

    /// The entry at an index.
    pub(super) fn entry(&self, index: u64) -> Option<Bytes> {
        let width = u64::from(FULL_WIDTH);
        let tile = TileId { width: u16::try_from(index % width).ok()? + 1, ..TileId::data(index / width) };
        let bundle = self.bundle(&tile)?;
        let start = end_of(&bundle, usize::from(tile.width) - 1)?;
        Some(bundle.slice(start + LENGTH..))
    }
}

/// Where the first `count` entries of a bundle end.
fn end_of(bundle: &[u8], count: usize) -> Option<usize> {
    let mut end = 0;
    for _ in 0..count {
        let length = bundle.get(end..)?.first_chunk::<LENGTH>()?;
        end += LENGTH + usize::from(u16::from_be_bytes(*length));
    }
    (end <= bundle.len()).then_some(end)
}

/// Bytes of a length.
const LENGTH: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_in_a_full_bundle_and_in_the_last() {
        let mut bundles = Bundles::default();
        let body = |index: u64| format!("entry {index}").into_bytes();
        (0..300).for_each(|index| bundles.push(&body(index)));
        for index in [0, 1, 255, 256, 299] {
            assert_eq!(bundles.entry(index).unwrap(), body(index), "{index}");
        }
        assert_eq!(bundles.entry(300), None);
        let two = bundles.bundle(&TileId { width: 2, ..TileId::data(1) }).unwrap();
        assert_eq!(&two[..], b"\0\x09entry 256\0\x09entry 257");
        assert_eq!(bundles.bundle(&TileId { width: 45, ..TileId::data(1) }), None);
    }
}
