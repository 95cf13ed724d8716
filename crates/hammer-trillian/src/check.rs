//! How an answer is checked: the first byte of its record.

use crate::promise::TrillianPromise;

/// How an answer is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// The value that was sent; `QueueLeafResponse`.
    Queued,
    /// The older root, empty where there was none; `GetLatestSignedLogRootResponse`.
    Root,
    /// The root; the hash of the leaf, numbered by its index; `GetInclusionProofResponse`.
    Proof,
    /// The root; the hash of the leaf; `GetInclusionProofByHashResponse`.
    ProofByHash,
    /// The root; `GetLeavesByRangeResponse`, numbered by the first leaf; `GetInclusionProofResponse`s, numbered by their leaves.
    Leaves,
    /// As `ProofByHash`, of a leaf that was queued.
    Found,
    /// The hash of a leaf that was queued, and is in no tree in time.
    Lost,
    /// What is no answer although the call succeeded: a text.
    UnreadableFound,
    /// Nothing: a leaf that was queued could not be looked for.
    UnverifiedFound,
    /// Nothing: what should prove leaves was refused.
    UnverifiedLeaves,
}

impl Check {
    /// The check of that number.
    pub(crate) fn of(number: u8) -> Option<Self> {
        ALL.into_iter().find(|known| *known as u8 == number)
    }

    /// The promise that is held to its word by it.
    pub(crate) const fn promise(self) -> TrillianPromise {
        match self {
            Self::Queued => TrillianPromise::Leaf,
            Self::Root => TrillianPromise::Root,
            Self::Found | Self::Lost | Self::UnreadableFound | Self::UnverifiedFound => {
                TrillianPromise::Integrated
            }
            Self::Proof | Self::ProofByHash | Self::Leaves | Self::UnverifiedLeaves => {
                TrillianPromise::Inclusion
            }
        }
    }
}

const ALL: [Check; 10] = [
    Check::Queued,
    Check::Root,
    Check::Proof,
    Check::ProofByHash,
    Check::Leaves,
    Check::Found,
    Check::Lost,
    Check::UnreadableFound,
    Check::UnverifiedFound,
    Check::UnverifiedLeaves,
];
