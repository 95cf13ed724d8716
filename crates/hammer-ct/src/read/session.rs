use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use hammer_audit::LogClient;
use hammer_core::record::{OperationRecord, StepGuard};
use hammer_core::runtime::Clock;
use hammer_core::workload::Ended;
use hammer_exchange::{exchange, expect_ok};
use hammer_net::Answer;
use hammer_tlog::logs::merkle::Hash;

use super::head::Head;
use super::record::{Check, Part};
use super::support::{Lack, Shelf};
use super::{ReadOp, malformed, record};

/// Where a shard reads, and what it has seen of the tree.
pub struct ReadSession {
    own: LogClient,
    /// The connections of what is read beside operations.
    beside: LogClient,
    clock: Rc<dyn Clock>,
    tree_head_path: &'static str,
    /// The series of what is read beside operations.
    path_series: usize,
    /// Tree heads of different sizes, the largest last; none is of an empty tree.
    heads: RefCell<VecDeque<Arc<Head>>>,
    pub(super) shelf: RefCell<Shelf>,
    pub(super) fingerprints: RefCell<SeenHashes>,
    pub(super) leaves: RefCell<SeenHashes>,
    record: RefCell<Vec<u8>>,
}

/// Hashes that were seen, so many that draws differ.
#[derive(Debug, Default)]
pub(super) struct SeenHashes(Vec<Hash>);

impl ReadSession {
    pub(super) fn new(
        own: LogClient,
        beside: LogClient,
        tree_head_path: &'static str,
        path_series: usize,
        clock: Rc<dyn Clock>,
    ) -> Self {
        let (heads, shelf, fingerprints, leaves, record) = Default::default();
        Self { own, beside, clock, tree_head_path, path_series, heads, shelf, fingerprints, leaves, record }
    }

    /// The head of the largest tree that was seen; none before there was a leaf in it.
    pub(super) fn newest(&self) -> Option<Arc<Head>> {
        self.heads.borrow().back().cloned()
    }

    /// Whether there is no older head than this one.
    pub(super) fn is_first(&self, head: &Arc<Head>) -> bool {
        self.heads.borrow().front().is_some_and(|first| Arc::ptr_eq(first, head))
    }

    /// The head of the largest tree, and an older one; the same where there is but one.
    pub(super) fn two_heads(&self, draw: u64) -> Option<(Arc<Head>, Arc<Head>)> {
        let heads = self.heads.borrow();
        let older = (draw % (heads.len() as u64 - 1).max(1)) as usize;
        Some((heads.get(older)?.clone(), heads.back()?.clone()))
    }

    /// Reads the tree head and keeps it; none where the tree is empty.
    pub(super) async fn tree_head(
        &self,
        op: &mut ReadOp,
        record: &OperationRecord,
        size_of: fn(&[u8]) -> Option<u64>,
    ) -> Result<Option<Arc<Head>>, Ended> {
        self.get(self.tree_head_path, &mut op.answer, record).await?;
        let body = &op.answer.body;
        let size = size_of(body).ok_or(malformed("answer is not a tree head"))?;
        self.promise(record, Check::TreeHead, [Part::bytes(body)]);
        let mut heads = self.heads.borrow_mut();
        // One of several servers may be behind the others.
        if size > heads.back().map_or(0, |newest| newest.size) {
            if heads.len() == MOST_HEADS {
                heads.pop_front();
            }
            heads.push_back(Arc::new(Head::new(body.clone(), size)));
        }
        Ok(heads.back().cloned())
    }

    /// One exchange of the operation; fails unless it ended by a 200.
    pub(super) async fn get(
        &self,
        path: &str,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        self.read((&self.own, path, false), answer, record.exchange()).await
    }

    /// One exchange of the operation, whose answer may be compressed.
    pub(super) async fn get_compressed(
        &self,
        path: &str,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        self.read((&self.own, path, true), answer, record.exchange()).await
    }

    /// One exchange beside the operation, whose answer may be compressed where that is said.
    pub(super) async fn get_beside(
        &self,
        path: &str,
        compressed: bool,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        self.read((&self.beside, path, compressed), answer, record.step(self.path_series)).await
    }

    async fn read(
        &self,
        (source, path, compressed): (&LogClient, &str, bool),
        answer: &mut Answer,
        mut step: StepGuard<'_>,
    ) -> Result<(), Ended> {
        let get = async |answer: &mut Answer| match compressed {
            true => source.get_compressed(path, answer).await,
            false => source.get(path, answer).await,
        };
        exchange(&mut step, answer, self.clock.as_ref(), get).await?;
        expect_ok(&mut step, answer)
    }

    pub(super) fn promise<'a>(
        &self,
        record: &OperationRecord,
        check: Check,
        parts: impl IntoIterator<Item = Part<'a>>,
    ) {
        let mut bytes = self.record.borrow_mut();
        record::write(&mut bytes, check, parts);
        record.promise(check.promise().into(), &bytes);
        bytes.shrink_to(KEPT_RECORD);
    }

    /// A promise whose proof came whole and cannot be read.
    pub(super) fn unreadable(&self, record: &OperationRecord, found: &str) {
        self.promise(record, Check::Unreadable, [Part::bytes(found.as_bytes())]);
    }

    /// A promise that cannot be held against anything.
    pub(super) fn lack(&self, record: &OperationRecord, lack: Lack) {
        match lack {
            Lack::Missing(tile) => self.promise(record, Check::Missing, [Part::tile(tile, false, &[])]),
            Lack::Unreadable(tile) => {
                self.unreadable(record, &format!("{tile}: its encoding cannot be read"));
            }
            Lack::Refused => self.promise(record, Check::Unverified, []),
        }
    }
}

impl SeenHashes {
    pub(super) fn add(&mut self, hash: Hash, draw: u64) {
        if self.0.contains(&hash) {
            return;
        }
        match self.0.len() {
            MOST_SEEN => self.0[(draw % MOST_SEEN as u64) as usize] = hash,
            _ => self.0.push(hash),
        }
    }

    pub(super) fn any(&self, draw: u64) -> Option<Hash> {
        self.0.get((draw % (self.0.len() as u64).max(1)) as usize).copied()
    }
}

const MOST_HEADS: usize = 16;
const MOST_SEEN: usize = 512;
/// A record of one huge bundle must not be held in memory for the rest of the run.
const KEPT_RECORD: usize = 1 << 20;
