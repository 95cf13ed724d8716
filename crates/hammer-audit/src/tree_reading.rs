//! What an audit needs of a way to read a tree.

use std::path::PathBuf;

use hammer_core::promise::Fault;
use hammer_measure::Nanos;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{AuditBounds, Finding, Receipt, ReceiptClock, Verdict};
use hammer_tlog::logs::follow::{Event, Follower};

use crate::answered_heads::AnsweredHeads;
use crate::reader::AuditReader;
use crate::trouble::Trouble;

/// A round of an audit.
pub(crate) struct AuditRound<'a> {
    /// When it started.
    pub(crate) now: Nanos,
    /// The same, in milliseconds since 1970.
    pub(crate) unix_ms: u64,
    /// Whether every operation has ended, so that reading is in nobody's way.
    pub(crate) is_judging: bool,
    /// The heads that answers came with.
    pub(crate) heads: &'a AnsweredHeads,
}

/// How the leaves of a log are read, and receipts held against them: by its tiles, by its entries, or by what answers came with.
pub(crate) trait TreeReading<L>: Sized {
    /// Whether the log is followed by the heads that answers and reads came with as well, ahead of those that it serves.
    const GROWS_BY_ANSWERS: bool = false;

    /// What it reads nothing without: the follower of the same log.
    fn follower() -> Follower;

    /// Within these bounds, and by that clock; what memory does not hold is spilled to that folder.
    fn new(bounds: AuditBounds, clock: ReceiptClock, spilled: PathBuf) -> Self;

    /// Takes what the follower tells.
    fn follow(&mut self, event: &Event);

    /// Takes a receipt.
    fn accept(&mut self, receipt: Receipt);

    /// Reads what the audit needs, and hands it what was accepted meanwhile.
    async fn read(
        &mut self,
        reader: &AuditReader<L>,
        round: &AuditRound<'_>,
        accepted: impl Fn() -> Vec<Receipt>,
    ) -> Result<(), Trouble>;

    /// Goes on with what is known without reading anything.
    fn settle(&mut self, _reader: &AuditReader<L>, _heads: &AnsweredHeads) {}

    /// Breaks what is overdue at a head that was fetched then, in milliseconds since 1970.
    fn overdue(&mut self, observed_ms: u64);

    /// Whether there may be any to break then.
    fn may_be_due(&self, observed_ms: u64) -> bool;

    /// What became of promises since the last call.
    fn verdicts(&mut self) -> Vec<Verdict>;

    /// The receipts whose promise was found broken in the protocol's own words since the last call.
    fn faults(&mut self) -> Vec<(Receipt, Fault)> {
        Vec::new()
    }

    /// What entries refer to and was met for the first time since the last call.
    fn references(&mut self) -> Vec<Hash> {
        Vec::new()
    }

    /// What the reader of the report should know, since the last call.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// How many entries were read back; none where that is no way of this reading.
    fn entries_read_back(&self) -> Option<u64> {
        None
    }

    /// Whether nothing that has no verdict will get one.
    fn gives_up(&self) -> bool {
        false
    }

    /// Why receipts that were not looked for were not; none where all were.
    fn why_unlooked(&self) -> Option<String> {
        None
    }

    /// What else was found since the last call.
    fn findings(&mut self) -> Vec<Finding>;

    /// Receipts without a verdict.
    fn pending(&self) -> u64;

    /// How many of them are spilled.
    fn spilled(&self) -> u64;

    /// Those of them that are in memory, were looked for, and may yet be found.
    fn receipts(&self) -> impl Iterator<Item = &Receipt>;

    /// Those of them that are in memory and were not looked for.
    fn unlooked(&self) -> impl Iterator<Item = &Receipt> {
        std::iter::empty()
    }
}
