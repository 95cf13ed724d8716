use std::collections::VecDeque;

use super::event::Event;
use super::head::Head;
use crate::hash::Hash;
use crate::logs::merkle::{MerkleError, prefix_root, proves_growth};

/// What a consistency proof that does not hold says of the two heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProofFault {
    /// The larger tree has another prefix of that size: whatever was mixed up, no log has both heads.
    Fork,
    /// The larger tree is another one than the proof's, which grew from the smaller one all the same: a server that lags behind may answer
    /// so from the tree that it has.
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
    /// What they weigh, up to [`FORK`].
    weight: u32,
}

impl ProofFault {
    /// What is wrong with a proof between these heads, which does not hold by that error.
    pub(super) fn of(older: &Head, newer: &Head, proof: &[Hash], error: &MerkleError) -> Self {
        if prefix_root(older.size, newer.size, &newer.root, proof).is_some_and(|prefix| prefix != older.root)
        {
            Self::Fork
        } else if proves_growth(older.size, &older.root, proof) {
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
            self.0.push_back(FalselyProved { older, newer, event, weight: 0 });
        }
        if let Some(pair) = self.place(older, newer).and_then(|place| self.0.get_mut(place)) {
            pair.add(fault, error);
        }
        forgotten
    }

    /// Whether no log has both heads, by the number of proofs of them that are false.
    pub(super) fn is_fork(&self, older: &Head, newer: &Head) -> bool {
        let pair = self.place(older, newer).and_then(|place| self.0.get(place));
        pair.is_some_and(|pair| pair.weight >= FORK)
    }

    /// Forgets a pair, of which a proof holds; gives what tells of the false ones.
    pub(super) fn proved(&mut self, older: &Head, newer: &Head) -> Option<Event> {
        let FalselyProved { mut event, .. } = self.0.remove(self.place(older, newer)?)?;
        if let Event::BadProof { is_proved, .. } = &mut event {
            *is_proved = true;
        }
        Some(event)
    }

    /// Forgets all of them, and gives what was not told.
    pub(super) fn end(&mut self) -> impl Iterator<Item = Event> {
        std::mem::take(&mut self.0).into_iter().filter_map(FalselyProved::untold)
    }

    fn place(&self, older: &Head, newer: &Head) -> Option<usize> {
        let (older, newer) = ((older.size, older.root), (newer.size, newer.root));
        self.0.iter().position(|pair| (pair.older, pair.newer) == (older, newer))
    }
}

impl FalselyProved {
    fn add(&mut self, fault: ProofFault, error: &MerkleError) {
        let (weight, most) = match fault {
            // What has the wrong length says nothing of the tree.
            ProofFault::Length => return,
            // By its length it is of another size, as of a server that lags behind.
            ProofFault::OtherGrowth if matches!(error, MerkleError::ProofLength { .. }) => (1, FORK - 1),
            // The server may have caught up the next time.
            ProofFault::OtherGrowth => (1, FORK),
            ProofFault::Nothing | ProofFault::Fork => (FORK / PROOFS, FORK),
        };
        if let Event::BadProof { error: first, .. } = &mut self.event
            && self.weight == 0
        {
            first.clone_from(error);
        }
        self.weight = self.weight.max(most.min(self.weight.saturating_add(weight)));
    }

    /// What tells of them, unless they were told as a fork.
    fn untold(self) -> Option<Event> {
        (1..FORK).contains(&self.weight).then_some(self.event)
    }
}

/// Pairs of heads that are remembered, of some 500 bytes each.
const PAIRS: usize = 1000;

/// Consistency proofs that are taken of one pair of heads in one attempt; where so many lead nowhere, in one or several, no log has both.
pub(super) const PROOFS: u32 = 4;

/// What false proofs of a pair weigh before no log has both: those of [`PROOFS`] attempts, where all of them are of another tree that grew.
const FORK: u32 = PROOFS * PROOFS;
