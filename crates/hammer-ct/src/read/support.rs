use std::collections::VecDeque;
use std::sync::Arc;

use hammer_tlog::logs::tile::TileId;

use super::record::Part;

/// A tile that was read to verify another read.
#[derive(Clone, Debug)]
pub(super) struct Support {
    pub(super) tile: TileId,
    pub(super) is_gzip: bool,
    pub(super) bytes: Arc<[u8]>,
}

/// Why a read cannot be verified.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lack {
    /// The log does not have a tile that its tree head is of.
    Missing(TileId),
    /// The tile came whole, in an encoding that cannot be read.
    Unreadable(TileId),
    /// It did not answer, or refused.
    Refused,
}

impl Support {
    pub(super) fn part(&self) -> Part<'_> {
        Part::tile(self.tile, self.is_gzip, &self.bytes)
    }
}

/// Full tiles above level 0, the last that were used.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    tiles: VecDeque<Support>,
}

impl Shelf {
    pub(super) fn take(&mut self, tile: TileId) -> Option<Support> {
        let place = self.tiles.iter().position(|support| support.tile == tile)?;
        let support = self.tiles.remove(place)?;
        self.put(support.clone());
        Some(support)
    }

    pub(super) fn put(&mut self, support: Support) {
        if self.tiles.len() == MOST_TILES {
            self.tiles.pop_front();
        }
        self.tiles.push_back(support);
    }
}

/// A mebibyte for each shard.
const MOST_TILES: usize = 128;
