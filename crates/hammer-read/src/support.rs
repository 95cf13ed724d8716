use std::collections::VecDeque;
use std::sync::Arc;

use hammer_tlog::logs::tile::TileId;

use crate::part::Part;

/// A tile that was read to verify another read.
#[derive(Clone, Debug)]
pub struct Support {
    /// Its name.
    pub tile: TileId,
    pub(crate) is_gzip: bool,
    pub(crate) bytes: Arc<[u8]>,
}

/// Why a read cannot be verified.
#[derive(Clone, Copy, Debug)]
pub enum Lack {
    /// The log does not have a tile that its tree head is of.
    Missing(TileId),
    /// The tile came whole, in an encoding that cannot be read.
    Unreadable(TileId),
    /// It did not answer, or refused.
    Refused,
}

impl Support {
    /// As a part of a record.
    pub fn part(&self) -> Part<'_> {
        Part::tile(self.tile, self.is_gzip, &self.bytes)
    }
}

/// Full tiles above level 0, the last that were used.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    tiles: VecDeque<Support>,
}

impl Shelf {
    pub(crate) fn take(&mut self, tile: TileId) -> Option<Support> {
        let place = self.tiles.iter().position(|support| support.tile == tile)?;
        let support = self.tiles.remove(place)?;
        self.put(support.clone());
        Some(support)
    }

    pub(crate) fn put(&mut self, support: Support) {
        if self.tiles.len() == MOST_TILES {
            self.tiles.pop_front();
        }
        self.tiles.push_back(support);
    }
}

/// A mebibyte for each shard.
const MOST_TILES: usize = 128;
