use std::sync::Arc;

use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_net::{Answer, gunzip_start};
use hammer_tlog::ct::bundle::{Entries, Entry};
use hammer_tlog::logs::merkle::Hash;
use hammer_tlog::logs::tile::{FULL_WIDTH, Level, TileId};
use http::StatusCode;

use super::head::{Head, above, edges};
use super::owed::OwedAnswer;
use super::record::{Check, Part};
use super::session::ReadSession;
use super::support::{Lack, Support};
use super::{ReadOp, malformed};

impl ReadSession {
    /// Reads a hash tile of level 0.
    pub(super) async fn tile(
        &self,
        head: &Arc<Head>,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let tile = self.own_tile(Level::Hashes(0), head, op, record).await?;
        op.answer.decode(FULL_TILE).map_err(|_| malformed("answer in an encoding that cannot be read"))?;
        tile.parse_hashes(&op.answer.body).map_err(|_| malformed("tile of the wrong length"))?;
        self.owe(head, OwedAnswer::Tile(tile), op, record);
        Ok(())
    }

    pub(super) async fn check_tile(
        &self,
        tile: TileId,
        head: &Head,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) {
        let mut way_up = self.way_up(tile, head, &mut op.beside, record).await;
        if let Ok(supports) = &mut way_up {
            // At the edge of the tree the tile is its own way to the root.
            supports.retain(|support| support.tile != tile);
        }
        self.hold(record, Check::Tile, head, Part::tile(tile, false, &op.answer.body), way_up);
    }

    /// Reads a bundle of entries.
    pub(super) async fn bundle(
        &self,
        head: &Arc<Head>,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let (tile, is_gzip) = self.own_bundle(head, op, record).await?;
        self.owe(head, OwedAnswer::Bundle(tile, is_gzip), op, record);
        Ok(())
    }

    pub(super) async fn check_bundle(
        &self,
        (tile, is_gzip): (TileId, bool),
        head: &Head,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) {
        let supports = self.leaf_hashes(tile, head, &mut op.beside, record).await;
        self.hold(record, Check::Bundle, head, Part::tile(tile, is_gzip, &op.answer.body), supports);
    }

    /// Reads a names tile.
    pub(super) async fn names(
        &self,
        head: &Arc<Head>,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let tile = self.own_tile(Level::Names, head, op, record).await?;
        let is_gzip =
            op.answer.is_gzip().map_err(|_| malformed("answer in an encoding that cannot be read"))?;
        self.owe(head, OwedAnswer::Names(tile, is_gzip), op, record);
        Ok(())
    }

    pub(super) async fn check_names(
        &self,
        (tile, is_gzip): (TileId, bool),
        head: &Head,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) {
        let supports = self.entries_and_hashes(tile, head, &mut op.beside, record).await;
        self.hold(record, Check::Names, head, Part::tile(tile, is_gzip, &op.answer.body), supports);
    }

    /// Reads an issuer whose fingerprint was seen; where none was, a bundle is read first.
    pub(super) async fn issuer(
        &self,
        head: &Head,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        if self.fingerprints.borrow().any(0).is_none() {
            self.own_bundle(head, op, record).await?;
        }
        let any = self.fingerprints.borrow().any(op.place.draw);
        let fingerprint = any.ok_or(malformed("bundle without an issuer"))?;
        self.get(&format!("/issuer/{fingerprint}"), &mut op.answer, record).await?;
        let parts = [Part::bytes(&fingerprint.0), Part::bytes(&op.answer.body)];
        self.promise(record, Check::Issuer, parts);
        Ok(())
    }

    /// Promises that what was read holds against the head and what else was read for it.
    fn hold(
        &self,
        record: &OperationRecord,
        check: Check,
        head: &Head,
        own: Part<'_>,
        supports: Result<Vec<Support>, Lack>,
    ) {
        match supports {
            Ok(supports) => {
                let supports = supports.iter().map(Support::part);
                self.promise(record, check, [Part::bytes(&head.raw), own].into_iter().chain(supports));
            }
            Err(lack) => self.lack(record, lack),
        }
    }

