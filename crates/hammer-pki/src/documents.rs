//! The documents of a workload, each pure in a seed and the operation's number.

use std::fmt;
use std::sync::{Arc, OnceLock};

use hammer_core::draw::Draws;
use hammer_pdf::document::{Document, UnfitLength};
use ring::digest::{Context, SHA256};

/// How long documents are, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentLengths {
    /// All of them as long.
    Of(u64),
    /// From the first to the second length, as many of each power of two.
    Between(u64, u64),
}

/// The documents.
#[derive(Clone)]
pub struct Documents {
    key: u64,
    lengths: DocumentLengths,
    draws: Draws,
    /// SHA-256 after each stretch of what all of them start with, worked out where it is first asked for.
    hashed: Arc<[OnceLock<Context>]>,
}

impl Documents {
    /// Those of a seed, for the workload at that place of the plan.
    ///
    /// # Errors
    /// Where the shortest would be shorter than any PDF made here, or the longest longer.
    pub fn new(seed: u64, workload: u64, lengths: DocumentLengths) -> Result<Self, UnfitLength> {
        let draws = Draws::new(seed, LENGTHS ^ workload << 32);
        let key = Draws::new(seed, KEYS ^ workload << 32).bits(0);
        let mut documents = Self { key, lengths, draws, hashed: Arc::default() };
        for length in [documents.shortest(), documents.longest()] {
            let stretches = Document::new(key, u64::MAX, length)?.common() / STRETCH;
            documents.hashed = vec![OnceLock::new(); stretches.min(STRETCHES) as usize].into();
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

    /// SHA-256 (FIPS 180-4) at the end of one of these documents. What it has in common with the others is not hashed again: of a usual one that
    /// would be a quarter of all that a signature of P-256 costs hammer.
    pub fn hash(&self, document: &Document) -> Context {
        let stretches = self.hashed.len().min((document.common() / STRETCH) as usize);
        let known = (0..stretches).rev().find_map(|at| Some((at + 1, self.hashed[at].get()?.clone())));
        let (known, mut context) = known.unwrap_or_else(|| (0, Context::new(&SHA256)));
        let mut piece = Vec::with_capacity(STRETCH as usize);
        let mut at = known as u64;
        while at * STRETCH < document.len() {
            piece.clear();
            document.append(at * STRETCH..(at + 1) * STRETCH, &mut piece);
            context.update(&piece);
            if let Some(hashed) = self.hashed[..stretches].get(at as usize) {
                // Another thread may have been here in the meantime, and found the same.
                let _ = hashed.set(context.clone());
            }
            at += 1;
        }
        context
    }

    /// The SHA-256 of one of these documents.
    pub fn sha256(&self, document: &Document) -> [u8; 32] {
        finished(self.hash(document))
    }
}

impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Documents")
            .field("key", &self.key)
            .field("lengths", &self.lengths)
            .finish_non_exhaustive()
    }
}

/// The digest of all that was hashed by SHA-256.
pub(crate) fn finished(hashed: Context) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(hashed.finish().as_ref());
    digest
}

/// Bytes after which what was hashed is kept: half of them are hashed again for each document.
const STRETCH: u64 = 16 << 10;
/// How often that is done at most, for 64 MiB.
const STRETCHES: u64 = 4 << 10;
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
    fn what_documents_have_in_common_is_hashed_once_and_counts_for_all() {
        use hammer_tlog::hash::sha256;

        let (stretch, most) = (STRETCH, STRETCH * STRETCHES);
        for (least, most) in [(1_000, 1_000), (1_000, 5 * stretch), (most + 1_000, most + stretch)] {
            let documents = Documents::new(1, 0, DocumentLengths::Between(least, most)).unwrap();
            for seq in 0..if most < 1 << 20 { 200 } else { 3 } {
                let document = documents.document(seq);
                assert_eq!(
                    documents.sha256(&document),
                    sha256(&document.to_vec()).0,
                    "{} bytes",
                    document.len()
                );
            }
            assert!(documents.hashed.len() as u64 <= STRETCHES);
            assert!(documents.clone().hashed.iter().all(|hashed| hashed.get().is_some()));
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
