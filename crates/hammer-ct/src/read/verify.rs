//! What was read, judged on a thread of its own.

use std::fmt;
use std::sync::Arc;

use hammer_audit::{HeadMemory, OpenedHead};
use hammer_core::promise::{Fault, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_read::{
    Part, ProvedTree, ProvedTrees, UNREADABLE_PROOF, UNVERIFIED, check_bundle, known_head, missing_tile,
    unverified,
};
use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::merkle::{Hash, sha256};
use hammer_tlog::logs::note;

use super::record::{Check, ReadRecord};
use crate::log::LogTarget;
use crate::promise::LogPromise;
use crate::tree_head::open_head;

mod names;
mod proofs;

/// Holds what was read against the log's key, and up to the root that it signed. Each record is judged by itself; what was
/// proved for the last tree heads is only remembered.
pub struct ReadVerifier {
    log: Arc<LogTarget>,
    verifier: note::Verifier,
    trees: ProvedTrees,
    heads: Option<HeadMemory>,
    /// When the record that is judged was taken up.
    now: Nanos,
}

impl ReadVerifier {
    /// Hands the heads that it verified to `heads`, where somebody follows the log.
    pub(super) fn new(log: Arc<LogTarget>, heads: Option<HeadMemory>) -> Self {
        Self {
            verifier: log.checkpoint_verifier(),
            log,
            trees: ProvedTrees::default(),
            heads,
            now: Nanos::ZERO,
        }
    }

    fn judge(&mut self, record: &ReadRecord<'_>) -> Result<(), Fault> {
        use Check::{
            Bundle, Consistency, Entries, EntryAndProof, Issuer, Missing, Names, ProofByHash, Roots, Tile,
            TreeHead, Unreadable, Unverified,
        };
        match (record.check, record.parts.as_slice()) {
            (TreeHead, [head]) => self.tree(head.bytes).map(drop),
            (Tile, [head, tiles @ ..]) => known_head(self.tree(head.bytes))?.prove(tiles).map(drop),
            (Bundle, [head, bundle, tiles @ ..]) => {
                check_bundle::<StaticCtLeaves>(known_head(self.tree(head.bytes))?, bundle, tiles)
            }
            (Names, [head, names, bundle, tiles @ ..]) => {
                check_bundle::<StaticCtLeaves>(known_head(self.tree(head.bytes))?, bundle, tiles)?;
                names::check(names, bundle)
            }
            (Issuer, [fingerprint]) => Err(missing_issuer(fingerprint.bytes)),
            (Issuer, [fingerprint, certificate]) => issuer(fingerprint.bytes, certificate.bytes),
            (Entries, [head, entries, proofs @ ..]) => proofs::entries(&self.head(head)?, entries, proofs),
            (ProofByHash, [head, leaf, proof]) => proofs::by_hash(&self.head(head)?, leaf, proof),
            (Consistency, [older, newer, proof]) => {
                proofs::consistency(&self.head(older)?, &self.head(newer)?, proof)
            }
            (EntryAndProof, [head, entry]) => proofs::entry_and_proof(&self.head(head)?, entry),
            (Roots, [roots]) => proofs::roots(roots),
            (Missing, [head, tile]) => Err(missing_tile(self.tree(head.bytes), tile.id())),
            (Unreadable, [found]) => Err(Fault::new(UNREADABLE_PROOF, String::from_utf8_lossy(found.bytes))),
            (Unverified, _) | (_, _) => Err(unverified()),
        }
    }

    /// A head that a read is held against.
    fn head(&mut self, head: &Part<'_>) -> Result<OpenedHead, Fault> {
        Ok(known_head(self.tree(head.bytes))?.head.clone())
    }

    /// The tree of a head, whose signature is verified when it is met first.
    fn tree(&mut self, raw: &[u8]) -> Result<&mut ProvedTree, Fault> {
        let Self { log, verifier, trees, heads, now } = self;
        trees.of(raw, |raw| {
            let head = open_head(log, verifier, raw)?;
            if let Some(heads) = heads {
                heads.seen(&head, raw, *now);
            }
            Ok(head)
        })
    }
}

impl Verifier for ReadVerifier {
    fn check(&mut self, seq: u64, bytes: &[u8], now: Nanos, verdicts: &mut Verdicts) {
        self.now = now;
        let Ok(record) = ReadRecord::read(bytes) else {
            return verdicts.unchecked(LogPromise::Inclusion.into());
        };
        let kind = record.check.promise().into();
        match self.judge(&record) {
            Ok(()) => verdicts.kept(kind),
            Err(Fault { kind: UNVERIFIED, detail, .. }) => verdicts.unverified(kind, &detail),
            Err(fault) => verdicts.broken(kind, seq, fault, Some(bytes)),
        }
    }
}

impl fmt::Debug for ReadVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadVerifier").field("log", &self.log).finish_non_exhaustive()
    }
}

fn missing_issuer(fingerprint: &[u8]) -> Fault {
    match fingerprint.try_into().map(Hash) {
        Ok(fingerprint) => Fault::new("missing-issuer", format!("issuer/{fingerprint} is not served")),
        Err(_) => unverified(),
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
