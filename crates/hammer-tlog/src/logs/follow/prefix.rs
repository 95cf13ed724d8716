//! Heads of earlier states of the tree.

use std::collections::VecDeque;

use super::event::{Event, Evidence, Unproved};
use super::growth::Growth;
use super::head::Head;
use super::{Bundles, KNOWN, Need, ProofMethod};
use crate::hash::Hash;
use crate::logs::merkle::{MerkleError, verify_consistency};

/// A head that is being proved to be of an earlier state of the trusted tree.
#[derive(Debug)]
pub(super) struct Prefix {
    pub(super) head: Head,
    /// The whole tree, and the tiles by which it is held against the smaller one.
    pub(super) growth: Growth,
}

/// Trees that are earlier states of the trusted one, the last [`KNOWN`] of them.
#[derive(Debug, Default)]
pub(super) struct Known(VecDeque<(u64, Hash)>);

impl Prefix {
    pub(super) fn new(head: Head, newer: Head, by: ProofMethod, bundles: Bundles) -> Self {
        let growth = Growth::since(head.size, newer, by, bundles);
        Self { head, growth }
    }

    /// Whether it claims a tree without leaves, which needs no proof.
    pub(super) fn is_empty(&self) -> bool {
        self.head.size == 0
    }

    pub(super) fn growth(&mut self) -> &mut Growth {
        &mut self.growth
    }

    pub(super) fn need(&self, by: ProofMethod) -> Need {
        match by {
            ProofMethod::Leaves | ProofMethod::Edges => Need::Tiles(self.growth.wanted()),
            ProofMethod::Proofs => {
                let Growth { head, .. } = &self.growth;
                Need::ConsistencyProof {
                    first: self.head.size,
                    second: head.size,
                    refused: self.growth.refused(),
                }
            }
        }
    }

    /// What it is where it claims a tree without leaves.
    pub(super) fn judge_empty(self) -> Event {
        let (head, newest) = (&self.head, &self.growth.head);
        let held = verify_consistency(head.size, newest.size, &head.root, &newest.root, &[]);
        self.judge(held, Evidence::Proof)
    }

    /// What it is by the last consistency proof, and what that is evidence of where it does not hold.
    pub(super) fn judge(self, held: Result<(), MerkleError>, evidence: fn(MerkleError) -> Evidence) -> Event {
        let (head, newest) = (self.head, self.growth.head);
        match held {
            Ok(()) => Event::Stale { head, newest },
            Err(error @ MerkleError::ProofLength { .. }) => {
                Event::Unproved { head, reason: Unproved::Proof(error) }
            }
            Err(error) => Event::Forked { older: newest, newer: head, evidence: evidence(error) },
        }
    }

    /// None while tiles are wanted. Only tiles that lead to the trusted root say anything of the smaller one.
    pub(super) fn judge_tiles(&self) -> Option<Event> {
        let (prefix, computed) = self.growth.roots()?;
        let (head, newest) = (self.head.clone(), self.growth.head.clone());
        Some(if computed != newest.root {
            let error = MerkleError::RootMismatch { computed, expected: newest.root };
            Event::Unproved { head, reason: Unproved::Proof(error) }
        } else if prefix != head.root {
            Event::Forked { older: newest, newer: head, evidence: Evidence::Root { computed: prefix } }
        } else {
            Event::Stale { head, newest }
        })
    }
}

impl Known {
    pub(super) fn holds(&self, head: &Head) -> bool {
        self.0.contains(&(head.size, head.root))
    }

    pub(super) fn add(&mut self, head: &Head) {
        if self.0.len() == KNOWN {
            self.0.pop_front();
        }
        self.0.push_back((head.size, head.root));
    }
}
