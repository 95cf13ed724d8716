use std::sync::Arc;

use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_net::Answer;
use hammer_tlog::logs::tile::{FULL_WIDTH, Level, TileId};
use http::StatusCode;

use crate::bundle::LARGEST_TILE;
use crate::head::{SeenHead, above, edges};
use crate::place::Place;
use crate::reads::{LogReads, malformed};
use crate::support::{Lack, Support};

/// Why a tile that an operation is of was not read.
#[derive(Clone, Copy, Debug)]
pub struct UnreadTile {
    /// How the operation ends.
    pub ended: Ended,
    /// The tile, where the log says that it has none of that name.
    pub missing: Option<TileId>,
}

impl LogReads {
    /// Reads the tile at `place` in the tree of `head` as the operation's own; the full tile where the partial one is no longer there.
    ///
    /// # Errors
    /// When it was not answered by a 200.
    pub async fn own_tile(
        &self,
        level: Level,
        place: Place,
        head: &SeenHead,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<TileId, UnreadTile> {
        let leaf = place.first_leaf(FULL_WIDTH.into(), head.size);
        record.is_of("entry", || leaf);
        let unread = |ended| UnreadTile { ended, missing: None };
        let tile = TileId::covering(level, leaf, head.size);
        let tile = tile.ok_or_else(|| unread(malformed("tree without that leaf")))?;
        let ended = self.own.tile((tile, may_be_compressed(tile)), answer, || record.exchange()).await;
        let missing = (answer.status == StatusCode::NOT_FOUND).then_some(tile);
        if ended.is_ok() {
            self.absent.borrow_mut().remove(&tile);
        }
        ended.map(|()| tile).map_err(|ended| UnreadTile { ended, missing })
    }

    /// Reads what a hash tile of level 0 is held against: its way to the root, without the tile itself.
    ///
    /// # Errors
    /// When some of it is not there.
    pub async fn beside_tile(
        &self,
        tile: TileId,
        head: &SeenHead,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<Vec<Support>, Lack> {
        let mut way_up = self.way_up(tile, head, answer, record).await?;
        // At the edge of the tree the tile is its own way to the root.
        way_up.retain(|support| support.tile != tile);
        Ok(way_up)
    }

    /// Reads what a bundle is held against: its hash tile, and the way from there to the root.
    ///
    /// # Errors
    /// When some of it is not there.
    pub async fn beside_bundle(
        &self,
        bundle: TileId,
        head: &SeenHead,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<Vec<Support>, Lack> {
        let hashes = TileId { level: Level::Hashes(0), ..bundle };
        let mut supports = self.way_up(hashes, head, answer, record).await?;
        if hashes.is_full() {
            supports.push(self.support(hashes, answer, record).await?);
        }
        Ok(supports)
    }

    /// What leads from a hash tile of level 0 to the head's root: the edges of its tree, and full tiles above the tile.
    async fn way_up(
        &self,
        tile: TileId,
        head: &SeenHead,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<Vec<Support>, Lack> {
        let mut supports = self.edges(head, answer, record).await?.to_vec();
        for tile in above(tile.index, head.size) {
            let known = self.shelf.borrow_mut().take(tile);
            let support = match known {
                Some(support) => support,
                None => {
                    let support = self.support(tile, answer, record).await?;
                    self.shelf.borrow_mut().put(support.clone());
                    support
                }
            };
            supports.push(support);
        }
        Ok(supports)
    }

    /// The edges of the head's tree: read by whoever needs them first, and awaited by the others.
    async fn edges(
        &self,
        head: &SeenHead,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<Arc<[Support]>, Lack> {
        let mut known = head.edges.lock().await;
        if let Some(edges) = &*known {
            return Ok(edges.clone());
        }
        let mut read = Vec::new();
        for tile in edges(head.size) {
            read.push(self.support(tile, answer, record).await?);
        }
        Ok(known.insert(read.into()).clone())
    }

    /// Reads a tile beside the operation; the full tile where the partial one is no longer there.
    ///
    /// # Errors
    /// When it is not there.
    pub async fn support(
        &self,
        tile: TileId,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<Support, Lack> {
        let compressed = may_be_compressed(tile);
        let start = || record.step(self.path_series);
        let ended = self.beside.tile_or_later((tile, compressed), answer, start).await;
        match (ended, answer.status) {
            (Ok(()), _) => {
                self.absent.borrow_mut().remove(&tile);
            }
            // The full tile in the place of a partial one may have been asked for at another server than that one: all are asked.
            (Err(_), StatusCode::NOT_FOUND) => {
                self.elsewhere(tile, answer, record).await?;
            }
            (Err(_), _) => return Err(Lack::Refused),
        }
        if !compressed {
            answer.decode(FULL_TILE).map_err(|_| Lack::Unreadable(tile))?;
        }
        let is_gzip = answer.gzip_or_plain(LARGEST_TILE).map_err(|_| Lack::Unreadable(tile))?;
        Ok(Support { tile, is_gzip, bytes: answer.body.as_slice().into() })
    }

    /// Reads a tile that the operation's server has not beside the operation, at each of the log's servers until one has it, and later once
    /// more. Of several operations that lack one tile the first waits for it, and the others for that.
    ///
    /// # Errors
    /// When none has it, or it cannot be told.
    pub async fn elsewhere(
        &self,
        tile: TileId,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<(), Lack> {
        let start = || record.step(self.path_series);
        let wait = self.waits.of(tile);
        let mut found = wait.lock().await;
        match *found {
            // It was there a moment ago; whoever is asked next may lag behind who had it.
            Some(Ok(())) => {
                drop(found);
                let asked = (tile, may_be_compressed(tile));
                match self.beside.tile_of_any(asked, answer, &start).await {
                    Ok(()) => Ok(()),
                    Err(_) => self.beside.tile_elsewhere((asked, self.looks), answer, start).await,
                }
            }
            Some(lack) => lack,
            None => {
                let looks = if self.absent.borrow().contains(&tile) { 0 } else { self.looks };
                let asked = ((tile, may_be_compressed(tile)), looks);
                let now = self.beside.tile_elsewhere(asked, answer, start).await;
                self.waits.end(tile);
                self.note_found(tile, now);
                *found = Some(now);
                now
            }
        }
    }

    /// Keeps that the log has no such tile, so that nobody waits for it again before it was served.
    fn note_found(&self, tile: TileId, found: Result<(), Lack>) {
        let mut absent = self.absent.borrow_mut();
        match found {
            Ok(()) => {
                absent.remove(&tile);
            }
            Err(Lack::Missing(_)) if absent.len() < MOST_ABSENT => {
                absent.insert(tile);
            }
            Err(_) => {}
        }
    }
}

/// Hashes do not get smaller.
fn may_be_compressed(tile: TileId) -> bool {
    !matches!(tile.level, Level::Hashes(_))
}

const MOST_ABSENT: usize = 1024;

/// Bytes of a full hash tile.
pub const FULL_TILE: usize = FULL_WIDTH as usize * 32;
