//! How much an audit holds.

/// How much an audit holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditBounds {
    /// Receipts in memory; beyond them they are spilled.
    pub receipts: usize,
    /// Leaves that are remembered once audited, for receipts that come after the tree has covered them.
    pub window: usize,
}

/// A quarter of a million receipts in memory (about 65 MB with the index of their times), and as many of the last leaves.
impl Default for AuditBounds {
    fn default() -> Self {
        Self { receipts: 250_000, window: 1 << 18 }
    }
}
