//! Looks at tiles that were not served.

use hammer_tlog::logs::tile::TileId;

use crate::reader::{AT_ONCE, AuditReader};
use crate::served_tile::ServedTile;
use crate::source::LogSource;
use crate::trouble::Trouble;

impl<L: LogSource> AuditReader<L> {
    /// A tile, or the full one that is as good in its place (C2SP tlog-tiles), where one of them is served by now. It is asked for several times
    /// at once, on a connection each: who lags behind need not be who answers for the log's one URL next.
    ///
    /// # Errors
    /// When it cannot be told.
    pub(crate) async fn by_now(&self, tile: TileId) -> Result<Option<Vec<u8>>, Trouble> {
        // Whoever has gone on may have dropped the partial one, and whoever lags has no full one yet.
        let asked = [[tile; AT_ONCE / 2], [tile.full(); AT_ONCE / 2]].concat();
        let (found, went) = self.tiles(&asked).await;
        let bytes = found.into_iter().find_map(|(_, found)| match found {
            ServedTile::Bytes(bytes) => Some(bytes),
            ServedTile::Missing => None,
        });
        if bytes.is_some() { Ok(bytes) } else { went.map(|()| None) }
    }

    /// The same of a tile that is told to be missing next, unless it is found by looks that follow at once: of two that answer by turns the one that
    /// has it may not have been asked for it by any of one look.
    ///
    /// # Errors
    /// When it cannot be told.
    pub(crate) async fn by_now_surely(&self, tile: TileId) -> Result<Option<Vec<u8>>, Trouble> {
        for _ in 1..SURE_LOOKS {
            let found = self.by_now(tile).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.by_now(tile).await
    }
}

/// Looks that make sure of a tile that nobody serves.
const SURE_LOOKS: u32 = 4;
