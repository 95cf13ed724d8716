use std::collections::BTreeMap;

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
    told: Option<TileId>,
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

    /// Why there is no news of a head whose tile was not found.
    pub(crate) fn why(&mut self) -> Option<String> {
        let tile = self.waiting.take()?;
        Some(format!("read {tile}, which the next look asks for again: it is not served"))
    }

    fn is_missing_again(&mut self, tile: TileId, now: Nanos) -> bool {
        let since = *self.since.entry((tile.level, tile.index)).or_insert(now);
        if now.since(since) < NEXT_LOOK {
            self.waiting = Some(tile);
            return false;
        }
        self.told.replace(tile) != Some(tile)
    }
}
