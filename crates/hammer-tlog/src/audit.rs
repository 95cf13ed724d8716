//! The audit of a log: every receipt is held until a followed head covers it, and its leaf is then looked for in what
//! the log serves, up to that head's root. State machines that say what they need and are fed it: [`TileAudit`] reads
//! the bundles of static-ct-api in order, [`EntryAudit`] sweeps get-entries of RFC 6962. [`TileSweep`] needs no receipts: it
//! checks whatever a log holds.

mod entries;
mod lookup;
mod marks;
mod receipt;
mod receipts;
mod shelves;
mod spill;
mod sweep;
mod tiles;
mod verdict;
mod window;

pub use entries::{EntryAudit, Range};
pub use receipt::Receipt;
pub use spill::{NoSpill, Spill};
pub use sweep::{Flaw, TileSweep};
pub use tiles::TileAudit;
pub use verdict::{Answered, Breach, BundleFault, Finding, Kept, Kind, Published, Verdict};

/// What an audit holds the log to, and how much it holds itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// The log's maximum merge delay, in milliseconds (RFC 6962 section 3).
    pub mmd_ms: u64,
    /// Receipts in memory; beyond them they are spilled.
    pub receipts: usize,
    /// Leaves that are remembered once audited, for receipts that come after the tree has covered them.
    pub window: usize,
}

impl Policy {
    /// A quarter of a million receipts in memory (about 50 MB), and as many of the last leaves.
    pub fn new(mmd_ms: u64) -> Self {
        Self { mmd_ms, receipts: 250_000, window: 1 << 18 }
    }
}
