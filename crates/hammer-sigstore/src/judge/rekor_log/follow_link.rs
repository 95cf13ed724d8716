//! What a workload's verifiers hand to whoever follows Rekor v1.

use std::sync::Arc;
use std::time::Duration;

use hammer_audit::{AnsweredEntry, AuditLink, HeadId};
use hammer_core::draw::Draws;
use hammer_core::promise::Verdicts;
use hammer_measure::Nanos;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{Receipt, ReceiptEvidence};
use hammer_values::SampleShare;

use crate::judge::entry::PlacedEntry;
use crate::judge::shards::ShardOffsets;
use crate::promise::SigstorePromise;
use crate::rekor::UuidPlace;

/// Holds what Rekor v1 answered until its checkpoint was joined to the followed tree, and what is drawn until it was read back.
#[derive(Clone, Debug)]
pub struct FollowLink {
    link: AuditLink,
    shards: Arc<ShardOffsets>,
    read_back: EntryReadBack,
    draws: Draws,
}

/// Which entries are read back, and how.
#[derive(Clone, Copy, Debug)]
pub struct EntryReadBack {
    /// Which of them.
    pub share: SampleShare,
    /// How long after it was answered an entry may be unknown.
    pub missing_after: Duration,
    /// By what the share is drawn.
    pub seed: u64,
}

/// What a receipt says beside its leaf and its index over all shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerEvidence {
    /// Of no leaves where the log said that it has the entry already, and proved nothing.
    pub(super) head: HeadId,
    pub(super) tree_index: u64,
    pub(super) is_read_back: bool,
    /// Whether a verify flow read the entry, which was added before.
    pub(super) is_read: bool,
    /// When the entry was integrated, as the log signed it, in seconds since 1970.
    pub(super) integrated_time: i64,
}

impl FollowLink {
    pub(super) fn new(link: AuditLink, shards: Arc<ShardOffsets>, read_back: EntryReadBack) -> Self {
        Self { link, shards, read_back, draws: Draws::new(read_back.seed, READ_BACK) }
    }

    pub(crate) fn shards(&self) -> Arc<ShardOffsets> {
        self.shards.clone()
    }

    /// Hands over what holds on its own; whether somebody follows the log still, none where the checkpoint names no tree.
    pub(crate) fn hold(
        &self,
        receipt: Receipt,
        proved: &PlacedEntry,
        promise: SigstorePromise,
        part: Option<&Arc<str>>,
    ) -> Option<bool> {
        let head = proved.head?;
        self.link.answered_with(head, proved.checkpoint.as_bytes(), Nanos(receipt.received_ns));
        let is_drawn = self.draws.unit(receipt.seq) < self.read_back.share.of_1();
        let evidence = AnswerEvidence::of(proved, head, promise, is_drawn);
        let receipt = receipt.with_evidence(evidence.written());
        Some(self.link.hold(receipt.within(self.read_back.missing_after.as_millis() as u64), part))
    }

    /// Hands over an entry that the log says it has already, whichever head that is of: it is read back. Whether somebody follows the log
    /// still.
    pub(crate) fn hold_known(&self, receipt: Receipt, place: UuidPlace, part: Option<&Arc<str>>) -> bool {
        let head = HeadId { tree: place.tree.unwrap_or_default(), size: 0, root: Hash::default() };
        let (is_read_back, is_read) = (true, false);
        let evidence = AnswerEvidence { head, tree_index: 0, is_read_back, is_read, integrated_time: 0 };
        let receipt = receipt.with_evidence(evidence.written());
        self.link.hold(receipt.within(self.read_back.missing_after.as_millis() as u64), part)
    }

    pub(crate) fn pass_on(&self, verdicts: &mut Verdicts) {
        self.link.pass_on(verdicts);
    }
}

impl AnswerEvidence {
    /// What an answer with that head proved to who was promised so; whether the entry is among those that are drawn to be read back.
    fn of(proved: &PlacedEntry, head: HeadId, promise: SigstorePromise, is_drawn: bool) -> Self {
        let is_read = promise != SigstorePromise::Entry;
        let (tree_index, integrated_time) = (proved.tree_index, proved.integrated_time);
        // A verify flow has read the entry itself.
        Self { head, tree_index, is_read_back: is_drawn && !is_read, is_read, integrated_time }
    }

