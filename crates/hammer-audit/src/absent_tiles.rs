//! Tiles that a follower without load did not find.

use std::collections::{BTreeMap, BTreeSet};

use hammer_measure::Nanos;
use hammer_tlog::logs::tile::{Level, TileId};

use crate::inspector::NEXT_LOOK;

/// Tiles that looks at a log did not find: one is told when a later look does not find it either, since who answered for it may lag behind who
/// answered for the head.
#[derive(Default)]
pub(crate) struct AbsentTiles {
    /// By place, since the tile is as wide as the tree of each head has it: when it was missed first, and how wide it was then.
    since: BTreeMap<(Level, u64), (Nanos, TileId)>,
    told: BTreeSet<(Level, u64)>,
    /// The one that was missed last, and is not told yet.
    waiting: Option<TileId>,
    /// Looks in a row that asked several times at once, and were not answered each time.
    unsure: u32,
}

impl AbsentTiles {
    /// Takes that a head is proved, which has all of its tiles.
    pub(crate) fn proved(&mut self) {
        *self = Self::default();
    }

    /// Takes that a look at `now` did not find a tile: the one that was missed in its place first, where that is to be served by now, and was not
    /// told.
    pub(crate) fn missed(&mut self, tile: TileId, now: Nanos) -> Option<TileId> {
        let place = (tile.level, tile.index);
        let (since, first) = *self.since.entry(place).or_insert((now, tile));
        if now.since(since) < NEXT_LOOK {
            self.waiting = Some(tile);
            return None;
        }
        Some(first).filter(|_| !self.told.contains(&place))
    }

    /// Takes that the tile that was missed in this one's place first is served by now, by somebody: from now on this one is waited for.
    pub(crate) fn came(&mut self, tile: TileId, now: Nanos) {
        self.since.insert((tile.level, tile.index), (now, tile));
        self.waiting = Some(tile);
        self.unsure = 0;
    }

    /// Takes that it could not be told whether somebody serves it, as of a server that is asked too much at once; whether it is missing all the
    /// same, since look after look a question for this tile alone was answered so.
    pub(crate) fn unsure(&mut self, tile: TileId, is_answered: bool) -> bool {
        self.unsure += u32::from(is_answered);
        let is_missing = is_answered && self.unsure >= MOST_UNSURE;
        if !is_missing {
            self.waiting = Some(tile);
        }
        is_missing
    }

    /// Takes that a tile is told.
    pub(crate) fn told(&mut self, tile: TileId) {
        self.told.insert((tile.level, tile.index));
    }

    /// Why there is no news of a head whose tile was not found.
    pub(crate) fn why(&mut self) -> Option<String> {
        let tile = self.waiting.take()?;
        Some(format!("read {tile}, which the next look asks for again: it is not served"))
    }
}

/// Looks, a second or so apart: longer than servers behind one URL lag behind each other.
const MOST_UNSURE: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_at_the_edge_is_told_once_by_how_wide_it_was_when_it_was_missed_first() {
        let mut absent = AbsentTiles::default();
        let tiles = [3, 9, 12, 20].map(|width| TileId { width, ..TileId::hashes(0, 1) });
        let at = Nanos::from_secs;
        assert_eq!([0, 1].map(|s| absent.missed(tiles[s as usize], at(s))), [None, Some(tiles[0])]);
        // That came, and the wider one is waited for from then on.
        absent.came(tiles[1], at(1));
        assert_eq!(absent.missed(tiles[2], at(2)), Some(tiles[1]));
        absent.told(tiles[2]);
        assert_eq!(absent.missed(tiles[3], at(3)), None);
        let answered = [true, true, false, true, false, true];
        let missing = answered.map(|is_answered| absent.unsure(tiles[3], is_answered));
        assert_eq!(missing, [false, false, false, false, false, true]);
        // Once it came, it is news that it is gone.
        absent.proved();
        assert_eq!([5, 6].map(|s| absent.missed(tiles[3], at(s))), [None, Some(tiles[3])]);
    }
}
