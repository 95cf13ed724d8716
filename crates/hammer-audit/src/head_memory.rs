//! Where heads go that were verified beside the auditor.

use std::fmt;
use std::sync::Arc;

use hammer_measure::Nanos;
use hammer_tlog::logs::follow::Head;

use crate::answered_heads::AnsweredHeads;
use crate::source::{HeadId, OpenedHead};

/// Where heads of a log go that were verified beside its auditor, which holds each of them against the tree that it follows.
#[derive(Clone)]
pub struct HeadMemory(Arc<AnsweredHeads>);

impl HeadMemory {
    pub(crate) fn of(heads: Arc<AnsweredHeads>) -> Self {
        Self(heads)
    }

    /// Takes the head that an answer came with, which says no time, as it was received then; each is taken once.
    pub fn answered(&self, head: HeadId, raw: &[u8], received: Nanos) {
        let HeadId { tree, size, root } = head;
        let (fetched_ns, raw) = (received.0, raw.into());
        self.0.offer_beside(tree, Head { size, root, timestamp_ms: 0, fetched_ns, asked_ns: 0, raw });
    }

    /// Takes a head of the log's tree, as it was served then; each is taken once.
    pub fn seen(&self, head: &OpenedHead, raw: &[u8], at: Nanos) {
        let &OpenedHead { size, root, timestamp_ms, .. } = head;
        let (tree, raw) = (head.shards.active, raw.into());
        self.0.offer_beside(tree, Head { size, root, timestamp_ms, fetched_ns: at.0, asked_ns: 0, raw });
    }
}

impl fmt::Debug for HeadMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeadMemory").finish_non_exhaustive()
    }
}
