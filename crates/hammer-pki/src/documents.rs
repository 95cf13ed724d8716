//! The documents of a workload, each pure in a seed and the operation's number.

use hammer_core::draw::Draws;
use hammer_pdf::document::{Document, UnfitLength};

/// How long documents are, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentLengths {
    /// All of them as long.
    Of(u64),
    /// From the first to the second length, as many of each power of two.
    Between(u64, u64),
}

/// The documents.
#[derive(Clone, Debug)]
pub struct Documents {
    key: u64,
    lengths: DocumentLengths,
    draws: Draws,
}

impl Documents {
    /// Those of a seed, for the workload at that place of the plan.
    ///
    /// # Errors
    /// Where the shortest would be shorter than any PDF made here, or the longest longer.
    pub fn new(seed: u64, workload: u64, lengths: DocumentLengths) -> Result<Self, UnfitLength> {
        let draws = Draws::new(seed, LENGTHS ^ workload << 32);
        let key = Draws::new(seed, KEYS ^ workload << 32).bits(0);
        let documents = Self { key, lengths, draws };
        for length in [documents.shortest(), documents.longest()] {
            Document::new(key, u64::MAX, length)?;
        }
        Ok(documents)
    }

    const fn shortest(&self) -> u64 {
        match self.lengths {
            DocumentLengths::Of(length) | DocumentLengths::Between(length, _) => length,
        }
    }

    /// Bytes of the longest.
    pub fn longest(&self) -> u64 {
        match self.lengths {
            DocumentLengths::Of(length) => length,
            DocumentLengths::Between(least, most) => most.max(least),
        }
    }

    /// The document of an operation.
    pub fn document(&self, seq: u64) -> Document {
        let length = match self.lengths {
            DocumentLengths::Of(length) => length,
            DocumentLengths::Between(least, most) => {
                let (low, high) = ((least as f64).ln(), (most.max(least) as f64).ln());
                ((low + (high - low) * self.draws.unit(seq)).exp() as u64).clamp(least, most.max(least))
            }
        };
        // All lengths lie between two of which `new` has seen that they are fit.
        Document::new(self.key, seq, length).unwrap_or_else(|why| unreachable!("{why}"))
    }
}

const LENGTHS: u64 = 0x504b_4c65;
const KEYS: u64 = 0x504b_4b65;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_follows_from_seed_workload_and_number() {
        let of = |seed, workload| Documents::new(seed, workload, DocumentLengths::Of(2_000)).unwrap();
        assert_eq!(of(1, 0).document(7), of(1, 0).document(7));
        for other in [of(2, 0).document(7), of(1, 1).document(7), of(1, 0).document(8)] {
            assert_ne!(other, of(1, 0).document(7));
            assert_eq!(other.len(), 2_000);
        }
        for (least, most) in [(100, 2_000), (2_000, 12 << 30)] {
            assert!(Documents::new(1, 0, DocumentLengths::Between(least, most)).is_err());
        }
    }

    #[test]
    fn lengths_are_as_many_of_each_power_of_two() {
        let documents = Documents::new(1, 0, DocumentLengths::Between(1_024, 1 << 20)).unwrap();
        let lengths: Vec<u64> = (0..2_000).map(|seq| documents.document(seq).len()).collect();
        assert_eq!(documents.longest(), 1 << 20);
        assert!(lengths.iter().all(|length| (1_024..=1 << 20).contains(length)));
        let below = lengths.iter().filter(|length| **length < 32 << 10).count();
        assert!((900..1_100).contains(&below), "{below} of 2,000 below the middle power of two");
    }
}
