//! Answers of get-entries, as they are read under load.

use std::borrow::Cow;
use std::sync::Arc;

use hammer_audit::AnswerBound;
use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_read::{Lack, Part, SeenHead, ends, malformed};
use hammer_tlog::ct::rfc6962::{GetProofByHash, GetSthConsistency};
use hammer_tlog::encoding::{Base64, from_base64};
use hammer_tlog::logs::merkle::{Hash, leaf_hash};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::ReadOp;
use super::owed::OwedAnswer;
use super::record::Check;
use super::session::ReadSession;
use crate::log::{GET_ENTRIES, GET_ENTRY_AND_PROOF, GET_PROOF_BY_HASH, GET_ROOTS, GET_STH_CONSISTENCY};

/// The answer of get-entries, as far as it must be understood here.
#[derive(Deserialize)]
struct LeafInputs<'a> {
    #[serde(borrow)]
    entries: Vec<LeafInput<'a>>,
}

#[derive(Deserialize)]
struct LeafInput<'a> {
    #[serde(borrow)]
    leaf_input: Cow<'a, str>,
    #[serde(rename = "extra_data")]
    _extra_data: IgnoredAny,
}

#[derive(Deserialize)]
struct EntryAndProof {
    leaf_input: Base64,
    #[serde(rename = "audit_path")]
    _audit_path: IgnoredAny,
}

#[derive(Deserialize)]
struct Certificates {
    #[serde(rename = "certificates")]
    _certificates: Vec<IgnoredAny>,
}

impl ReadSession {
    /// Reads entries.
    pub(super) async fn entries(
        &self,
        head: &Arc<SeenHead>,
        most: u64,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let start = op.place.first_leaf(most, head.size);
        record.is_of("entry", || start);
        let asked = most.min(head.size - start);
        let count = self.entries_at(start, asked, op, record).await?;
        self.owe(head, OwedAnswer::Entries(start, count), op, record);
        Ok(())
    }

    pub(super) async fn check_entries(
        &self,
        (start, count): (u64, u64),
        head: &SeenHead,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) {
        let mut proofs = Vec::new();
        for index in ends(start, count, head.size) {
            let path = entry_and_proof_path(index, head.size);
            if self.get_beside(&path, &mut op.beside, record).await.is_err() {
                return self.lack(record, head, Lack::Refused);
            }
            proofs.push((index, op.beside.body.clone()));
        }
        let parts = [Part::bytes(&head.raw), Part::numbered(start, &op.answer.body)];
        let proofs = proofs.iter().map(|(index, proof)| Part::numbered(*index, proof));
        self.promise(record, Check::Entries, parts.into_iter().chain(proofs));
    }

    /// Reads the proof of a leaf that was seen; where none was, an entry is read first.
    pub(super) async fn proof_by_hash(
        &self,
        head: &SeenHead,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        if self.leaves.borrow().any(0).is_none() {
            self.entries_at(op.place.draw % head.size, 1, op, record).await?;
        }
        let any = self.leaves.borrow().any(op.place.draw);
        let leaf = any.ok_or(malformed("entry that is not base64"))?;
        let hash = leaf.to_base64().replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        let path = format!("{GET_PROOF_BY_HASH}?hash={hash}&tree_size={}", head.size);
        self.get((&path, Some(AnswerBound::PROOF)), &mut op.answer, record).await?;
        self.proof::<GetProofByHash>(&path, &op.answer.body, record)?;
        let parts = [Part::bytes(&head.raw), Part::bytes(&leaf.0), Part::bytes(&op.answer.body)];
        self.promise(record, Check::ProofByHash, parts);
        Ok(())
    }

    /// Reads the proof between two tree heads that were seen.
    pub(super) async fn consistency(&self, op: &mut ReadOp, record: &OperationRecord) -> Result<(), Ended> {
        let heads = self.two_heads(op.place.draw);
        let (older, newer) = heads.ok_or(malformed("tree without a head"))?;
        let path = format!("{GET_STH_CONSISTENCY}?first={}&second={}", older.size, newer.size);
        self.get((&path, Some(AnswerBound::PROOF)), &mut op.answer, record).await?;
        self.proof::<GetSthConsistency>(&path, &op.answer.body, record)?;
        let parts = [Part::bytes(&older.raw), Part::bytes(&newer.raw), Part::bytes(&op.answer.body)];
        self.promise(record, Check::Consistency, parts);
        Ok(())
    }

    /// Reads an entry and its proof.
    pub(super) async fn entry_and_proof(
        &self,
        head: &SeenHead,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let index = op.place.first_leaf(1, head.size);
        record.is_of("entry", || index);
        let path = entry_and_proof_path(index, head.size);
        self.get((&path, Some(self.bound_of_entries(1))), &mut op.answer, record).await?;
        let entry: EntryAndProof = self.proof(&path, &op.answer.body, record)?;
        self.leaves.borrow_mut().add(leaf_hash(&entry.leaf_input.0), op.place.draw);
        let parts = [Part::bytes(&head.raw), Part::numbered(index, &op.answer.body)];
        self.promise(record, Check::EntryAndProof, parts);
        Ok(())
    }

    /// Reads the roots.
    pub(super) async fn roots(&self, op: &mut ReadOp, record: &OperationRecord) -> Result<(), Ended> {
        self.get((GET_ROOTS, None), &mut op.answer, record).await?;
        serde_json::from_slice::<Certificates>(&op.answer.body)
            .map_err(|_| malformed("answer is not roots"))?;
        self.promise(record, Check::Roots, [Part::bytes(&op.answer.body)]);
        Ok(())
    }

    /// The proof at a path; one that cannot be read breaks the promise to prove.
    fn proof<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &[u8],
        record: &OperationRecord,
    ) -> Result<T, Ended> {
        serde_json::from_slice(body).map_err(|why| {
            self.unreadable(record, &format!("{path}: {why}"));
            malformed("answer is not a proof")
        })
    }

    /// Reads entries as the operation's own, and remembers the leaf of one of them; says how many there are.
    async fn entries_at(
        &self,
        start: u64,
        asked: u64,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<u64, Ended> {
        let end = start + asked - 1;
        let path = format!("{GET_ENTRIES}?start={start}&end={end}");
        self.get((&path, Some(self.bound_of_entries(asked))), &mut op.answer, record).await?;
        let entries = serde_json::from_slice::<LeafInputs<'_>>(&op.answer.body);
        let entries = entries.map_err(|_| malformed("answer is not entries"))?.entries;
        let count = entries.len() as u64;
        if !(1..=asked).contains(&count) {
            return Err(malformed("none or more entries than asked for"));
        }
        let text = &entries[(op.place.draw % count) as usize].leaf_input;
        if let Some(leaf) = leaf_of(text) {
            self.leaves.borrow_mut().add(leaf, op.place.draw);
        }
        Ok(count)
    }
}

fn entry_and_proof_path(index: u64, size: u64) -> String {
    format!("{GET_ENTRY_AND_PROOF}?leaf_index={index}&tree_size={size}")
}

fn leaf_of(leaf_input: &str) -> Option<Hash> {
    Some(leaf_hash(&from_base64(leaf_input).ok()?))
}
