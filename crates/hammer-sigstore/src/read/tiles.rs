//! Reads of the log of Rekor v2 (C2SP tlog-tiles).

use std::sync::Arc;

use hammer_audit::AnswerBound;
use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_read::{FULL_TILE, LARGEST_TILE, Lack, LogReads, Part, SeenHead, Support, UnreadTile, malformed};
use hammer_tlog::logs::tile::{Level, TileId};

use super::check::Check;
use super::promise::ReadPromise;
use super::session::ServiceReadSession;
use super::{OwedRead, ServiceReadOp};
use crate::rekor_tiles::{CHECKPOINT, size_of_tree};

/// A tile that was read, and still has to be held against the head that the session knew then.
#[derive(Debug)]
pub(super) struct OwedTile {
    head: Arc<SeenHead>,
    tile: TileId,
    /// Whether it is compressed.
    is_gzip: bool,
    /// Whether the server that was asked does not have it, so that the others are asked first.
    is_missing: bool,
}

impl ServiceReadSession {
    /// Reads the checkpoint and keeps it; none where the tree is empty.
    pub(super) async fn checkpoint(
        &self,
        op: &mut ServiceReadOp,
        record: &OperationRecord,
    ) -> Result<Option<Arc<SeenHead>>, Ended> {
        let reads = self.reads()?;
        reads.get((CHECKPOINT, Some(AnswerBound::HEAD)), &mut op.answer, record).await?;
        let body = &op.answer.body;
        self.promise(record, Check::Checkpoint, [Part::bytes(body)]);
        let size = size_of_tree(body).ok_or(malformed("answer is not a checkpoint"))?;
        Ok(reads.saw(body, size))
    }

    /// Reads a hash tile of level 0.
    pub(super) async fn tile(&self, op: &mut ServiceReadOp, record: &OperationRecord) -> Result<(), Ended> {
        let Some((head, tile)) = self.own_tile(Level::Hashes(0), op, record).await? else { return Ok(()) };
        if op.answer.decode(FULL_TILE).is_err() {
            return Err(self.unreadable(tile, record));
        }
        let parsed = tile.parse_hashes(&op.answer.body);
        // One of the wrong length is held against the tree too, which tells that it is none of its tiles.
        owe(OwedTile { head, tile, is_gzip: false, is_missing: false }, op, record);
        parsed.map(drop).map_err(|_| malformed("tile of the wrong length"))
    }

    /// Reads a bundle of entries.
    pub(super) async fn bundle(&self, op: &mut ServiceReadOp, record: &OperationRecord) -> Result<(), Ended> {
        let Some((head, tile)) = self.own_tile(Level::Entries, op, record).await? else { return Ok(()) };
        let Ok(is_gzip) = op.answer.gzip_or_plain(LARGEST_TILE) else {
            return Err(self.unreadable(tile, record));
        };
        owe(OwedTile { head, tile, is_gzip, is_missing: false }, op, record);
        Ok(())
    }

    /// Reads the tile that the operation is of; none in an empty tree.
    async fn own_tile(
        &self,
        level: Level,
        op: &mut ServiceReadOp,
        record: &OperationRecord,
    ) -> Result<Option<(Arc<SeenHead>, TileId)>, Ended> {
        let reads = self.reads()?;
        let head = match reads.newest() {
            Some(head) => head,
            None => match self.checkpoint(op, record).await? {
                Some(head) => head,
                None => return Ok(None),
            },
        };
        let read = reads.own_tile(level, op.place, &head, &mut op.answer, record).await;
        let tile = match read {
            Ok(tile) => tile,
            Err(UnreadTile { ended, missing }) => {
                if let Some(tile) = missing {
                    owe(OwedTile { head, tile, is_gzip: false, is_missing: true }, op, record);
                }
                return Err(ended);
            }
        };
        Ok(Some((head, tile)))
    }

    /// Reads what a tile is held against, and promises.
    pub(super) async fn check(&self, owed: &OwedTile, op: &mut ServiceReadOp, record: &OperationRecord) {
        let Ok(reads) = self.reads() else { return };
        let OwedTile { head, tile, is_gzip, is_missing } = owed;
        let (tile, mut is_gzip) = (*tile, *is_gzip);
        if *is_missing {
            // One of several servers may be behind the others: it is the log's tile wherever it is.
            if let Err(lack) = self.found_elsewhere(reads, tile, op, record).await {
                return self.lack(record, head, lack);
            }
            is_gzip = op.answer.gzip_or_plain(LARGEST_TILE).unwrap_or_default();
        }
        let (check, supports) = match tile.level {
            Level::Hashes(_) => (Check::Tile, reads.beside_tile(tile, head, &mut op.beside, record).await),
            _ => (Check::Bundle, reads.beside_bundle(tile, head, &mut op.beside, record).await),
        };
        match supports {
            Ok(supports) => {
                let own = [Part::bytes(&head.raw), Part::tile(tile, is_gzip, &op.answer.body)];
                self.promise(record, check, own.into_iter().chain(supports.iter().map(Support::part)));
            }
            Err(lack) => self.lack(record, head, lack),
        }
    }

    /// Reads a tile at the log's other servers, in place of the operation's own answer.
    async fn found_elsewhere(
        &self,
        reads: &LogReads,
        tile: TileId,
        op: &mut ServiceReadOp,
        record: &OperationRecord,
    ) -> Result<(), Lack> {
        reads.elsewhere(tile, &mut op.answer, record).await?;
        if matches!(tile.level, Level::Hashes(_)) {
            op.answer.decode(FULL_TILE).map_err(|_| Lack::Unreadable(tile))?;
        }
        op.answer.gzip_or_plain(LARGEST_TILE).map(drop).map_err(|_| Lack::Unreadable(tile))
    }

    /// A promise that cannot be held against anything.
    fn lack(&self, record: &OperationRecord, head: &SeenHead, lack: Lack) {
        match lack {
            Lack::Missing(tile) => {
                let parts = [Part::bytes(&head.raw), Part::tile(tile, false, &[])];
                self.promise(record, Check::Missing, parts);
            }
            Lack::Unreadable(tile) => drop(self.unreadable(tile, record)),
            Lack::Refused => self.promise(record, Check::Unverified, []),
        }
    }

    /// Promises a tile that came whole in an encoding that cannot be read; how the operation ends whose own it is.
    fn unreadable(&self, tile: TileId, record: &OperationRecord) -> Ended {
        let found = format!("{tile}: its encoding cannot be read");
        self.promise(record, Check::Unreadable, [Part::bytes(found.as_bytes())]);
        malformed("answer in an encoding that cannot be read")
    }

    fn reads(&self) -> Result<&LogReads, Ended> {
        self.tiles.as_ref().ok_or(malformed("no such service"))
    }
}

/// Leaves the rest to [`ServiceReadSession::check`], once the operation's own end is fixed.
fn owe(owed: OwedTile, op: &mut ServiceReadOp, record: &OperationRecord) {
    op.owed = Some(OwedRead::Tile(owed));
    record.check_beside(ReadPromise::Inclusion.into());
}
