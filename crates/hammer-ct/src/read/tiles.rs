//! Tiles and bundles, as they are read under load.

use std::sync::Arc;

use hammer_audit::AnswerBound;
use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_net::{Answer, gunzip_start};
use hammer_read::{FULL_TILE, LARGEST_TILE, Lack, LogReads, Part, SeenHead, Support, UnreadTile, malformed};
use hammer_tlog::ct::bundle::{Entries, Entry};
use hammer_tlog::logs::merkle::Hash;
use hammer_tlog::logs::tile::{Level, TileId};
use http::StatusCode;

use super::ReadOp;
use super::owed::OwedAnswer;
use super::record::Check;
use super::session::ReadSession;

impl ReadSession {
    /// Reads a hash tile of level 0.
    pub(super) async fn tile(
        &self,
        head: &Arc<SeenHead>,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let tile = self.own_tile(Level::Hashes(0), head, op, record).await?;
        if op.answer.decode(FULL_TILE).is_err() {
            return Err(self.unreadable_tile(tile, record));
        }
        let parsed = tile.parse_hashes(&op.answer.body);
        // One of the wrong length is held against the tree too, which tells that it is none of its tiles.
        self.owe(head, OwedAnswer::Tile(tile), op, record);
        parsed.map(drop).map_err(|_| malformed("tile of the wrong length"))
    }

    pub(super) async fn check_tile(
        &self,
        tile: TileId,
        head: &SeenHead,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) {
        let supports = self.beside_tile(tile, head, &mut op.beside, record).await;
        self.hold(record, Check::Tile, head, Part::tile(tile, false, &op.answer.body), supports);
    }

    /// Reads a bundle of entries.
    pub(super) async fn bundle(
        &self,
        head: &Arc<SeenHead>,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let (tile, is_gzip, read) = self.own_bundle(head, op, record).await?;
        // What is no bundle is held against the tree too, which tells that its entries are not there.
        self.owe(head, OwedAnswer::Bundle(tile, is_gzip), op, record);
        read
    }

    pub(super) async fn check_bundle(
        &self,
        (tile, is_gzip): (TileId, bool),
        head: &SeenHead,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) {
        let supports = self.beside_bundle(tile, head, &mut op.beside, record).await;
        self.hold(record, Check::Bundle, head, Part::tile(tile, is_gzip, &op.answer.body), supports);
    }

    /// Reads a names tile.
    pub(super) async fn names(
        &self,
        head: &Arc<SeenHead>,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let tile = self.own_tile(Level::Names, head, op, record).await?;
        let Ok(is_gzip) = op.answer.gzip_or_plain(LARGEST_TILE) else {
            return Err(self.unreadable_tile(tile, record));
        };
        self.owe(head, OwedAnswer::Names(tile, is_gzip), op, record);
        Ok(())
    }

    pub(super) async fn check_names(
        &self,
        (tile, is_gzip): (TileId, bool),
        head: &SeenHead,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) {
        let supports = self.entries_and_hashes(tile, head, &mut op.beside, record).await;
        self.hold(record, Check::Names, head, Part::tile(tile, is_gzip, &op.answer.body), supports);
    }

    /// Reads an issuer whose fingerprint was seen; where none was, a bundle is read first.
    pub(super) async fn issuer(
        &self,
        head: &Arc<SeenHead>,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        if self.fingerprints.borrow().any(0).is_none() {
            let (_, _, read) = self.own_bundle(head, op, record).await?;
            read?;
        }
        let any = self.fingerprints.borrow().any(op.place.draw);
        let fingerprint = any.ok_or(malformed("bundle without an issuer"))?;
        let path = format!("/issuer/{fingerprint}");
        if let Err(ended) = self.get((&path, Some(AnswerBound::ISSUER)), &mut op.answer, record).await {
            if op.answer.status == StatusCode::NOT_FOUND {
                self.owe(head, OwedAnswer::MissingIssuer(fingerprint), op, record);
            }
            return Err(ended);
        }
        let parts = [Part::bytes(&fingerprint.0), Part::bytes(&op.answer.body)];
        self.promise(record, Check::Issuer, parts);
        Ok(())
    }

