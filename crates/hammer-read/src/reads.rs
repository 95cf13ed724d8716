use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use hammer_audit::{AnswerBound, LogClient, LogRequest};
use hammer_core::promise::PromiseKind;
use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::workload::Ended;
use hammer_measure::{Nanos, Outcome};
use hammer_net::Answer;
use hammer_tlog::logs::tile::TileId;

use crate::head::SeenHead;
use crate::part::{Part, write_parts};
use crate::steps::{LATER_LOOKS, LogSteps, NEXT_LOOK};
use crate::support::Shelf;
use crate::tile_waits::TileWaits;

/// Where a shard reads a log, and what it has seen of its tree.
pub struct LogReads {
    pub(crate) own: LogSteps,
    /// The connections of what is read beside operations.
    pub(crate) beside: LogSteps,
    /// The series of what is read beside operations.
    pub(crate) path_series: usize,
    /// Tree heads of different sizes, the largest last; none is of an empty tree.
    heads: RefCell<VecDeque<Arc<SeenHead>>>,
    /// How many heads in a row were of smaller trees than the newest.
    behind: Cell<u32>,
    pub(crate) shelf: RefCell<Shelf>,
    /// Tiles that the log did not have, at a later look either, and has not had since.
    pub(crate) absent: RefCell<BTreeSet<TileId>>,
    /// Who waits for tiles that were not there at first.
    pub(crate) waits: TileWaits,
    /// How often a tile that is not there is looked for again, a second apart, before it is missing.
    pub(crate) looks: u32,
    record: RefCell<Vec<u8>>,
}

impl LogReads {
    /// Reads by `own`; what an answer is held against is read by `beside`, as steps of the series `path_series`.
    pub fn new(own: LogClient, beside: LogClient, path_series: usize, clock: &Rc<dyn Clock>) -> Self {
        let (heads, behind, shelf, absent, waits, record) = Default::default();
        let [own, beside] = [own, beside].map(|client| LogSteps::new(client, clock.clone()));
        Self { own, beside, path_series, heads, behind, shelf, absent, waits, looks: LATER_LOOKS, record }
    }

    /// Waits so long, at least, for tiles of a log one of whose servers may lag so far behind another.
    #[must_use]
    pub fn waiting(self, lag: Nanos) -> Self {
        let seconds = lag.0.div_ceil(NEXT_LOOK.0);
        Self { looks: LATER_LOOKS.max(u32::try_from(seconds).unwrap_or(u32::MAX)), ..self }
    }

    /// The head of the largest tree that was seen; none before there was a leaf in it.
    pub fn newest(&self) -> Option<Arc<SeenHead>> {
        self.heads.borrow().back().cloned()
    }

    /// Whether there is no older head than this one.
    pub fn is_first(&self, head: &Arc<SeenHead>) -> bool {
        self.heads.borrow().front().is_some_and(|first| Arc::ptr_eq(first, head))
    }

    /// The head of the largest tree, and an older one; the same where there is but one.
    pub fn two_heads(&self, draw: u64) -> Option<(Arc<SeenHead>, Arc<SeenHead>)> {
        let heads = self.heads.borrow();
        let older = (draw % (heads.len() as u64 - 1).max(1)) as usize;
        Some((heads.get(older)?.clone(), heads.back()?.clone()))
    }

    /// Keeps a head that was served, of a tree of `size` leaves; returns that of the largest tree, or none where that is empty.
    ///
    /// Nobody has looked at its signature yet: one of a tree that nobody signed, and that is larger than the log's, goes again once only smaller
    /// ones are served. What is read of the tree of an older head is there as well.
    pub fn saw(&self, raw: &[u8], size: u64) -> Option<Arc<SeenHead>> {
        let mut heads = self.heads.borrow_mut();
        // One of several servers may be behind the others.
        let is_behind = heads.back().is_some_and(|newest| size < newest.size);
        self.behind.set(if is_behind { self.behind.get() + 1 } else { 0 });
        if self.behind.get() == MOST_BEHIND {
            self.behind.set(0);
            heads.retain(|head| head.size <= size);
        }
        if size > heads.back().map_or(0, |newest| newest.size) {
            if heads.len() == MOST_HEADS {
                heads.pop_front();
            }
            heads.push_back(Arc::new(SeenHead::new(raw.to_vec(), size)));
        }
        heads.back().cloned()
    }

    /// One exchange of the operation, whose answer is within that bound, or that of the plan where it is `None`.
    ///
    /// # Errors
    /// How it ends, unless by a 200.
    pub async fn get(
        &self,
        (path, bound): (&str, Option<AnswerBound>),
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let asked = LogRequest { path, compressed: false, bound };
        self.own.get(asked, answer, record.exchange()).await
    }

    /// One exchange beside the operation; and again a second later, twice at most, where that failed for then or was refused.
    ///
    /// # Errors
    /// How it ends, unless by a 200.
    pub async fn get_beside(
        &self,
        path: &str,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let asked = LogRequest { path, compressed: false, bound: None };
        self.beside.get_or_later(asked, answer, || record.step(self.path_series)).await
    }

    /// Promises what the parts show by that check, a number of the protocol's own.
    pub fn promise<'a>(
        &self,
        record: &OperationRecord,
        kind: PromiseKind,
        check: u8,
        parts: impl IntoIterator<Item = Part<'a>>,
    ) {
        let mut bytes = self.record.borrow_mut();
        write_parts(&mut bytes, check, parts);
        record.promise(kind, &bytes);
        bytes.shrink_to(KEPT_RECORD);
    }
}

/// How an operation ends whose answer does not have its form.
pub fn malformed(why: &'static str) -> Ended {
    Ended::failed(Outcome::Malformed, why)
}

/// So many heads in a row of smaller trees: one of several servers alone that lags says fewer.
const MOST_BEHIND: u32 = 3;
const MOST_HEADS: usize = 16;
/// A record of one huge bundle must not be held in memory for the rest of the run.
const KEPT_RECORD: usize = 1 << 20;
