//! Consistency proofs that do not hold.

use std::collections::VecDeque;

use super::event::Event;
use super::head::Head;
use crate::hash::Hash;
use crate::logs::merkle::{MerkleError, may_prove_growth, prefix_root};

/// What a consistency proof that does not hold says of the two heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProofFault {
    /// The larger tree has another prefix of that size: whatever was mixed up, no log has both heads.
    Fork,
    /// The larger tree is another one than the proof's, which grew from the smaller one all the same: a server that lags behind may answer
    /// so from the tree that it has. Of a tree whose size is a power of two, whose root is in no proof, that may always be.
    OtherGrowth,
    /// It has not the length of a proof between these sizes.
    Length,
    /// It leads nowhere.
    Nothing,
}

/// The false consistency proofs of pairs of heads, the last [`PAIRS`] pairs of them, over all attempts to prove each.
#[derive(Debug, Default)]
pub(super) struct FalseProofs(VecDeque<FalselyProved>);

#[derive(Debug)]
struct FalselyProved {
    older: (u64, Hash),
    newer: (u64, Hash),
    /// What tells of them, with what was wrong with the first that does not only have the wrong length.
    event: Event,
    /// How many lead nowhere.
    nowhere: u32,
    /// How many are of another tree that grew, and have the length of those that were asked for.
    of_other_growth: u32,
    /// Whether any has more against it than its length.
    is_told: bool,
}

impl ProofFault {
    /// What is wrong with a proof between these heads, which does not hold by that error.
    pub(super) fn of(older: &Head, newer: &Head, proof: &[Hash], error: &MerkleError) -> Self {
        if prefix_root(older.size, newer.size, &newer.root, proof).is_some_and(|prefix| prefix != older.root)
        {
            Self::Fork
        } else if may_prove_growth(older.size, &older.root, proof) {
            Self::OtherGrowth
        } else if matches!(error, MerkleError::ProofLength { .. }) {
            Self::Length
        } else {
            Self::Nothing
        }
    }
}

impl FalseProofs {
    /// Takes one more of a pair. Where there is no room for the pair, what was not told of the oldest one is given.
    pub(super) fn add(
        &mut self,
        older: &Head,
        newer: &Head,
        fault: ProofFault,
        error: &MerkleError,
    ) -> Option<Event> {
        let mut forgotten = None;
        if self.place(older, newer).is_none() {
            if self.0.len() == PAIRS {
                forgotten = self.0.pop_front().and_then(FalselyProved::untold);
            }
            let event = Event::BadProof {
                older: older.clone(),
                newer: newer.clone(),
                error: error.clone(),
                is_proved: false,
            };
            let (older, newer) = ((older.size, older.root), (newer.size, newer.root));
            let (nowhere, of_other_growth, is_told) = Default::default();
            self.0.push_back(FalselyProved { older, newer, event, nowhere, of_other_growth, is_told });
        }
        if let Some(pair) = self.place(older, newer).and_then(|place| self.0.get_mut(place)) {
            pair.add(fault, error);
        }
        forgotten
    }

    /// Whether no log has both heads, by the number of proofs of them that are false.
    pub(super) fn is_fork(&self, older: &Head, newer: &Head) -> bool {
        let pair = self.place(older, newer).and_then(|place| self.0.get(place));
        pair.is_some_and(FalselyProved::is_fork)
    }

    /// Forgets a pair, of which a proof holds; gives what tells of the false ones.
    pub(super) fn proved(&mut self, older: &Head, newer: &Head) -> Option<Event> {
        let FalselyProved { mut event, .. } = self.0.remove(self.place(older, newer)?)?;
        if let Event::BadProof { is_proved, .. } = &mut event {
            *is_proved = true;
        }
        Some(event)
    }

    /// Forgets all of them, and gives the first that was not told: whoever never proves how a tree went on is one fault, however often it grew
    /// and was asked.
    pub(super) fn end(&mut self) -> Option<Event> {
        std::mem::take(&mut self.0).into_iter().find_map(FalselyProved::untold)
    }

    fn place(&self, older: &Head, newer: &Head) -> Option<usize> {
        let (older, newer) = ((older.size, older.root), (newer.size, newer.root));
        self.0.iter().position(|pair| (pair.older, pair.newer) == (older, newer))
    }
}

impl FalselyProved {
    fn add(&mut self, fault: ProofFault, error: &MerkleError) {
        let count = match fault {
            // What has the wrong length says nothing of the tree.
            ProofFault::Length => return,
            // By its length it is of another size, as of a server that lags behind.
            ProofFault::OtherGrowth if matches!(error, MerkleError::ProofLength { .. }) => &mut 0,
            // The server may have caught up the next time.
            ProofFault::OtherGrowth => &mut self.of_other_growth,
            ProofFault::Nothing | ProofFault::Fork => &mut self.nowhere,
        };
        *count += 1;
        if let Event::BadProof { error: first, .. } = &mut self.event
            && !std::mem::replace(&mut self.is_told, true)
        {
            first.clone_from(error);
        }
    }

    fn is_fork(&self) -> bool {
        self.nowhere >= PROOFS || self.of_other_growth >= PROOFS * PROOFS
    }

    /// What tells of them, unless they were told as a fork.
    fn untold(self) -> Option<Event> {
        (self.is_told && !self.is_fork()).then_some(self.event)
    }
}

/// Pairs of heads that are remembered, of some 500 bytes each.
const PAIRS: usize = 1000;

/// Consistency proofs that are taken of one pair of heads in one attempt; where so many lead nowhere, in one or several, or all of so many
/// attempts are of another tree that grew, no log has both.
pub(super) const PROOFS: u32 = 4;
