//! When the entries of a log were promised, beside the head that covers them.

use std::ops::Range;
use std::time::Duration;

use hammer_audit::BACKDATED_CHECKPOINT;
use hammer_tlog::ct::bundle::Entries;
use hammer_tlog::ct::rfc6962::{MerkleTreeLeaf, Rfc6962Leaves};
use hammer_tlog::logs::audit::LeafFormat as _;
use hammer_tlog::logs::follow::Head;

use super::sweep::Swept;

/// Whether a log signed its head before it promised what the head covers: the timestamp of a tree head is no less than that of any entry (RFC
/// 6962 section 3.5).
pub(super) struct EntryDates {
    leaves: Range<u64>,
    head: Head,
    latest_ms: u64,
    /// Index and time of the first entry that was promised after its head was signed.
    first: Option<(u64, u64)>,
    /// How many more were.
    more: u64,
}

impl EntryDates {
    /// Of these leaves of the tree of `head`, by a log whose own times may differ by `skew`.
    pub(super) fn new(leaves: Range<u64>, head: &Head, skew: Duration) -> Self {
        let latest_ms = head.timestamp_ms.saturating_add(skew.as_millis() as u64);
        Self { leaves, head: head.clone(), latest_ms, first: None, more: 0 }
    }

    /// Takes the entries of a bundle, whose first has that index.
    pub(super) fn bundle(&mut self, first: u64, bundle: &[u8]) {
        for (entry, index) in Entries::new(bundle).map_while(Result::ok).zip(first..) {
            self.add(index, entry.timestamp_ms);
        }
    }

    /// Takes the entries of an answer of get-entries, whose first has that index.
    pub(super) fn entries(&mut self, first: u64, answer: &[u8]) {
        for (entry, index) in Rfc6962Leaves::entries(answer).map_while(Result::ok).zip(first..) {
            if let Ok(leaf) = MerkleTreeLeaf::parse(&entry.leaf_input) {
                self.add(index, leaf.timestamp_ms);
            }
        }
    }

    fn add(&mut self, index: u64, timestamp_ms: u64) {
        if timestamp_ms <= self.latest_ms || !self.leaves.contains(&index) {
            return;
        }
        match self.first {
            None => self.first = Some((index, timestamp_ms)),
            Some(_) => self.more += 1,
        }
    }

    /// Tells what was found, but of entries that are not the tree's, as it is told of them alone or of all that were read.
    pub(super) fn end(self, swept: &mut Swept) {
        let is_told = |at: u64| swept.flaws.iter().any(|(_, index, _)| *index == Some(at));
        let first = self.first.filter(|(index, _)| swept.is_proved && !is_told(*index));
        let Some((index, timestamp_ms)) = first else { return };
        let Head { size, timestamp_ms: signed_ms, .. } = self.head;
        let mut told = format!(
            "the head of size {size} is dated {signed_ms}, and its leaf {index} was promised at {timestamp_ms}"
        );
        if self.more > 0 {
            told += &format!("; so were {} more", self.more);
        }
        swept.add((BACKDATED_CHECKPOINT, Some(index), told));
    }
}
