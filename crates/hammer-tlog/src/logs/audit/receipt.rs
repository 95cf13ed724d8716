//! Receipts of promises.

use std::fmt;

use super::beside::Beside;
use crate::hash::Hash;

/// A promise that a log made: the leaf of an accepted submission, and where and until when it is to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Receipt {
    /// The index, with the top bits for "none" and "duplicate".
    place: u64,
    /// The submission's sequence number.
    pub seq: u64,
    /// The hash of the leaf that is promised.
    pub leaf: Hash,
    /// When the plan wanted it to be sent, in nanoseconds since the instant that heads' are counted from.
    pub intended_ns: u64,
    /// When it was sent, likewise.
    pub sent_ns: u64,
    /// When the answer was received, in nanoseconds since the instant that heads' are counted from.
    pub received_ns: u64,
    /// When the log says that it promised, in milliseconds since 1970: an SCT's timestamp.
    pub promised_ms: u64,
    /// When a head must cover the leaf, likewise: an SCT's timestamp and the maximum merge delay (RFC 6962 section 3).
    pub deadline_ms: u64,
    /// What shows the promise.
    pub evidence: ReceiptEvidence,
}

/// What shows a promise, as few bytes as the log has to be shown: its protocol writes and reads them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReceiptEvidence {
    /// Of the bytes from the start on; the top bit says that the last ones are a [`Beside`].
    length: u8,
    bytes: [u8; ReceiptEvidence::MOST],
}

/// A quarter of a million of them is held at once.
const _: () = assert!(size_of::<Receipt>() <= 192);

/// Of an encoded receipt.
const NUMBERS: usize = 7;
const DUPLICATE: u64 = 1 << 63;
const NO_INDEX: u64 = DUPLICATE - 1;
/// Of a length.
const HAS_BESIDE: u8 = 1 << 7;
/// Where a [`Beside`] starts.
const BESIDE: usize = ReceiptEvidence::MOST - Beside::LENGTH;

impl ReceiptEvidence {
    /// Bytes at most: a leaf index and an ECDSA signature over P-256 are of 84 with a length before each, and 16 are for
    /// what was sent beside the leaf.
    pub const MOST: usize = 103;

    /// No evidence.
    pub const NONE: Self = Self { length: 0, bytes: [0; Self::MOST] };

    /// These parts, one after another; none where they are longer than [`ReceiptEvidence::MOST`] together.
    pub fn of(parts: &[&[u8]]) -> Option<Self> {
        let mut evidence = Self::NONE;
        let mut length = 0;
        for part in parts {
            evidence.bytes.get_mut(length..length + part.len())?.copy_from_slice(part);
            length += part.len();
        }
        evidence.length = length as u8;
        Some(evidence)
    }

    /// The bytes; none of them where there is no evidence.
    pub fn bytes(&self) -> &[u8] {
        // What was read from a file may say any length.
        self.bytes.get(..(self.length & !HAS_BESIDE).into()).unwrap_or_default()
    }
}

impl fmt::Debug for ReceiptEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x?}", self.bytes())
    }
}

impl Receipt {
    /// Bytes of an encoded receipt.
    pub const LENGTH: usize = NUMBERS * 8 + 32 + 1 + ReceiptEvidence::MOST;

    /// A receipt with the promised index, where one is promised; without a deadline.
    pub fn new(seq: u64, leaf: Hash, index: Option<u64>, received_ns: u64, promised_ms: u64) -> Self {
        let place = index.map_or(NO_INDEX, |index| index.min(NO_INDEX - 1));
        let (intended_ns, sent_ns) = (received_ns, received_ns);
        let (deadline_ms, evidence) = (u64::MAX, ReceiptEvidence::NONE);
        Self { place, seq, leaf, intended_ns, sent_ns, received_ns, promised_ms, deadline_ms, evidence }
    }

    /// The receipt of a submission that the plan wanted at one instant and that was sent at another.
    pub fn sent(self, intended_ns: u64, sent_ns: u64) -> Self {
        Self { intended_ns, sent_ns, ..self }
    }

