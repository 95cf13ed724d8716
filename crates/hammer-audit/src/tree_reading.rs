use std::path::PathBuf;

use hammer_measure::Nanos;
use hammer_tlog::logs::audit::{AuditBounds, Finding, Receipt, Verdict};
use hammer_tlog::logs::follow::{Event, Follower};

use crate::reader::AuditReader;
use crate::trouble::Trouble;

/// How the leaves of a log are read, and receipts held against them: by its tiles, or by its entries.
pub(crate) trait TreeReading<L>: Sized {
    /// What it reads nothing without: the follower of the same log.
    fn follower() -> Follower;

    /// Within these bounds; what memory does not hold is spilled to that folder.
    fn new(bounds: AuditBounds, spilled: PathBuf) -> Self;

    /// Takes what the follower tells.
    fn follow(&mut self, event: &Event);

    /// Takes a receipt.
    fn accept(&mut self, receipt: Receipt);

    /// Reads what the audit needs, and hands it what was accepted meanwhile.
    async fn read(
        &mut self,
        reader: &AuditReader<L>,
        now: Nanos,
        accepted: impl Fn() -> Vec<Receipt>,
    ) -> Result<(), Trouble>;

    /// Breaks what is overdue at a head that was fetched then, in milliseconds since 1970.
    fn overdue(&mut self, observed_ms: u64);

    /// What became of promises since the last call.
    fn verdicts(&mut self) -> Vec<Verdict>;

    /// What else was found since the last call.
    fn findings(&mut self) -> Vec<Finding>;

    /// Receipts without a verdict.
    fn pending(&self) -> u64;

    /// How many of them are spilled.
    fn spilled(&self) -> u64;

    /// Those of them that are in memory.
    fn receipts(&self) -> impl Iterator<Item = &Receipt>;
}