    pub(super) fn written(&self) -> ReceiptEvidence {
        let Self { head: HeadId { tree, size, root }, tree_index, is_read_back, is_read, integrated_time } =
            self;
        let numbers = [*tree, *size, *tree_index, integrated_time.cast_unsigned()];
        let numbers = numbers.map(u64::to_be_bytes);
        let flags = (u8::from(*is_read_back) * READ_LATER) | (u8::from(*is_read) * READ_ALONE);
        let parts = [numbers.as_flattened(), &root.0, &[flags]];
        // 65 bytes have room.
        ReceiptEvidence::of(&parts).unwrap_or(ReceiptEvidence::NONE)
    }

    pub(super) fn read(receipt: &Receipt) -> Self {
        let bytes = receipt.evidence.bytes();
        let number = |at: usize| {
            let number = bytes.get(8 * at..8 * at + 8).and_then(|bytes| bytes.try_into().ok());
            u64::from_be_bytes(number.unwrap_or_default())
        };
        let root = bytes.get(32..64).and_then(Hash::from_slice).unwrap_or_default();
        let head = HeadId { tree: number(0), size: number(1), root };
        let flags = bytes.get(64).copied().unwrap_or_default();
        let (is_read_back, is_read) = (flags & READ_LATER != 0, flags & READ_ALONE != 0);
        let integrated_time = number(3).cast_signed();
        Self { head, tree_index: number(2), is_read_back, is_read, integrated_time }
    }

    pub(super) fn answered(&self) -> AnsweredEntry {
        // A head that proves an entry is of a leaf at least.
        let head = Some(self.head).filter(|head| head.size > 0);
        AnsweredEntry { head, is_read_back: self.is_read_back, is_read: self.is_read }
    }
}

/// What the last byte of the evidence says: the entry is read back; it was read by a verify flow.
const READ_LATER: u8 = 1;
const READ_ALONE: u8 = 2;

const READ_BACK: u64 = 0x7265_6164;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_receipt_says_of_its_answer_is_read_back() {
        for (is_read_back, is_read) in [(true, false), (false, true), (false, false), (true, true)] {
            let head = HeadId { tree: u64::MAX, size: 7, root: Hash([9; 32]) };
            let evidence = AnswerEvidence { head, tree_index: 5, is_read_back, is_read, integrated_time: -6 };
            let receipt = Receipt::new(1, Hash([2; 32]), Some(3), 4, 5).with_evidence(evidence.written());
            assert_eq!(AnswerEvidence::read(&receipt), evidence);
        }
    }

    #[test]
    fn what_a_verify_flow_was_proved_is_a_read_and_is_not_read_back() {
        let head = HeadId { tree: 1, size: 7, root: Hash([9; 32]) };
        let proved = PlacedEntry {
            leaf: Hash([2; 32]),
            index: 12,
            tree_index: 5,
            head: Some(head),
            checkpoint: String::new(),
            integrated_time: 1_790_000_000,
        };
        let answered = |promise, is_drawn| {
            let evidence = AnswerEvidence::of(&proved, head, promise, is_drawn);
            let receipt = Receipt::new(1, proved.leaf, Some(12), 4, 5).with_evidence(evidence.written());
            let AnsweredEntry { head: found, is_read_back, is_read } =
                AnswerEvidence::read(&receipt).answered();
            assert_eq!(found, Some(head));
            (is_read_back, is_read)
        };
        for (promise, is_drawn, expected) in [
            (SigstorePromise::Entry, true, (true, false)),
            (SigstorePromise::Entry, false, (false, false)),
            (SigstorePromise::Artifact, true, (false, true)),
            (SigstorePromise::Artifact, false, (false, true)),
        ] {
            assert_eq!(answered(promise, is_drawn), expected, "{promise:?}, drawn: {is_drawn}");
        }
    }
}