    /// A head must cover the leaf within so many milliseconds after the promise.
    pub fn within(self, delay_ms: u64) -> Self {
        Self { deadline_ms: self.promised_ms.saturating_add(delay_ms), ..self }
    }

    /// Keeps what shows the promise.
    pub fn with_evidence(self, evidence: ReceiptEvidence) -> Self {
        Self { evidence, ..self }
    }

    /// Keeps what was sent beside the leaf, where what shows the promise leaves room for it.
    pub fn sent_beside(mut self, beside: Beside) -> Self {
        if usize::from(self.evidence.length) <= BESIDE {
            self.evidence.length |= HAS_BESIDE;
            self.evidence.bytes[BESIDE..].copy_from_slice(&beside.encode());
        }
        self
    }

    /// What was sent beside the leaf, where it is known.
    pub fn beside(&self) -> Option<Beside> {
        let bytes = self.evidence.bytes.last_chunk()?;
        (self.evidence.length & HAS_BESIDE != 0).then(|| Beside::decode(bytes))
    }

    /// The receipt of a submission that the caller knows to repeat another: it may promise what that one promised.
    pub fn duplicate(self) -> Self {
        Self { place: self.place | DUPLICATE, ..self }
    }

    /// The promised index.
    pub fn index(&self) -> Option<u64> {
        Some(self.place & NO_INDEX).filter(|index| *index != NO_INDEX)
    }

    /// Whether it is of a duplicate.
    pub fn is_duplicate(&self) -> bool {
        self.place & DUPLICATE != 0
    }

    /// The receipt as bytes, to be spilled.
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let Self { place, seq, intended_ns, sent_ns, received_ns, promised_ms, deadline_ms, .. } = *self;
        let numbers: [u64; NUMBERS] =
            [place, seq, intended_ns, sent_ns, received_ns, promised_ms, deadline_ms];
        for (slot, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            slot.copy_from_slice(&number.to_be_bytes());
        }
        let (leaf, evidence) = bytes[NUMBERS * 8..].split_at_mut(32);
        leaf.copy_from_slice(&self.leaf.0);
        evidence[0] = self.evidence.length;
        evidence[1..].copy_from_slice(&self.evidence.bytes);
        bytes
    }

    /// The receipt of these bytes.
    pub fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        let number = |at: usize| bytes[at..at + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let (hash, rest) = bytes[NUMBERS * 8..].split_at(32);
        let mut leaf = Hash([0; 32]);
        leaf.0.copy_from_slice(hash);
        let mut evidence = ReceiptEvidence { length: rest[0], ..ReceiptEvidence::NONE };
        evidence.bytes.copy_from_slice(&rest[1..]);
        Self {
            place: number(0),
            seq: number(8),
            leaf,
            intended_ns: number(16),
            sent_ns: number(24),
            received_ns: number(32),
            promised_ms: number(40),
            deadline_ms: number(48),
            evidence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_read_back_as_it_was_written() {
        let receipt = Receipt::new(7, Hash([9; 32]), Some(300), 50, 60).sent(30, 40).within(9);
        assert_eq!(receipt.deadline_ms, 69);
        let shown = receipt.with_evidence(ReceiptEvidence::of(&[&[1; 8], &[2; 76]]).unwrap());
        assert_eq!(shown.evidence.bytes(), [[1; 8].as_slice(), [2; 76].as_slice()].concat());
        for receipt in [receipt, shown, shown.duplicate()] {
            assert_eq!(Receipt::decode(&receipt.encode()), receipt);
        }
    }

    #[test]
    fn evidence_that_is_too_long_is_not_kept_and_what_is_none_has_no_bytes() {
        assert!(ReceiptEvidence::of(&[&[1; 60], &[2; 43]]).is_some());
        assert_eq!(ReceiptEvidence::of(&[&[1; 60], &[2; 44]]), None);
        let mut bytes = Receipt::new(7, Hash([9; 32]), None, 50, 60).encode();
        assert!(Receipt::decode(&bytes).evidence.bytes().is_empty());
        bytes[NUMBERS * 8 + 32] = 255;
        assert!(Receipt::decode(&bytes).evidence.bytes().is_empty());
    }
}
