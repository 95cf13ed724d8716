use crate::merkle::Hash;

/// A promise that a log made: the leaf of an accepted submission, and where and until when it is to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Receipt {
    /// The index, with the top bits for "none" and "duplicate".
    place: u64,
    /// The submission's sequence number.
    pub seq: u64,
    /// The hash of the leaf that the SCT promises.
    pub leaf: Hash,
    /// When the answer was received, in nanoseconds since the instant that heads' are counted from.
    pub received_ns: u64,
    /// The SCT's timestamp, in milliseconds since 1970.
    pub timestamp_ms: u64,
}

/// A million of them are held at once.
const _: () = assert!(size_of::<Receipt>() <= 64);

const DUPLICATE: u64 = 1 << 63;
const NO_INDEX: u64 = DUPLICATE - 1;

impl Receipt {
    /// Bytes of an encoded receipt.
    pub const LENGTH: usize = 64;

    /// A receipt with the index of its SCT's extensions; none from a log of RFC 6962.
    pub fn new(seq: u64, leaf: Hash, index: Option<u64>, received_ns: u64, timestamp_ms: u64) -> Self {
        let place = index.map_or(NO_INDEX, |index| index.min(NO_INDEX - 1));
        Self { place, seq, leaf, received_ns, timestamp_ms }
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
        let numbers = [self.place, self.seq, self.received_ns, self.timestamp_ms];
        for (slot, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            slot.copy_from_slice(&number.to_be_bytes());
        }
        bytes[32..].copy_from_slice(&self.leaf.0);
        bytes
    }

    /// The receipt of these bytes.
    pub fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        let number = |at: usize| bytes[at..at + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let mut leaf = Hash([0; 32]);
        leaf.0.copy_from_slice(&bytes[32..]);
        Self { place: number(0), seq: number(8), leaf, received_ns: number(16), timestamp_ms: number(24) }
    }

    /// When the merge delay ends, in milliseconds since 1970.
    pub(super) fn deadline_ms(&self, mmd_ms: u64) -> u64 {
        self.timestamp_ms.saturating_add(mmd_ms)
    }
}
