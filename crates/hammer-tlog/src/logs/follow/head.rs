//! Signed heads.

use std::fmt;
use std::sync::Arc;

use crate::hash::Hash;
use crate::logs::merkle::EMPTY_ROOT;

/// A signed head of a log's tree whose signature has been verified: an opened checkpoint, or a signed tree head.
#[derive(Clone, PartialEq, Eq)]
pub struct Head {
    /// Leaves in the tree.
    pub size: u64,
    /// The root.
    pub root: Hash,
    /// When the log says that it signed it, in milliseconds since 1970; 0 where it does not say.
    pub timestamp_ms: u64,
    /// When it was fetched, in nanoseconds since whatever instant the caller counts from.
    pub fetched_ns: u64,
    /// When it was asked for, likewise: what it does not cover was not served by then. 0 where that is not known.
    pub asked_ns: u64,
    /// The bytes as served, for whoever has to show them.
    pub raw: Arc<[u8]>,
}

impl Head {
    /// The head of the tree without leaves, which every log starts with and which none needs to sign.
    pub fn empty() -> Self {
        Self { size: 0, root: EMPTY_ROOT, timestamp_ms: 0, fetched_ns: 0, asked_ns: 0, raw: Arc::new([]) }
    }

    /// Whether both are of one tree: size and root are equal, whenever they were signed.
    pub fn same_tree(&self, other: &Self) -> bool {
        (self.size, self.root) == (other.size, other.root)
    }

    /// Whether this is the smaller tree and was signed before the other, as an append-only log has it.
    pub fn precedes(&self, other: &Self) -> bool {
        self.size < other.size && self.timestamp_ms < other.timestamp_ms
    }
}

/// As in "a head of SIZE leaves and root ROOT"; with the time where it says one.
impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, root, timestamp_ms, .. } = self;
        write!(f, "{size} {} and root {root}", if *size == 1 { "leaf" } else { "leaves" })?;
        if *timestamp_ms > 0 {
            write!(f, " of {timestamp_ms} ms")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Head({} {} at {} ms)", self.size, self.root, self.timestamp_ms)
    }
}
