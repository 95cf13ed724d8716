//! What a shard that reads has seen.

use std::cell::RefCell;
use std::ops::Deref;
use std::sync::Arc;

use hammer_audit::AnswerBound;
use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_read::{Lack, LogReads, Part, SeenHashes, SeenHead, malformed};
use hammer_tlog::logs::tile::TileId;

use super::ReadOp;
use super::record::Check;

/// Where a shard reads, and what it has seen of the tree.
pub struct ReadSession {
    reads: LogReads,
    tree_head_path: &'static str,
    /// Most bytes of any answer, by the plan.
    largest_answer: usize,
    pub(super) fingerprints: RefCell<SeenHashes>,
    pub(super) leaves: RefCell<SeenHashes>,
}

impl ReadSession {
    pub(super) fn new(reads: LogReads, tree_head_path: &'static str, largest_answer: usize) -> Self {
        let (fingerprints, leaves) = Default::default();
        Self { reads, tree_head_path, largest_answer, fingerprints, leaves }
    }

    /// How long an answer with so many entries of RFC 6962 may be.
    pub(super) fn bound_of_entries(&self, entries: u64) -> AnswerBound {
        let bytes = usize::try_from(entries).unwrap_or(usize::MAX).saturating_mul(LARGEST_ENTRY);
        AnswerBound::of(bytes.min(self.largest_answer))
    }

    /// Reads the tree head and keeps it; none where the tree is empty.
    pub(super) async fn tree_head(
        &self,
        op: &mut ReadOp,
        record: &OperationRecord,
        size_of: fn(&[u8]) -> Option<u64>,
    ) -> Result<Option<Arc<SeenHead>>, Ended> {
        self.get((self.tree_head_path, Some(AnswerBound::HEAD)), &mut op.answer, record).await?;
        let body = &op.answer.body;
        let size = size_of(body).ok_or(malformed("answer is not a tree head"))?;
        self.promise(record, Check::TreeHead, [Part::bytes(body)]);
        Ok(self.saw(body, size))
    }

    pub(super) fn promise<'a>(
        &self,
        record: &OperationRecord,
        check: Check,
        parts: impl IntoIterator<Item = Part<'a>>,
    ) {
        self.reads.promise(record, check.promise().into(), check as u8, parts);
    }

    /// A promise whose proof came whole and cannot be read.
    pub(super) fn unreadable(&self, record: &OperationRecord, found: &str) {
        self.promise(record, Check::Unreadable, [Part::bytes(found.as_bytes())]);
    }

    /// The same of a tile in an encoding that cannot be read; how the operation ends whose own it is.
    pub(super) fn unreadable_tile(&self, tile: TileId, record: &OperationRecord) -> Ended {
        self.unreadable(record, &format!("{tile}: its encoding cannot be read"));
        malformed("answer in an encoding that cannot be read")
    }

    /// A promise that cannot be held against anything.
    pub(super) fn lack(&self, record: &OperationRecord, head: &SeenHead, lack: Lack) {
        match lack {
            Lack::Missing(tile) => {
                let parts = [Part::bytes(&head.raw), Part::tile(tile, false, &[])];
                self.promise(record, Check::Missing, parts);
            }
            Lack::Unreadable(tile) => drop(self.unreadable_tile(tile, record)),
            Lack::Refused => self.promise(record, Check::Unverified, []),
        }
    }
}

impl Deref for ReadSession {
    type Target = LogReads;

    fn deref(&self) -> &LogReads {
        &self.reads
    }
}

/// A leaf with its chain in base64.
const LARGEST_ENTRY: usize = 256 << 10;
