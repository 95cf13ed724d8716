//! Up to which leaf a log has been served for so long that every server of it has to have it.

use hammer_measure::Nanos;
use hammer_tlog::logs::tile::{HEIGHT, Level, TileId};

/// What a shard has seen of the tree's size.
#[derive(Debug)]
pub(super) struct SettledTree {
    after: Nanos,
    /// Leaves of a tree whose checkpoint is that old.
    size: u64,
    /// The size that is waited for, and since when.
    next: Option<(u64, Nanos)>,
}

impl SettledTree {
    /// A tree is settled so long after its checkpoint was first read.
    pub(super) fn after(after: Nanos) -> Self {
        Self { after, size: 0, next: None }
    }

    /// Takes that a checkpoint of so many leaves was read then.
    pub(super) fn saw(&mut self, size: u64, now: Nanos) {
        match self.next {
            Some((waited, since)) if now.since(since) >= self.after => {
                self.size = self.size.max(waited);
                self.next = Some((size, now));
            }
            Some(_) => {}
            None => self.next = Some((size, now)),
        }
    }

    /// Whether a tile has to be served by whoever serves the log.
    pub(super) fn has(&self, tile: TileId) -> bool {
        let level = match tile.level {
            Level::Hashes(level) => level,
            _ => 0,
        };
        let items = tile.first() + u64::from(tile.width);
        items.checked_shl(u32::from(level) * u32::from(HEIGHT)).is_some_and(|leaves| leaves <= self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_has_to_be_there_once_a_checkpoint_that_covers_it_is_old() {
        let mut tree = SettledTree::after(Nanos::from_secs(2));
        let partial = TileId { width: 44, ..TileId::hashes(0, 1) };
        let (full, above) = (TileId::hashes(0, 0), TileId { width: 1, ..TileId::hashes(1, 0) });
        tree.saw(300, Nanos::from_secs(1));
        tree.saw(400, Nanos::from_millis(2_999));
        assert!(!tree.has(full) && !tree.has(partial));
        tree.saw(500, Nanos::from_secs(3));
        assert!(tree.has(full) && tree.has(partial) && tree.has(above));
        assert!(!tree.has(TileId { width: 45, ..partial }) && !tree.has(TileId { width: 2, ..above }));
        tree.saw(700, Nanos::from_secs(5));
        assert!(tree.has(TileId { width: 244, ..partial }) && !tree.has(TileId::hashes(0, 1)));
        // A server that lags behind unsettles nothing.
        tree.saw(10, Nanos::from_secs(7));
        tree.saw(10, Nanos::from_secs(9));
        assert!(tree.has(TileId { level: Level::Entries, ..TileId::hashes(0, 1) }));
    }
}
