//! The audit of a log with tiles.

use std::path::PathBuf;

use hammer_core::background::give_way;
use hammer_measure::Nanos;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{
    AuditBounds, Finding, LeafFormat, Receipt, ReceiptClock, TileAudit, Verdict, bundles,
};
use hammer_tlog::logs::follow::{Event, Follower, ProofMethod};

use crate::reader::AuditReader;
use crate::receipt_spill::ReceiptSpill;
use crate::served_tile::ServedTile;
use crate::source::LogSource;
use crate::tree_reading::{AuditRound, TreeReading};
use crate::trouble::Trouble;

/// The audit of a log with tiles, whose entries are in the format `F`.
pub(crate) struct TileReading<F> {
    audit: TileAudit<F, ReceiptSpill>,
    /// Whether the last head was of the tree before it.
    is_still: bool,
    /// When partial bundles were last read, all of them.
    partial_at: Nanos,
    /// Whether the last round ended before all that was needed had been asked for.
    is_cut: bool,
}

impl<L: LogSource, F: LeafFormat> TreeReading<L> for TileReading<F> {
    fn follower() -> Follower {
        Follower::new(ProofMethod::Leaves, bundles::<F>())
    }

    fn new(bounds: AuditBounds, clock: ReceiptClock, spilled: PathBuf) -> Self {
        let audit = TileAudit::new(bounds, ReceiptSpill::at(spilled)).by_clock(clock);
        Self { audit, is_still: false, partial_at: Nanos::ZERO, is_cut: false }
    }

    fn follow(&mut self, event: &Event) {
        match event {
            // A tree that contradicts itself grows no more.
            Event::Same { .. } | Event::Forked { .. } | Event::Shrank { .. } => self.is_still = true,
            Event::Grew { .. } => self.is_still = false,
            _ => {}
        }
        self.audit.follow(event);
    }

    fn accept(&mut self, receipt: Receipt) {
        self.audit.accept(receipt);
    }

    async fn read(
        &mut self,
        reader: &AuditReader<L>,
        round: &AuditRound<'_>,
        accepted: impl Fn() -> Vec<Receipt>,
    ) -> Result<(), Trouble> {
        accepted().into_iter().for_each(|receipt| self.audit.accept(receipt));
        // A partial bundle that is about to grow is read when it did, unless that takes long.
        let partial = self.is_still || round.now >= self.partial_at.saturating_add(PARTIAL_EVERY);
        // What is not served is asked for once in a round; a round that was cut short is gone on with.
        if !std::mem::take(&mut self.is_cut) {
            self.audit.ask_again();
        }
        let mut missing = 0;
        let mut needs = self.audit.needs(BUNDLES, partial);
        while !needs.is_empty() {
            let (read, went) = reader.tiles(&needs).await;
            for (tile, found) in read {
                match found {
                    ServedTile::Bytes(bytes) => self.audit.tile(tile, &bytes),
                    ServedTile::Missing => {
                        self.audit.missing(tile);
                        missing += 1;
                    }
                }
                give_way();
            }
            went?;
            accepted().into_iter().for_each(|receipt| self.audit.accept(receipt));
            give_way();
            let next = self.audit.needs(BUNDLES, partial);
            self.is_cut = missing >= MISSING && !next.is_empty();
            if next == needs || self.is_cut {
                break;
            }
            needs = next;
        }
        if partial {
            self.partial_at = round.now;
        }
        Ok(())
    }

    fn overdue(&mut self, observed_ms: u64) {
        self.audit.overdue(observed_ms);
    }

    fn may_be_due(&self, observed_ms: u64) -> bool {
        self.audit.may_be_due(observed_ms)
    }

    fn verdicts(&mut self) -> Vec<Verdict> {
        self.audit.verdicts()
    }

    fn references(&mut self) -> Vec<Hash> {
        self.audit.references()
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.audit.findings()
    }

    fn pending(&self) -> u64 {
        self.audit.pending()
    }

    fn spilled(&self) -> u64 {
        self.audit.spilled()
    }

    fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.audit.receipts()
    }
}

const BUNDLES: usize = 16;
/// After so many answers that a tile is not served the head is read before more are asked for.
const MISSING: usize = 256;
const PARTIAL_EVERY: Nanos = Nanos::from_secs(2);