    /// Reads an issuer again, later and at the log's other servers, since one may be behind the others.
    pub(super) async fn check_missing_issuer(
        &self,
        fingerprint: Hash,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) {
        let path = format!("/issuer/{fingerprint}");
        let read = self.get_beside(&path, &mut op.beside, record).await;
        let (own, found) = (Part::bytes(&fingerprint.0), Part::bytes(&op.beside.body));
        match (read, op.beside.status) {
            (Ok(()), _) => self.promise(record, Check::Issuer, [own, found]),
            (Err(_), StatusCode::NOT_FOUND) => self.promise(record, Check::Issuer, [own]),
            (Err(_), _) => self.promise(record, Check::Issuer, []),
        }
    }

    /// Promises that what was read holds against the head and what else was read for it.
    fn hold(
        &self,
        record: &OperationRecord,
        check: Check,
        head: &SeenHead,
        own: Part<'_>,
        supports: Result<Vec<Support>, Lack>,
    ) {
        match supports {
            Ok(supports) => {
                let supports = supports.iter().map(Support::part);
                self.promise(record, check, [Part::bytes(&head.raw), own].into_iter().chain(supports));
            }
            Err(lack) => self.lack(record, head, lack),
        }
    }

    /// Reads a bundle as the operation's own; says whether it is compressed, and whether it starts with an entry.
    async fn own_bundle(
        &self,
        head: &Arc<SeenHead>,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(TileId, bool, Result<(), Ended>), Ended> {
        let tile = self.own_tile(Level::Data, head, op, record).await?;
        let Ok(is_gzip) = op.answer.gzip_or_plain(LARGEST_TILE) else {
            return Err(self.unreadable_tile(tile, record));
        };
        let start = is_gzip.then(|| gunzip_start(&op.answer.body, FIRST_ENTRY));
        let first = first_entry(start.as_deref().unwrap_or(&op.answer.body));
        match first {
            Some(entry) => self.remember(&entry, op.place.draw),
            None if start.as_ref().is_some_and(|start| start.len() == FIRST_ENTRY) => {}
            None => return Ok((tile, is_gzip, Err(malformed("answer is not a bundle")))),
        }
        Ok((tile, is_gzip, Ok(())))
    }

    fn remember(&self, entry: &Entry<'_>, draw: u64) {
        let count = (entry.fingerprints.len() as u64).max(1);
        if let Some(fingerprint) = entry.fingerprints.get((draw % count) as usize) {
            self.fingerprints.borrow_mut().add(Hash(*fingerprint), draw);
        }
    }

    /// Reads the tile that the operation is of.
    async fn own_tile(
        &self,
        level: Level,
        head: &Arc<SeenHead>,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<TileId, Ended> {
        let read = LogReads::own_tile(self, level, op.place, head, &mut op.answer, record).await;
        let UnreadTile { ended, missing } = match read {
            Ok(tile) => return Ok(tile),
            Err(unread) => unread,
        };
        if let Some(tile) = missing.filter(|_| level != Level::Names) {
            self.owe(head, OwedAnswer::Missing(tile), op, record);
        }
        Err(ended)
    }

    /// Reads a tile again, at the log's servers and later, since one may be behind the others: it is the log's wherever it is.
    pub(super) async fn check_missing(
        &self,
        tile: TileId,
        head: &SeenHead,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) {
        if let Err(lack) = self.elsewhere(tile, &mut op.answer, record).await {
            return self.lack(record, head, lack);
        }
        let decoded = match tile.level {
            Level::Hashes(_) => op.answer.decode(FULL_TILE).map_err(|_| Lack::Unreadable(tile)),
            _ => Ok(()),
        };
        match (
            decoded.and_then(|()| op.answer.gzip_or_plain(LARGEST_TILE).map_err(|_| Lack::Unreadable(tile))),
            tile.level,
        ) {
            (Ok(_), Level::Hashes(_)) => self.check_tile(tile, head, op, record).await,
            (Ok(is_gzip), _) => self.check_bundle((tile, is_gzip), head, op, record).await,
            (Err(lack), _) => self.lack(record, head, lack),
        }
    }

    /// The bundle of a names tile, and as for a bundle.
    async fn entries_and_hashes(
        &self,
        names: TileId,
        head: &SeenHead,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<Vec<Support>, Lack> {
        let bundle = TileId { level: Level::Data, ..names };
        let mut supports = vec![self.support(bundle, answer, record).await?];
        supports.extend(self.beside_bundle(bundle, head, answer, record).await?);
        Ok(supports)
    }
}

fn first_entry(bundle: &[u8]) -> Option<Entry<'_>> {
    Entries::new(bundle).next()?.ok()
}

/// Within so many bytes there is a first entry of any usual size.
const FIRST_ENTRY: usize = 64 << 10;
