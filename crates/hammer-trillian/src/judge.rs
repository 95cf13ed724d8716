//! What was answered, judged on a thread of its own.

use std::sync::Arc;

use hammer_core::promise::{Fault, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_messages::trillian::{
    GetInclusionProofByHashResponse, GetInclusionProofResponse, GetLatestSignedLogRootResponse,
    GetLeavesByRangeResponse, LogRootV1, Proof, QueueLeafResponse, SignedLogRoot,
};
use hammer_read::{
    ALTERED_LEAF, LogHeads, Part, UNREADABLE_PROOF, UNVERIFIED, known_head, read_parts, unverified,
};
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::merkle::{leaf_hash, verify_consistency, verify_inclusion, verify_range};
use prost::Message;

use crate::check::Check;
use crate::promise::TrillianPromise;

/// What verifiers of a workload are made from, one for each thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrillianJudge {
    /// By what any verifier of the workload was told.
    roots: Arc<LogHeads>,
}

/// A root, read.
#[derive(Clone, Copy, Debug)]
struct LogRoot {
    size: u64,
    root: Hash,
    timestamp_ns: u64,
}

impl TrillianJudge {
    pub(crate) fn verifier(&self) -> Box<dyn Verifier> {
        Box::new(self.clone())
    }

    fn judge(&self, check: Check, parts: &[Part<'_>]) -> Result<(), Fault> {
        match (check, parts) {
            (Check::Queued, [value, answer]) => queued(value.bytes, answer.bytes),
            (Check::Root, [older, answer]) => self.latest_root(older.bytes, answer.bytes),
            (Check::Proof, [root, leaf, answer]) => {
                let answer = read::<GetInclusionProofResponse>(answer.bytes)?;
                let root = self.root_then_answered(root, answer.signed_log_root.as_ref())?;
                let Some(proof) = &answer.proof else {
                    return self.is_behind(answer.signed_log_root.as_ref(), root.size);
                };
                included(root, leaf.number, &hash(leaf.bytes)?, proof)
            }
            (Check::ProofByHash | Check::Found, [root, leaf, answer]) => {
                let answer = read::<GetInclusionProofByHashResponse>(answer.bytes)?;
                let root = self.root_then_answered(root, answer.signed_log_root.as_ref())?;
                let leaf = hash(leaf.bytes)?;
                if answer.proof.is_empty() {
                    return self.is_behind(answer.signed_log_root.as_ref(), root.size);
                }
                let mut proofs = answer.proof.iter();
                proofs.try_for_each(|proof| included(root, proof.leaf_index.cast_unsigned(), &leaf, proof))
            }
            (Check::Leaves, [root, answer, proofs @ ..]) => self.leaves(root, answer, proofs),
            (Check::Lost, [leaf]) => Err(Fault::new(
                LOST,
                format!("leaf {} was queued, and no tree has it in time", hash(leaf.bytes)?),
            )),
            (Check::UnreadableFound, [found]) => {
                Err(Fault::new(UNREADABLE_PROOF, String::from_utf8_lossy(found.bytes)))
            }
            _ => Err(unverified()),
        }
    }

    /// A root, which has to be the only one of its size.
    fn root(&self, raw: &[u8]) -> Result<LogRoot, Fault> {
        let read = LogRootV1::from_tls(raw).map_err(|why| malformed(format!("failed to {why}")))?;
        let root = Hash::from_slice(read.root_hash)
            .ok_or_else(|| malformed(format!("a root of {} bytes", read.root_hash.len())))?;
        let checked = self.roots.check("", read.tree_size, root);
        checked.map_err(|other| {
            let told = format!("the tree of {} leaves has the root {root}, and had {other}", read.tree_size);
            Fault::new(FORKED, told)
        })?;
        Ok(LogRoot { size: read.tree_size, root, timestamp_ns: read.timestamp_nanos })
    }

    /// What stands beside an answer is a root as any other, which is promised nowhere else.
    fn answered_root(&self, root: Option<&SignedLogRoot>) -> Result<(), Fault> {
        root.map_or(Ok(()), |root| self.root(&root.log_root).map(drop))
    }

    /// The root that an answer is held against, once what stands beside that answer is known to be a root as well. Of two of one size, the one
    /// that was served first is taken for the tree's, also where nobody has judged it by itself yet.
    fn root_then_answered(
        &self,
        root: &Part<'_>,
        answered: Option<&SignedLogRoot>,
    ) -> Result<LogRoot, Fault> {
        let root = self.root(root.bytes);
        self.answered_root(answered)?;
        known_head(root)
    }

    /// A server whose newest tree is smaller than the one that was asked about has no proof in it: one of several may be behind.
    fn is_behind(&self, newest: Option<&SignedLogRoot>, size: u64) -> Result<(), Fault> {
        let newest = newest.ok_or_else(|| malformed("there is neither a proof nor a root"))?;
        match self.root(&newest.log_root)?.size {
            behind if behind < size => Err(unverified()),
            there => {
                let told =
                    format!("there is no proof in the tree of {size} leaves, and the newest has {there}");
                Err(Fault::new(NO_PROOF, told))
            }
        }
    }

    /// The tree has the older one as its prefix. A smaller tree is no fault where it was made before: one of several servers may be
    /// behind.
    fn latest_root(&self, older: &[u8], answer: &[u8]) -> Result<(), Fault> {
        let answer = read::<GetLatestSignedLogRootResponse>(answer)?;
        let newer = answer.signed_log_root.ok_or_else(|| malformed("there is no root"))?;
        // Of two of one size, the one that was served first is taken for the tree's.
        let older = (!older.is_empty()).then(|| self.root(older));
        let newer = self.root(&newer.log_root)?;
        let Some(older) = older.map(known_head).transpose()? else { return Ok(()) };
        if newer.size < older.size {
            if newer.timestamp_ns <= older.timestamp_ns {
                return Ok(());
            }
            let told = format!("{} leaves, made later than {}", newer.size, older.size);
            return Err(Fault::new(SHRANK, told));
        }
        if newer.size == older.size {
            // One size has one root.
            return Ok(());
        }
        let proof = answer.proof.ok_or_else(|| Fault::new(NO_PROOF, "there is no consistency proof"))?;
        verify_consistency(older.size, newer.size, &older.root, &newer.root, &hashes(&proof)?).map_err(
            |why| {
                let told = |root: &LogRoot| format!("the tree of size {} and root {}", root.size, root.root);
                Fault::new(CONSISTENCY, format!("{}, then {}: {why}", told(&older), told(&newer)))
            },
        )
    }

    /// Leaves are at their places, have their hashes, and lead to the root by the audit paths of the first and the last of them.
    fn leaves(&self, root: &Part<'_>, answer: &Part<'_>, proofs: &[Part<'_>]) -> Result<(), Fault> {
        let start = answer.number;
        let read_leaves = read::<GetLeavesByRangeResponse>(answer.bytes)?;
        let root = self.root_then_answered(root, read_leaves.signed_log_root.as_ref())?;
        let mut found = Vec::with_capacity(read_leaves.leaves.len());
        for (index, leaf) in (start..).zip(&read_leaves.leaves) {
            let own = leaf_hash(&leaf.leaf_value);
            if leaf.leaf_index.cast_unsigned() != index {
                let told = format!("the leaf of index {index} says that it is at {}", leaf.leaf_index);
                return Err(Fault::at("wrong-leaf-index", index, told));
            }
            if leaf.merkle_leaf_hash != own.0 {
                let told = format!("the leaf of index {index} has the hash {own}, and another beside it");
                return Err(Fault::at(ALTERED_LEAF, index, told));
            }
            found.push(own);
        }
        let mut paths = Vec::new();
        for part in proofs {
            let answer = read::<GetInclusionProofResponse>(part.bytes)?;
            self.answered_root(answer.signed_log_root.as_ref())?;
            let Some(proof) = &answer.proof else {
                return self.is_behind(answer.signed_log_root.as_ref(), root.size);
            };
            paths.push((part.number, hashes(proof)?));
        }
        let by_path: Vec<(u64, &[Hash])> =
            paths.iter().map(|(index, path)| (*index, path.as_slice())).collect();
        verify_range(start, &found, root.size, &by_path, &root.root).map_err(|why| {
            let (size, root) = (root.size, root.root);
            let told = format!(
                "{} leaves from {start} on do not lead to the root {root} of size {size}: {why}",
                found.len()
            );
            Fault::at(INCLUSION, start, told)
        })
    }
}

impl Verifier for TrillianJudge {
    fn check(&mut self, seq: u64, bytes: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        let read = read_parts(bytes).ok().and_then(|(check, parts)| Some((Check::of(check)?, parts)));
        // Records are this crate's own.
        let Some((check, parts)) = read else {
            return verdicts.unchecked(TrillianPromise::Leaf.into());
        };
        let kind = check.promise().into();
        match self.judge(check, &parts) {
            Ok(()) => verdicts.kept(kind),
            Err(Fault { kind: UNVERIFIED, detail, .. }) => verdicts.unverified(kind, &detail),
            Err(fault) => verdicts.broken(kind, seq, fault, Some(bytes)),
        }
    }
}

/// The leaf is the one that was sent; one that was there before is answered with as well.
fn queued(value: &[u8], answer: &[u8]) -> Result<(), Fault> {
    let queued = read::<QueueLeafResponse>(answer)?.queued_leaf;
    let queued = queued.ok_or_else(|| malformed("there is no queued leaf"))?;
    let code = queued.status.map_or(0, |status| status.code);
    if ![OK, ALREADY_EXISTS].contains(&code) {
        return Err(malformed(format!("the queued leaf has the status {code}")));
    }
    let leaf = queued.leaf.ok_or_else(|| malformed("there is no queued leaf"))?;
    if leaf.leaf_value != value {
        return Err(Fault::new("another-leaf", "the queued leaf is not the one that was sent"));
    }
    let own = leaf_hash(value);
    if leaf.merkle_leaf_hash != own.0 {
        return Err(Fault::new(
            "another-leaf",
            format!("the queued leaf has the hash {own}, and another beside it"),
        ));
    }
    Ok(())
}

fn included(root: LogRoot, index: u64, leaf: &Hash, proof: &Proof) -> Result<(), Fault> {
    if proof.leaf_index.cast_unsigned() != index {
        let told = format!("the proof is of index {}, and {index} was asked for", proof.leaf_index);
        return Err(Fault::at(INCLUSION, index, told));
    }
    verify_inclusion(index, root.size, leaf, &hashes(proof)?, &root.root).map_err(|why| {
        let told = format!("leaf {leaf} in the tree of size {} and root {}: {why}", root.size, root.root);
        Fault::at(INCLUSION, index, told)
    })
}

fn hashes(proof: &Proof) -> Result<Vec<Hash>, Fault> {
    let hashes: Option<Vec<Hash>> = proof.hashes.iter().map(|hash| Hash::from_slice(hash)).collect();
    hashes.ok_or_else(|| Fault::new(UNREADABLE_PROOF, "a hash of the proof does not have 32 bytes"))
}

fn hash(bytes: &[u8]) -> Result<Hash, Fault> {
    Hash::from_slice(bytes).ok_or_else(unverified)
}

fn read<M: Message + Default>(bytes: &[u8]) -> Result<M, Fault> {
    M::decode(bytes).map_err(|why| malformed(why.to_string()))
}

fn malformed(detail: impl Into<String>) -> Fault {
    Fault::new("malformed-answer", detail)
}

const FORKED: &str = "forked-log-root";
const SHRANK: &str = "shrinking-tree";
const CONSISTENCY: &str = "consistency-proof";
const INCLUSION: &str = "inclusion-proof";
/// What was asked for is within the tree, and there is no proof of it.
const NO_PROOF: &str = "missing-proof";
const LOST: &str = "lost-leaf";
/// Codes of gRPC (doc/statuscodes.md).
const OK: i32 = 0;
const ALREADY_EXISTS: i32 = 6;

#[cfg(test)]
mod tests;
