//! What a follower finds out.

use std::fmt;

use super::head::Head;
use crate::hash::Hash;
use crate::logs::merkle::MerkleError;
use crate::logs::tile::{TileError, TileId};

/// What a follower found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The first head is trusted: by itself, there is nothing to hold it against. Its tiles lead to its root.
    First {
        /// The head.
        head: Head,
    },
    /// The tree has not changed.
    Same {
        /// The head as fetched now.
        head: Head,
    },
    /// A head of an earlier state of the trusted tree, signed before it: what another server of the log still serves.
    Stale {
        /// The head as fetched now, of the smaller tree.
        head: Head,
        /// The head that is trusted, and whose prefix the other is.
        newest: Head,
    },
    /// The tree grew, and the older one is its prefix.
    Grew {
        /// The head that was trusted.
        from: Head,
        /// The head that is trusted now.
        to: Head,
        /// The leaf hashes from `from.size` on, verified up to the root; empty unless all leaves are followed.
        leaves: Vec<Hash>,
    },
    /// A head of a smaller tree was signed no earlier than one of a larger tree.
    Shrank {
        /// The larger tree, fetched before.
        older: Head,
        /// The smaller tree.
        newer: Head,
    },
    /// Two signed heads that no append-only log can have.
    Forked {
        /// The head that was trusted, and is; or one that the log signed, and never proved.
        older: Head,
        /// The head that does not continue it; where it is smaller, and was signed before, that is no earlier state of it.
        newer: Head,
        /// How that shows.
        evidence: Evidence,
    },
    /// A consistency proof was served that does not hold, and when it was asked for again one that does, or none. Each pair of heads is told
    /// once.
    BadProof {
        /// The smaller tree.
        older: Head,
        /// The larger one.
        newer: Head,
        /// What was wrong with the first that was served.
        error: MerkleError,
        /// Whether one that was asked for again holds.
        is_proved: bool,
    },
    /// A hash of a tile is not that of the signed tree; each is told once. Nothing is believed that rests on it: a head
    /// that is trusted all the same was proved by the entries.
    TamperedTile {
        /// The tile as it was asked for.
        tile: TileId,
        /// What is wrong with it.
        fault: TileFault,
        /// The head whose tree it should be of.
        head: Head,
    },
    /// Neither the tile nor, where it is partial, the full one in its place is served.
    MissingTile {
        /// The tile as the tree has it.
        tile: TileId,
        /// The head whose tree has it.
        head: Head,
    },
    /// The log did not prove its head: neither a fork nor a tile can be named.
    Unproved {
        /// The head.
        head: Head,
        /// Where the attempt ended.
        reason: Unproved,
    },
}

impl Event {
    /// Whether both refuse the same tree in the same way.
    pub(super) fn is_same_refusal(&self, other: &Self) -> bool {
        use Event::{Forked, MissingTile, Shrank, TamperedTile, Unproved};
        match (self, other) {
            (Shrank { newer: a, .. }, Shrank { newer: b, .. })
            | (Forked { newer: a, .. }, Forked { newer: b, .. })
            | (Unproved { head: a, .. }, Unproved { head: b, .. }) => a.same_tree(b),
            (TamperedTile { tile: s, fault: f, head: a }, TamperedTile { tile: t, fault: g, head: b }) => {
                (s, f) == (t, g) && a.same_tree(b)
            }
            (MissingTile { tile: s, head: a }, MissingTile { tile: t, head: b }) => s == t && a.same_tree(b),
            _ => false,
        }
    }
}

/// Why a head stays without proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unproved {
    /// The proof has the wrong length for the sizes, or the first head's tiles do not lead to its root.
    Proof(MerkleError),
    /// The tree claims to have grown by more leaves than are read one by one.
    Growth {
        /// Leaves since the trusted head.
        leaves: u64,
    },
}

/// How a fork shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// Two roots were signed for one size.
    SameSize,
    /// The tiles lead to the new root, and hold other leaves where the older tree has its own.
    Rewritten,
    /// Tiles and bundles are of one tree, with the older one; what was signed is the root of another.
    Root {
        /// The root of what is served.
        computed: Hash,
    },
    /// The consistency proofs lead to other roots (RFC 6962 section 4.4).
    Proof(MerkleError),
    /// A consistency proof leads to the larger tree, from another prefix of it than the smaller one.
    Prefix(MerkleError),
}

/// What is wrong with a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TileFault {
    /// Its bytes are not as many hashes as it should have.
    Bytes(TileError),
    /// A hash is not the one that the signed tree has there.
    Hash {
        /// The hash's place in the tile, from 0.
        position: u16,
        /// The hash found.
        got: Hash,
        /// The hash that leads to the signed root.
        expected: Hash,
    },
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proof(error) => error.fmt(f),
            Self::Growth { leaves } => write!(f, "it has {leaves} leaves more, too many to read"),
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameSize => f.write_str("it has another root for the same size"),
            Self::Rewritten => f.write_str("its tiles have other leaves in the place of known ones"),
            Self::Root { computed } => write!(f, "what is served leads to root {computed}"),
            Self::Proof(error) => write!(f, "by its consistency proofs {error}"),
            Self::Prefix(error) => write!(f, "by the consistency proof of the larger tree {error}"),
        }
    }
}

impl fmt::Display for TileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(error) => error.fmt(f),
            Self::Hash { position, got, expected } => {
                write!(f, "its hash {position} is {got}, and the tree has {expected}")
            }
        }
    }
}
