//! The nonces that verification chose for its sessions: none may come twice, or evidence of the one would do for the other (RFC 9334 section 10).

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

/// The operations whose sessions had a nonce, of the last sessions of a run; verifier threads share it.
#[derive(Debug, Default)]
pub struct SeenNonces {
    hashes: RandomState,
    generations: Mutex<Generations>,
}

/// The older one is forgotten whole, once the newer is full.
#[derive(Debug, Default)]
struct Generations {
    newer: HashMap<u64, SessionPlace>,
    older: HashMap<u64, SessionPlace>,
}

/// The operation of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionPlace {
    /// The workload's place in the plan.
    pub(crate) workload: u64,
    /// The operation's number.
    pub(crate) seq: u64,
}

impl SeenNonces {
    /// The operation of another session that had the same nonce, where there was one. A session may be told of twice.
    pub(crate) fn met(&self, nonce: &[u8], place: SessionPlace) -> Option<SessionPlace> {
        // Of the half million that are known, two others have one hash in one of a hundred million runs.
        let hash = self.hashes.hash_one(nonce);
        // Entries are added whole, so that a panic elsewhere leaves nothing halfway.
        let mut seen = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.newer.get(&hash).or_else(|| seen.older.get(&hash)).copied();
        if known.is_none() {
            if seen.newer.len() >= GENERATION {
                seen.older = std::mem::take(&mut seen.newer);
            }
            seen.newer.insert(hash, place);
        }
        known.filter(|known| *known != place)
    }
}

/// Sessions of a generation: two of them are some 20 MB.
const GENERATION: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_that_comes_again_names_the_session_that_had_it_before() {
        let seen = SeenNonces::default();
        let place = |seq| SessionPlace { workload: 1, seq };
        assert_eq!((seen.met(b"a", place(1)), seen.met(b"b", place(2))), (None, None));
        // The same session, told of again.
        assert_eq!(seen.met(b"a", place(1)), None);
        assert_eq!(seen.met(b"a", place(3)), Some(place(1)));
        let other = SessionPlace { workload: 2, seq: 2 };
        assert_eq!(seen.met(b"b", other), Some(place(2)));
    }

    #[test]
    fn the_last_quarter_of_a_million_are_remembered_and_no_more_than_two() {
        let seen = SeenNonces::default();
        let all = 3 * GENERATION as u64;
        for seq in 0..all {
            assert_eq!(seen.met(&seq.to_be_bytes(), SessionPlace { workload: 0, seq }), None);
        }
        let generations = seen.generations.lock().unwrap();
        assert!(generations.newer.len() + generations.older.len() <= 2 * GENERATION);
        drop(generations);
        let again = SessionPlace { workload: 0, seq: all };
        let seq = all - GENERATION as u64;
        assert_eq!(seen.met(&seq.to_be_bytes(), again), Some(SessionPlace { workload: 0, seq }));
    }
}
