//! Heads that the log signed, and never proved so far.

use std::collections::VecDeque;

use super::head::Head;
use crate::hash::Hash;

/// Heads that were set aside since no consistency proof of them held, or a tile was not served, the last [`MOST`] of them. The log has signed them all the same: two of
/// one size have one root, and a larger tree that is trusted starts with each of them.
#[derive(Debug, Default)]
pub(super) struct DoubtedHeads {
    waiting: VecDeque<Head>,
    /// Those that are being proved to be of earlier states of the trusted tree.
    settling: Vec<(u64, Hash)>,
}

impl DoubtedHeads {
    /// Takes a head that was set aside.
    pub(super) fn add(&mut self, head: &Head) {
        if self.waiting.iter().any(|other| other.same_tree(head)) {
            return;
        }
        if self.waiting.len() == MOST {
            self.waiting.pop_front();
        }
        self.waiting.push_back(head.clone());
    }

    /// Takes out one of the size of `head`, with another root.
    pub(super) fn contradicting(&mut self, head: &Head) -> Option<Head> {
        let contradicts = |other: &Head| other.size == head.size && other.root != head.root;
        self.waiting.remove(self.waiting.iter().position(contradicts)?)
    }

    /// Takes that a head was told to be of no tree that the log can have.
    pub(super) fn forget(&mut self, told: &Head) {
        self.waiting.retain(|head| !head.same_tree(told));
    }

    /// Takes that a tree is trusted: those of another tree as large, and smaller ones, of which it has to be proved that it continues them.
    pub(super) fn covered_by(&mut self, trusted: &Head) -> Vec<Head> {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let (covered, waiting): (VecDeque<_>, _) = waiting.partition(|head| head.size <= trusted.size);
        self.waiting = waiting;
        let covered: Vec<_> = covered.into_iter().filter(|head| !head.same_tree(trusted)).collect();
        let smaller = covered.iter().filter(|head| head.size < trusted.size);
        self.settling.extend(smaller.map(|head| (head.size, head.root)));
        // Of some it may never be found out.
        self.settling.drain(..self.settling.len().saturating_sub(MOST));
        covered
    }

    /// Whether a head that was found to be of an earlier state of the trusted tree is one of those, and so no news of a server that lags behind.
    pub(super) fn settled(&mut self, head: &Head) -> bool {
        let place = self.settling.iter().position(|known| *known == (head.size, head.root));
        place.map(|place| self.settling.swap_remove(place)).is_some()
    }
}

/// As many as may wait for their proofs.
const MOST: usize = 64;
