use crate::hash::Hash;

/// A promise that a log made: the leaf of an accepted submission, and where and until when it is to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Receipt {
    /// The index, with the top bits for "none" and "duplicate".
    place: u64,
    /// The submission's sequence number.
    pub seq: u64,
    /// The hash of the leaf that the SCT promises.
    pub leaf: Hash,
    /// When the plan wanted it to be sent, in nanoseconds since the instant that heads' are counted from.
    pub intended_ns: u64,
    /// When it was sent, likewise.
    pub sent_ns: u64,
    /// When the answer was received, in nanoseconds since the instant that heads' are counted from.
    pub received_ns: u64,
    /// The SCT's timestamp, in milliseconds since 1970.
    pub timestamp_ms: u64,
    sct: Sct,
}

/// Extensions and signature of an SCT, in the form in which the log has to be shown them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sct {
    extensions: u8,
    signature: u8,
    bytes: [u8; SCT],
}

/// A leaf index and an ECDSA signature over P-256 are of 84 bytes at most.
const SCT: usize = 86;

/// A quarter of a million of them is held at once.
const _: () = assert!(size_of::<Receipt>() <= 168);

/// Of an encoded receipt.
const NUMBERS: usize = 6;
const DUPLICATE: u64 = 1 << 63;
const NO_INDEX: u64 = DUPLICATE - 1;

impl Receipt {
    /// Bytes of an encoded receipt.
    pub const LENGTH: usize = NUMBERS * 8 + 32 + 2 + SCT;

    /// A receipt with the index of its SCT's extensions; none from a log of RFC 6962.
    pub fn new(seq: u64, leaf: Hash, index: Option<u64>, received_ns: u64, timestamp_ms: u64) -> Self {
        let place = index.map_or(NO_INDEX, |index| index.min(NO_INDEX - 1));
        let (intended_ns, sent_ns) = (received_ns, received_ns);
        let sct = Sct { extensions: 0, signature: 0, bytes: [0; SCT] };
        Self { place, seq, leaf, intended_ns, sent_ns, received_ns, timestamp_ms, sct }
    }

    /// The receipt of a submission that the plan wanted at one instant and that was sent at another.
    pub fn sent(self, intended_ns: u64, sent_ns: u64) -> Self {
        Self { intended_ns, sent_ns, ..self }
    }

    /// Keeps the SCT's extensions and signature, the latter as RFC 6962 section 4.1 has it; not where they are longer than
    /// 86 bytes together, which no log with a P-256 key needs.
    pub fn with_sct(mut self, extensions: &[u8], signature: &[u8]) -> Self {
        let length = extensions.len() + signature.len();
        if length <= SCT {
            self.sct.bytes[..extensions.len()].copy_from_slice(extensions);
            self.sct.bytes[extensions.len()..length].copy_from_slice(signature);
            (self.sct.extensions, self.sct.signature) = (extensions.len() as u8, signature.len() as u8);
        }
        self
    }

    /// The SCT's extensions and signature; none where they were not kept.
    pub fn sct(&self) -> Option<(&[u8], &[u8])> {
        let (extensions, rest) = self.sct.bytes.split_at_checked(self.sct.extensions.into())?;
        let signature = rest.get(..self.sct.signature.into())?;
        (!signature.is_empty()).then_some((extensions, signature))
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
        let numbers: [u64; NUMBERS] =
            [self.place, self.seq, self.intended_ns, self.sent_ns, self.received_ns, self.timestamp_ms];
        for (slot, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            slot.copy_from_slice(&number.to_be_bytes());
        }
        let (leaf, sct) = bytes[NUMBERS * 8..].split_at_mut(32);
        leaf.copy_from_slice(&self.leaf.0);
        (sct[0], sct[1]) = (self.sct.extensions, self.sct.signature);
        sct[2..].copy_from_slice(&self.sct.bytes);
        bytes
    }

    /// The receipt of these bytes.
    pub fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        let number = |at: usize| bytes[at..at + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let (hash, rest) = bytes[NUMBERS * 8..].split_at(32);
        let mut leaf = Hash([0; 32]);
        leaf.0.copy_from_slice(hash);
        let mut sct = Sct { extensions: rest[0], signature: rest[1], bytes: [0; SCT] };
        sct.bytes.copy_from_slice(&rest[2..]);
        Self {
            place: number(0),
            seq: number(8),
            leaf,
            intended_ns: number(16),
            sent_ns: number(24),
            received_ns: number(32),
            timestamp_ms: number(40),
            sct,
        }
    }

    /// When the merge delay ends, in milliseconds since 1970.
    pub(super) fn deadline_ms(&self, mmd_ms: u64) -> u64 {
        self.timestamp_ms.saturating_add(mmd_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_read_back_as_it_was_written() {
        let receipt = Receipt::new(7, Hash([9; 32]), Some(300), 50, 60).sent(30, 40);
        let with_sct = receipt.with_sct(&[1; 8], &[2; 76]);
        assert_eq!(with_sct.sct(), Some(([1; 8].as_slice(), [2; 76].as_slice())));
        for receipt in [receipt, with_sct, with_sct.duplicate()] {
            assert_eq!(Receipt::decode(&receipt.encode()), receipt);
        }
    }

    #[test]
    fn a_signature_that_is_too_long_is_not_kept() {
        let receipt = Receipt::new(7, Hash([9; 32]), None, 50, 60).with_sct(&[], &[2; 260]);
        assert_eq!(receipt.sct(), None);
    }
}
