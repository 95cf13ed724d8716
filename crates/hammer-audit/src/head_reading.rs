//! Heads alone, of a log whose leaves nobody looks for.

use std::marker::PhantomData;
use std::path::PathBuf;

use hammer_tlog::logs::audit::{AuditBounds, Finding, LeafFormat, Receipt, ReceiptClock, Verdict, bundles};
use hammer_tlog::logs::follow::{Event, Follower, ProofMethod};

use crate::reader::AuditReader;
use crate::tree_reading::{AuditRound, TreeReading};
use crate::trouble::Trouble;

/// What looks for no leaf of a log whose entries are in the format `F`: its heads are followed alone, by the fewest tiles, or by
/// consistency proofs otherwise.
pub(crate) struct HeadReading<F, const BY_TILES: bool>(PhantomData<F>);

impl<L, F: LeafFormat, const BY_TILES: bool> TreeReading<L> for HeadReading<F, BY_TILES> {
    // No leaf is looked for that would have to be published at an instant.
    const GROWS_BY_ANSWERS: bool = true;

    fn follower() -> Follower {
        let by = if BY_TILES { ProofMethod::Edges } else { ProofMethod::Proofs };
        Follower::new(by, bundles::<F>())
    }

    fn new(_bounds: AuditBounds, _clock: ReceiptClock, _spilled: PathBuf) -> Self {
        Self(PhantomData)
    }

    fn follow(&mut self, _event: &Event) {}

    fn accept(&mut self, _receipt: Receipt) {}

    async fn read(
        &mut self,
        _reader: &AuditReader<L>,
        _round: &AuditRound<'_>,
        _accepted: impl Fn() -> Vec<Receipt>,
    ) -> Result<(), Trouble> {
        Ok(())
    }

    fn overdue(&mut self, _observed_ms: u64) {}

    fn may_be_due(&self, _observed_ms: u64) -> bool {
        false
    }

    fn verdicts(&mut self) -> Vec<Verdict> {
        Vec::new()
    }

    fn findings(&mut self) -> Vec<Finding> {
        Vec::new()
    }

    fn pending(&self) -> u64 {
        0
    }

    fn spilled(&self) -> u64 {
        0
    }

    fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        std::iter::empty()
    }
}
