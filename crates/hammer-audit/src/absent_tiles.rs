//! Tiles that a follower without load did not find.

use std::collections::{BTreeMap, BTreeSet};

use hammer_measure::Nanos;
use hammer_tlog::logs::follow::Event;
use hammer_tlog::logs::tile::{Level, TileId};

use crate::inspector::NEXT_LOOK;

/// Tiles that looks at a log did not find: one is told when a later look does not find it either, since who answered for it may lag behind who
/// answered for the head.
#[derive(Default)]
pub(crate) struct AbsentTiles {
    /// By place, since the tile is as wide as the tree of each head has it.
    since: BTreeMap<(Level, u64), Nanos>,
    told: BTreeSet<(Level, u64)>,
    /// The one that was missed last, and is not told yet.
    waiting: Option<TileId>,
}

impl AbsentTiles {
    /// Takes what a look showed at `now`; says whether it is told. A head that is proved has all of its tiles.
    pub(crate) fn is_to_be_told(&mut self, event: &Event, now: Nanos) -> bool {
        match event {
            Event::MissingTile { tile, .. } => self.is_missing_again(*tile, now),
            Event::First { .. } | Event::Grew { .. } => {
                *self = Self::default();
                true
            }
            _ => true,
        }
    }

    /// Takes that a tile is served after all, by somebody.
    pub(crate) fn found(&mut self, tile: TileId) {
        let place = (tile.level, tile.index);
        self.since.remove(&place);
        self.told.remove(&place);
        self.waiting = Some(tile);
    }

    /// Why there is no news of a head whose tile was not found.
    pub(crate) fn why(&mut self) -> Option<String> {
        let tile = self.waiting.take()?;
        Some(format!("read {tile}, which the next look asks for again: it is not served"))
    }

    fn is_missing_again(&mut self, tile: TileId, now: Nanos) -> bool {
        let place = (tile.level, tile.index);
        let since = *self.since.entry(place).or_insert(now);
        if now.since(since) < NEXT_LOOK {
            self.waiting = Some(tile);
            return false;
        }
        self.told.insert(place)
    }
}

#[cfg(test)]
mod tests {
    use hammer_tlog::hash::Hash;
    use hammer_tlog::logs::follow::Head;

    use super::*;

    fn missing(tile: TileId) -> Event {
        Event::MissingTile { tile, head: Head::empty() }
    }

    #[test]
    fn a_tile_at_the_edge_is_told_once_however_wide_the_next_head_has_it() {
        let mut absent = AbsentTiles::default();
        let widths = [3, 9, 12, 20];
        let tiles = widths.map(|width| TileId { width, ..TileId::hashes(0, 1) });
        let told = [0, 1, 2, 3].map(|s| {
            let event = missing(tiles[s]);
            absent.is_to_be_told(&event, Nanos::from_secs(s as u64))
        });
        assert_eq!(told, [false, true, false, false]);
        // Once it came, it is news that it is gone.
        let head = Head { root: Hash([1; 32]), ..Head::empty() };
        assert!(absent.is_to_be_told(&Event::First { head }, Nanos::from_secs(4)));
        let again = [5, 6].map(|s| absent.is_to_be_told(&missing(tiles[3]), Nanos::from_secs(s)));
        assert_eq!(again, [false, true]);
    }
}