    /// Reads a bundle as the operation's own; says whether it is compressed.
    async fn own_bundle(
        &self,
        head: &Head,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(TileId, bool), Ended> {
        let tile = self.own_tile(Level::Data, head, op, record).await?;
        let is_gzip =
            op.answer.is_gzip().map_err(|_| malformed("answer in an encoding that cannot be read"))?;
        let start = is_gzip.then(|| gunzip_start(&op.answer.body, FIRST_ENTRY));
        let first = first_entry(start.as_deref().unwrap_or(&op.answer.body));
        match first {
            Some(entry) => self.remember(&entry, op.place.draw),
            None if start.as_ref().is_some_and(|start| start.len() == FIRST_ENTRY) => {}
            None => return Err(malformed("answer is not a bundle")),
        }
        Ok((tile, is_gzip))
    }

    fn remember(&self, entry: &Entry<'_>, draw: u64) {
        let count = (entry.fingerprints.len() as u64).max(1);
        if let Some(fingerprint) = entry.fingerprints.get((draw % count) as usize) {
            self.fingerprints.borrow_mut().add(Hash(*fingerprint), draw);
        }
    }

    /// Reads the tile that the operation is of; the full tile where the partial one is no longer there.
    async fn own_tile(
        &self,
        level: Level,
        head: &Head,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<TileId, Ended> {
        let leaf = op.place.first_leaf(FULL_WIDTH.into(), head.size);
        let tile = TileId::covering(level, leaf, head.size).ok_or(malformed("tree without that leaf"))?;
        let mut ended = self.tile_at(tile, op, record).await;
        if op.answer.status == StatusCode::NOT_FOUND && !tile.is_full() {
            ended = self.tile_at(tile.full(), op, record).await;
        }
        if op.answer.status == StatusCode::NOT_FOUND && level != Level::Names {
            self.lack(record, Lack::Missing(tile));
        }
        ended.map(|()| tile)
    }

    async fn tile_at(&self, tile: TileId, op: &mut ReadOp, record: &OperationRecord) -> Result<(), Ended> {
        let path = format!("/{tile}");
        match tile.level {
            Level::Hashes(_) => self.get(&path, &mut op.answer, record).await,
            _ => self.get_compressed(&path, &mut op.answer, record).await,
        }
    }

    /// The bundle of a names tile, and as for a bundle.
    async fn entries_and_hashes(
        &self,
        names: TileId,
        head: &Head,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<Vec<Support>, Lack> {
        let bundle = TileId { level: Level::Data, ..names };
        let mut supports = vec![self.support(bundle, answer, record).await?];
        supports.extend(self.leaf_hashes(bundle, head, answer, record).await?);
        Ok(supports)
    }

    /// The hash tile of a bundle, and its way up to the root.
    async fn leaf_hashes(
        &self,
        bundle: TileId,
        head: &Head,
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
        head: &Head,
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
        head: &Head,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<Arc<[Support]>, Lack> {
        let mut known = head.edges.lock().await;
        if let Some(edges) = &*known {
            return Ok(edges.clone());
        }
        let mut edges = Vec::new();
        for tile in self::edges(head.size) {
            edges.push(self.support(tile, answer, record).await?);
        }
        Ok(known.insert(edges.into()).clone())
    }

    /// Reads a tile beside the operation; the full tile where the partial one is no longer there.
    async fn support(
        &self,
        tile: TileId,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<Support, Lack> {
        let is_data = tile.level == Level::Data;
        let mut ended = self.get_beside(&format!("/{tile}"), is_data, answer, record).await;
        if answer.status == StatusCode::NOT_FOUND && !tile.is_full() {
            ended = self.get_beside(&format!("/{}", tile.full()), is_data, answer, record).await;
        }
        match (ended, answer.status) {
            (Ok(()), _) => {
                if !is_data {
                    answer.decode(FULL_TILE).map_err(|_| Lack::Unreadable(tile))?;
                }
                let is_gzip = answer.is_gzip().map_err(|_| Lack::Unreadable(tile))?;
                Ok(Support { tile, is_gzip, bytes: answer.body.as_slice().into() })
            }
            (Err(_), StatusCode::NOT_FOUND) => Err(Lack::Missing(tile)),
            (Err(_), _) => Err(Lack::Refused),
        }
    }
}

fn first_entry(bundle: &[u8]) -> Option<Entry<'_>> {
    Entries::new(bundle).next()?.ok()
}

/// Bytes of a full hash tile.
const FULL_TILE: usize = FULL_WIDTH as usize * 32;
/// Within so many bytes there is a first entry of any usual size.
const FIRST_ENTRY: usize = 64 << 10;
