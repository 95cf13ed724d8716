use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, OperationRecord};
use hammer_measure::Outcome;
use hammer_net::{Answer, Failure};
use hammer_tlog::merkle::Hash;

use super::head::Head;
use super::record::{Check, Part};
use super::support::{Lack, Shelf};
use super::{ReadOp, malformed, record};
use crate::answer;
use crate::source::Source;

/// Where a shard reads, and what it has seen of the tree.
pub struct ReadSession {
    pub(super) source: Source,
    pub(super) clock: Rc<dyn Clock>,
    tree_head_path: &'static str,
    /// The series of what is read beside operations.
    path_series: usize,
    /// Tree heads of different sizes, the largest last; none is of an empty tree.
    heads: RefCell<VecDeque<Rc<Head>>>,
    pub(super) shelf: RefCell<Shelf>,
    pub(super) fingerprints: RefCell<Seen>,
    pub(super) leaves: RefCell<Seen>,
    record: RefCell<Vec<u8>>,
}

/// Hashes that were seen, so many that draws differ.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<Hash>);

impl ReadSession {
    pub(super) fn new(
        source: Source,
        tree_head_path: &'static str,
        path_series: usize,
        clock: Rc<dyn Clock>,
    ) -> Self {
        let (heads, shelf, fingerprints, leaves, record) = Default::default();
        Self { source, clock, tree_head_path, path_series, heads, shelf, fingerprints, leaves, record }
    }

    /// The head of the largest tree that was seen; none before there was a leaf in it.
    pub(super) fn newest(&self) -> Option<Rc<Head>> {
        self.heads.borrow().back().cloned()
    }

    /// Whether there is no older head than this one.
    pub(super) fn is_first(&self, head: &Rc<Head>) -> bool {
        self.heads.borrow().front().is_some_and(|first| Rc::ptr_eq(first, head))
    }

    /// The head of the largest tree, and an older one; the same where there is but one.
    pub(super) fn two_heads(&self, draw: u64) -> Option<(Rc<Head>, Rc<Head>)> {
        let heads = self.heads.borrow();
        let older = (draw % (heads.len() as u64 - 1).max(1)) as usize;
        Some((heads.get(older)?.clone(), heads.back()?.clone()))
    }

    /// Reads the tree head and keeps it; none where the tree is empty.
    pub(super) async fn tree_head(
        &self,
        op: &mut ReadOp,
        steps: &mut OperationRecord,
        size_of: fn(&[u8]) -> Option<u64>,
    ) -> Result<Option<Rc<Head>>, Ended> {
        self.get(self.tree_head_path, &mut op.answer, steps).await?;
        let body = &op.answer.body;
        let size = size_of(body).ok_or(malformed("answer is not a tree head"))?;
        self.promise(steps, Check::TreeHead, [Part::bytes(body)]);
        let mut heads = self.heads.borrow_mut();
        // One of several servers may be behind the others.
        if size > heads.back().map_or(0, |newest| newest.size) {
            if heads.len() == MOST_HEADS {
                heads.pop_front();
            }
            heads.push_back(Rc::new(Head::new(body.clone(), size)));
        }
        Ok(heads.back().cloned())
    }

    /// One exchange of the operation; fails unless it ended by a 200.
    pub(super) async fn get(
        &self,
        path: &str,
        answer: &mut Answer,
        steps: &mut OperationRecord,
    ) -> Result<(), Ended> {
        let sent = self.source.get(path, answer).await;
        steps.exchange(&answer::exchange(answer, self.clock.as_ref()));
        ok(sent, answer)
    }

    /// One exchange of the operation, whose answer may be compressed.
    pub(super) async fn get_compressed(
        &self,
        path: &str,
        answer: &mut Answer,
        steps: &mut OperationRecord,
    ) -> Result<(), Ended> {
        let sent = self.source.get_compressed(path, answer).await;
        steps.exchange(&answer::exchange(answer, self.clock.as_ref()));
        ok(sent, answer)
    }

    /// One exchange beside the operation.
    pub(super) async fn get_beside(
        &self,
        path: &str,
        compressed: bool,
        answer: &mut Answer,
        steps: &mut OperationRecord,
    ) -> Result<(), Ended> {
        let begun = self.clock.now();
        let sent = match compressed {
            true => self.source.get_compressed(path, answer).await,
            false => self.source.get(path, answer).await,
        };
        let exchange = answer::exchange(answer, self.clock.as_ref());
        let ended = ok(sent, answer);
        steps.beside(self.path_series, begun, &exchange, ended.err().unwrap_or(Ended::accepted(200)));
        ended
    }

    pub(super) fn promise<'a>(
        &self,
        steps: &mut OperationRecord,
        check: Check,
        parts: impl IntoIterator<Item = Part<'a>>,
    ) {
        let mut record = self.record.borrow_mut();
        record::write(&mut record, check, parts);
        steps.promise(&record);
        record.shrink_to(KEPT_RECORD);
    }

    /// A promise whose proof came whole and cannot be read.
    pub(super) fn unreadable(&self, steps: &mut OperationRecord, found: &str) {
        self.promise(steps, Check::Unreadable, [Part::bytes(found.as_bytes())]);
    }

    /// A promise that cannot be held against anything.
    pub(super) fn lack(&self, steps: &mut OperationRecord, lack: Lack) {
        match lack {
            Lack::Missing(tile) => self.promise(steps, Check::Missing, [Part::tile(tile, false, &[])]),
            Lack::Unreadable(tile) => {
                self.unreadable(steps, &format!("{tile}: its encoding cannot be read"));
            }
            Lack::Refused => self.promise(steps, Check::Unverified, []),
        }
    }
}

impl Seen {
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

fn ok(sent: Result<(), Failure>, answer: &Answer) -> Result<(), Ended> {
    match (sent, answer.status.as_u16()) {
        (Err(failure), _) => Err(answer::failed(&failure)),
        (Ok(()), 200) => Ok(()),
        (Ok(()), status) => Err(match Ended::of_status(status) {
            Ended { outcome: Outcome::Accepted, .. } => malformed("success that is not 200"),
            ended => ended,
        }),
    }
}

const MOST_HEADS: usize = 16;
const MOST_SEEN: usize = 512;
/// A record of one huge bundle must not be held in memory for the rest of the run.
const KEPT_RECORD: usize = 1 << 20;
