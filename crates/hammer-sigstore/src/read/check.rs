//! How a read is checked: the first byte of its record.

use super::promise::ReadPromise;

/// How a read is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// `LogInfo`.
    LogInfo,
    /// The older `LogInfo`; the newer; the proof.
    LogProof,
    /// What a search found.
    Search,
    /// What a search found; what it was asked for; one of the UUIDs; the entry that was read by it.
    FoundEntry,
    /// What a search found; what it was asked for; one of the UUIDs, of which the log has no entry.
    InventedEntry,
    /// Nothing: the entry of a UUID that was found was refused.
    UnverifiedSearch,
    /// A key in PEM.
    PublicKey,
    /// A chain in PEM.
    Certchain,
    /// `TrustBundle`.
    TrustBundle,
    /// `Configuration`.
    Configuration,
    /// A checkpoint of Rekor v2.
    Checkpoint,
    /// Checkpoint; hash tile; tiles on its way to the root.
    Tile,
    /// Checkpoint; bundle; its hash tile and tiles on its way to the root.
    Bundle,
    /// Checkpoint; the name of a tile that is not served.
    Missing,
    /// What came whole, should prove a read, and cannot be read; and why.
    Unreadable,
    /// Nothing: what it should be held against was refused.
    Unverified,
}

impl Check {
    /// The check of that number.
    pub(super) fn of(number: u8) -> Option<Self> {
        ALL.into_iter().find(|known| *known as u8 == number)
    }

    /// The promise that is held to its word by it.
    pub(super) const fn promise(self) -> ReadPromise {
        match self {
            Self::LogInfo | Self::Checkpoint => ReadPromise::TreeHead,
            Self::LogProof => ReadPromise::Consistency,
            Self::Search | Self::FoundEntry | Self::InventedEntry | Self::UnverifiedSearch => {
                ReadPromise::Search
            }
            Self::PublicKey => ReadPromise::PublicKey,
            Self::Certchain => ReadPromise::TimestampChain,
            Self::TrustBundle => ReadPromise::TrustBundle,
            Self::Configuration => ReadPromise::Configuration,
            // What cannot be held against the tree was promised to be of it.
            Self::Tile | Self::Bundle | Self::Missing | Self::Unreadable | Self::Unverified => {
                ReadPromise::Inclusion
            }
        }
    }
}

const ALL: [Check; 16] = [
    Check::LogInfo,
    Check::LogProof,
    Check::Search,
    Check::FoundEntry,
    Check::InventedEntry,
    Check::UnverifiedSearch,
    Check::PublicKey,
    Check::Certchain,
    Check::TrustBundle,
    Check::Configuration,
    Check::Checkpoint,
    Check::Tile,
    Check::Bundle,
    Check::Missing,
    Check::Unreadable,
    Check::Unverified,
];
