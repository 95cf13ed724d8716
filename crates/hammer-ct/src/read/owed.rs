//! What a read still has to be held against.

use std::sync::Arc;

use hammer_core::record::OperationRecord;
use hammer_read::SeenHead;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::tile::TileId;

use super::ReadOp;
use super::session::ReadSession;
use crate::promise::LogPromise;

/// What an operation has read, and still has to be held against the head that the session knew then.
#[derive(Debug)]
pub(super) struct OwedCheck {
    pub(super) head: Arc<SeenHead>,
    pub(super) answer: OwedAnswer,
}

/// What the answer is.
#[derive(Clone, Copy, Debug)]
pub(super) enum OwedAnswer {
    /// A hash tile of level 0.
    Tile(TileId),
    /// A bundle, and whether it is compressed.
    Bundle(TileId, bool),
    /// A names tile, and whether it is compressed.
    Names(TileId, bool),
    /// A tile that the server which was asked does not have, so that the others, and it itself later, are asked first.
    Missing(TileId),
    /// An issuer that the server which was asked does not have: likewise.
    MissingIssuer(Hash),
    /// Entries: the first one's index, and how many there are.
    Entries(u64, u64),
}

impl ReadSession {
    /// Leaves the rest to [`ReadSession::check`], once the operation's own end is fixed.
    pub(super) fn owe(
        &self,
        head: &Arc<SeenHead>,
        answer: OwedAnswer,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) {
        op.owed = Some(OwedCheck { head: head.clone(), answer });
        let promise = match answer {
            OwedAnswer::MissingIssuer(_) => LogPromise::Issuer,
            _ => LogPromise::Inclusion,
        };
        record.check_beside(promise.into());
    }

    /// Reads what the answer is held against, and promises.
    pub(super) async fn check(&self, owed: &OwedCheck, op: &mut ReadOp, record: &OperationRecord) {
        let OwedCheck { head, answer } = owed;
        match *answer {
            OwedAnswer::Tile(tile) => self.check_tile(tile, head, op, record).await,
            OwedAnswer::Bundle(tile, is_gzip) => self.check_bundle((tile, is_gzip), head, op, record).await,
            OwedAnswer::Names(tile, is_gzip) => self.check_names((tile, is_gzip), head, op, record).await,
            OwedAnswer::Missing(tile) => self.check_missing(tile, head, op, record).await,
            OwedAnswer::MissingIssuer(fingerprint) => {
                self.check_missing_issuer(fingerprint, op, record).await;
            }
            OwedAnswer::Entries(start, count) => self.check_entries((start, count), head, op, record).await,
        }
    }
}
