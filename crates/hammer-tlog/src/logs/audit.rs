//! The audit of a log: every receipt is held until a followed head covers it, and its leaf is then looked for in what
//! the log serves, up to that head's root. State machines that say what they need and are fed it: [`TileAudit`] reads
//! the bundles of a log with tiles in order, [`EntryAudit`] sweeps the entries of one without, as RFC 6962 has it. [`TileSweep`]
//! needs no receipts: it checks whatever a log holds. What an entry is, a [`LeafFormat`] says.

mod beside;
mod bounds;
mod earlier_heads;
mod entries;
mod leaf_format;
mod lookup;
mod misplacement;
mod publications;
mod receipt;
mod receipt_clock;
mod receipts;
mod spill;
mod spill_partitions;
mod sweep;
mod tile_leaves;
mod tiles;
mod verdict;

pub use beside::{Beside, BesideFault};
pub use bounds::AuditBounds;
pub use earlier_heads::EarlierHeads;
pub use entries::{EntryAudit, EntryRange};
pub use leaf_format::{EntryFault, LeafFormat, bundles};
pub use receipt::{Receipt, ReceiptEvidence};
pub use receipt_clock::ReceiptClock;
pub use spill::{NoSpill, Spill};
pub use sweep::{Flaw, TileSweep};
pub use tiles::TileAudit;
pub use verdict::{Answered, Breach, BundleFault, Finding, Kept, Kind, Published, Verdict};
