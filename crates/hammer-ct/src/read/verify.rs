//! What was read, judged on a thread of its own.

use std::fmt;
use std::sync::Arc;

use hammer_audit::OpenedHead;
use hammer_core::promise::{Fault, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_tlog::logs::merkle::{Hash, sha256};
use hammer_tlog::logs::note;

use super::record::{Check, Part, ReadRecord};
use crate::log::LogTarget;
use crate::promise::LogPromise;
use crate::tree_head::open_head;

mod broken;
mod bundle;
mod names;
mod proofs;
mod tree;

use broken::{MISSING_TILE, UNREADABLE_PROOF, UNVERIFIED, unverified};
use tree::Tree;

/// Holds what was read against the log's key, and up to the root that it signed. Each record is judged by itself; what was
/// proved for the last tree heads is only remembered.
pub struct ReadVerifier {
    log: Arc<LogTarget>,
    verifier: note::Verifier,
    /// What is known of the trees of the last heads, the last one used at the end.
    trees: Vec<Tree>,
}

impl ReadVerifier {
    pub(super) fn new(log: Arc<LogTarget>) -> Self {
        Self { verifier: log.checkpoint_verifier(), log, trees: Vec::new() }
    }

    fn judge(&mut self, record: &ReadRecord<'_>) -> Result<(), Fault> {
        use Check::{
            Bundle, Consistency, Entries, EntryAndProof, Issuer, Missing, Names, ProofByHash, Roots, Tile,
            TreeHead, Unreadable, Unverified,
        };
        match (record.check, record.parts.as_slice()) {
            (TreeHead, [head]) => self.tree(head.bytes).map(drop),
            (Tile, [head, tiles @ ..]) => self.tree(head.bytes)?.prove(tiles).map(drop),
            (Bundle, [head, bundle, tiles @ ..]) => bundle::check(self.tree(head.bytes)?, bundle, tiles),
            (Names, [head, names, bundle, tiles @ ..]) => {
                bundle::check(self.tree(head.bytes)?, bundle, tiles)?;
                names::check(names, bundle)
            }
            (Issuer, [fingerprint, certificate]) => issuer(fingerprint.bytes, certificate.bytes),
            (Entries, [head, entries, proofs @ ..]) => proofs::entries(&self.head(head)?, entries, proofs),
            (ProofByHash, [head, leaf, proof]) => proofs::by_hash(&self.head(head)?, leaf, proof),
            (Consistency, [older, newer, proof]) => {
                proofs::consistency(&self.head(older)?, &self.head(newer)?, proof)
            }
            (EntryAndProof, [head, entry]) => proofs::entry_and_proof(&self.head(head)?, entry),
            (Roots, [roots]) => proofs::roots(roots),
            (Missing, [tile]) => Err(Fault::new(MISSING_TILE, format!("{} is not served", tile.id()))),
            (Unreadable, [found]) => Err(Fault::new(UNREADABLE_PROOF, String::from_utf8_lossy(found.bytes))),
            (Unverified, _) | (_, _) => Err(unverified()),
        }
    }

    fn head(&mut self, head: &Part<'_>) -> Result<OpenedHead, Fault> {
        Ok(self.tree(head.bytes)?.head.clone())
    }

    /// The tree of a head, whose signature is verified when it is met first.
    fn tree(&mut self, raw: &[u8]) -> Result<&mut Tree, Fault> {
        let known = self.trees.iter().position(|tree| tree.raw == raw);
        let tree = match known {
            Some(place) => self.trees.remove(place),
            None => {
                let head = open_head(&self.log, &self.verifier, raw)
                    .map_err(|why| Fault::new(why.breach.unwrap_or("tree-head"), why.to_string()))?;
                if self.trees.len() == MOST_TREES {
                    self.trees.remove(0);
                }
                Tree::new(raw, head)
            }
        };
        self.trees.push(tree);
        self.trees.last_mut().ok_or_else(unverified)
    }
}

impl Verifier for ReadVerifier {
    fn check(&mut self, seq: u64, bytes: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        let Ok(record) = ReadRecord::read(bytes) else {
            return verdicts.unchecked(LogPromise::Inclusion.into());
        };
        let kind = record.check.promise().into();
        match self.judge(&record) {
            Ok(()) => verdicts.kept(kind),
            Err(Fault { kind: UNVERIFIED, .. }) => verdicts.unchecked(kind),
            Err(fault) => verdicts.broken(kind, seq, fault, Some(bytes)),
        }
    }
}

impl fmt::Debug for ReadVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadVerifier").field("log", &self.log).finish_non_exhaustive()
    }
}

fn issuer(fingerprint: &[u8], certificate: &[u8]) -> Result<(), Fault> {
    let found = sha256(certificate);
    if found.0 == fingerprint {
        return Ok(());
    }
    let expected = fingerprint.try_into().map(Hash).map_err(|_| unverified())?;
    Err(Fault::new(
        "altered-issuer",
        format!("issuer/{expected}: the certificate there has the fingerprint {found}"),
    ))
}

/// Trees of several shards, and of heads that follow each other.
const MOST_TREES: usize = 8;
