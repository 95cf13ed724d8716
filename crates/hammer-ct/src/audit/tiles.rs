use hammer_core::background::give_way;
use hammer_measure::Nanos;
use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::audit::{AuditBounds, Receipt, TileAudit};
use hammer_tlog::logs::follow::Event;

use super::reader::{Reader, Tile};
use super::spill::Folder;
use super::trouble::Trouble;

/// The audit of a log of static-ct-api.
pub(super) struct Tiles {
    pub(super) audit: TileAudit<StaticCtLeaves, Folder>,
    /// Whether the last head was of the tree before it.
    is_still: bool,
    /// When partial bundles were last read, all of them.
    partial_at: Nanos,
}

impl Tiles {
    pub(super) fn new(bounds: AuditBounds, spill: Folder) -> Self {
        Self { audit: TileAudit::new(bounds, spill), is_still: false, partial_at: Nanos::ZERO }
    }

    pub(super) fn follow(&mut self, event: &Event) {
        match event {
            // A tree that contradicts itself grows no more.
            Event::Same { .. } | Event::Forked { .. } | Event::Shrank { .. } => self.is_still = true,
            Event::Grew { .. } => self.is_still = false,
            _ => {}
        }
        self.audit.follow(event);
    }

    /// Reads what the audit needs, and hands it what was accepted meanwhile.
    pub(super) async fn read(
        &mut self,
        reader: &mut Reader,
        now: Nanos,
        accepted: impl Fn() -> Vec<Receipt>,
    ) -> Result<(), Trouble> {
        // A partial bundle that is about to grow is read when it did, unless that takes long.
        let partial = self.is_still || now >= self.partial_at.saturating_add(PARTIAL_EVERY);
        let mut needs = self.audit.needs(BUNDLES, partial);
        while !needs.is_empty() {
            let (read, went) = reader.tiles(&needs).await;
            for (tile, found) in read {
                match found {
                    Tile::Bytes(bytes) => self.audit.tile(tile, &bytes),
                    Tile::Missing => self.audit.missing(tile),
                }
                give_way();
            }
            went?;
            accepted().into_iter().for_each(|receipt| self.audit.accept(receipt));
            give_way();
            let next = self.audit.needs(BUNDLES, partial);
            if next == needs {
                break;
            }
            needs = next;
        }
        if partial {
            self.partial_at = now;
        }
        Ok(())
    }
}

const BUNDLES: usize = 16;
const PARTIAL_EVERY: Nanos = Nanos::from_secs(2);
