//! What a workload's verifiers hand to whoever audits Rekor v2.

use std::sync::Arc;

use hammer_audit::{AuditLink, HeadId, ReceivedHead};
use hammer_core::promise::Verdicts;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{Receipt, ReceiptEvidence};

use crate::promise::SigstorePromise;

/// Holds what verify flows read of Rekor v2 until the checkpoint that they read was joined to the followed tree.
#[derive(Clone, Debug)]
pub struct TilesReadLink {
    /// Of flows that got to their entry.
    artifacts: AuditLink,
    /// Of those that did not, without anybody being to blame.
    checkpoints: AuditLink,
}

/// An entry that was read by a checkpoint, or the checkpoint alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadByHead {
    pub(super) head: HeadId,
    pub(super) leaf: Hash,
    pub(super) index: u64,
}

/// The head that a promise was shown by, as a receipt has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadEvidence(pub(crate) ReceivedHead);

impl TilesReadLink {
    pub(crate) fn new(artifacts: AuditLink, checkpoints: AuditLink) -> Self {
        Self { artifacts, checkpoints }
    }

    /// The link of one of both promises, whichever of its heads it is that is handed over.
    pub(super) fn of(&self, promise: SigstorePromise) -> &AuditLink {
        match promise {
            SigstorePromise::Checkpoint => &self.checkpoints,
            _ => &self.artifacts,
        }
    }

    /// Hands over what holds by a checkpoint that was handed over; whether somebody audits the log still.
    pub(super) fn hold(
        &self,
        receipt: Receipt,
        head: HeadId,
        promise: SigstorePromise,
        part: Option<&Arc<str>>,
    ) -> bool {
        let evidence = HeadEvidence(ReceivedHead { head, is_alone: true });
        self.of(promise).hold(receipt.with_evidence(evidence.written()), part)
    }

    pub(super) fn pass_on(&self, verdicts: &mut Verdicts) {
        self.artifacts.pass_on(verdicts);
        self.checkpoints.pass_on(verdicts);
    }
}

impl HeadEvidence {
    pub(crate) fn written(&self) -> ReceiptEvidence {
        let ReceivedHead { head: HeadId { size, root, .. }, is_alone } = self.0;
        // 41 bytes have room.
        ReceiptEvidence::of(&[&size.to_be_bytes(), &root.0, &[is_alone.into()]])
            .unwrap_or(ReceiptEvidence::NONE)
    }

    /// The head of a receipt; none where it came with none.
    pub(crate) fn read(receipt: &Receipt) -> Option<Self> {
        let (size, rest) = receipt.evidence.bytes().split_first_chunk::<8>()?;
        let (root, flags) = rest.split_first_chunk::<32>()?;
        let head = HeadId { tree: 0, size: u64::from_be_bytes(*size), root: Hash(*root) };
        Some(Self(ReceivedHead { head, is_alone: flags == [1] }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_receipt_is_read_as_it_was_written() {
        let receipt = Receipt::new(3, Hash([1; 32]), Some(2), 5, 6);
        assert_eq!(HeadEvidence::read(&receipt), None);
        let head = HeadId { tree: 0, size: 1 << 40, root: Hash([7; 32]) };
        for is_alone in [false, true] {
            let evidence = HeadEvidence(ReceivedHead { head, is_alone });
            assert_eq!(HeadEvidence::read(&receipt.with_evidence(evidence.written())), Some(evidence));
        }
    }
}
