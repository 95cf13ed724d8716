//! The calls of an operation itself.

use std::sync::Arc;

use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_messages::trillian::{
    GetInclusionProofByHashRequest, GetInclusionProofRequest, GetLatestSignedLogRootRequest,
    GetLatestSignedLogRootResponse, GetLeavesByRangeRequest, GetLeavesByRangeResponse, LogLeaf,
    QueueLeafRequest,
};
use hammer_read::{Part, malformed};
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::merkle::leaf_hash;
use prost::Message;

use crate::beside::{OwedCheck, owe};
use crate::check::Check;
use crate::session::{Method, SeenRoot, TrillianSession};
use crate::workload::{TrillianOp, TrillianWorkload};

impl TrillianWorkload {
    /// Queues a leaf.
    pub(crate) async fn queue_leaf(
        &self,
        session: &TrillianSession,
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        record.is_of("leaf", || op.seq);
        let leaf_value = std::mem::take(&mut op.leaf);
        let leaf = LogLeaf { leaf_value, ..LogLeaf::default() };
        let request = QueueLeafRequest { log_id: self.tree_id, leaf: Some(leaf) };
        let called = session.call(Method::QueueLeaf, &request, &mut op.answer, record).await;
        op.leaf = request.leaf.map(|leaf| leaf.leaf_value).unwrap_or_default();
        called?;
        session.promise(record, Check::Queued, [Part::bytes(&op.leaf), Part::bytes(&op.answer.body)]);
        if op.is_looked_up {
            owe(OwedCheck::LookUp { leaf: op.leaf_hash, answered: session.clock.now() }, op, record);
        }
        Ok(())
    }

    /// Asks for the newest root, with the proof from one that was seen; the size of its tree.
    pub(crate) async fn latest_root(
        &self,
        session: &TrillianSession,
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> Result<u64, Ended> {
        let older = session.older(op.draw);
        let first = older.as_ref().map_or(0, |root| root.size);
        let request =
            GetLatestSignedLogRootRequest { log_id: self.tree_id, first_tree_size: first.cast_signed() };
        session.call(Method::LatestRoot, &request, &mut op.answer, record).await?;
        let body = op.answer.body.as_slice();
        let raw = older.as_ref().map_or(&[][..], |root| &root.raw);
        session.promise(record, Check::Root, [Part::bytes(raw), Part::bytes(body)]);
        let read = GetLatestSignedLogRootResponse::decode(body);
        let read = read.map_err(|_| malformed("answer that cannot be read"))?;
        session.saw(read.signed_log_root.as_ref()).ok_or(malformed("answer without a root"))
    }

    /// Asks for the audit path of a leaf by its place.
    pub(crate) async fn proof(
        &self,
        session: &TrillianSession,
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let Some(((index, leaf), root)) = self.any_leaf(session, op, record).await? else { return Ok(()) };
        record.is_of("entry", || index);
        let request = GetInclusionProofRequest {
            log_id: self.tree_id,
            leaf_index: index.cast_signed(),
            tree_size: root.size.cast_signed(),
        };
        session.call(Method::Proof, &request, &mut op.answer, record).await?;
        let parts = [Part::bytes(&root.raw), Part::numbered(index, &leaf.0), Part::bytes(&op.answer.body)];
        session.promise(record, Check::Proof, parts);
        Ok(())
    }

    /// Asks for the audit path of a leaf by its hash.
    pub(crate) async fn proof_by_hash(
        &self,
        session: &TrillianSession,
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let Some(((index, leaf), root)) = self.any_leaf(session, op, record).await? else { return Ok(()) };
        record.is_of("entry", || index);
        let request = self.by_hash(&leaf, root.size);
        session.call(Method::ProofByHash, &request, &mut op.answer, record).await?;
        let parts = [Part::bytes(&root.raw), Part::bytes(&leaf.0), Part::bytes(&op.answer.body)];
        session.promise(record, Check::ProofByHash, parts);
        Ok(())
    }

    pub(crate) fn by_hash(&self, leaf: &Hash, size: u64) -> GetInclusionProofByHashRequest {
        GetInclusionProofByHashRequest {
            log_id: self.tree_id,
            leaf_hash: leaf.0.to_vec(),
            tree_size: size.cast_signed(),
            order_by_sequence: true,
        }
    }

    /// Asks for leaves by their places.
    pub(crate) async fn leaves(
        &self,
        session: &TrillianSession,
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let Some(root) = self.root(session, op, record).await? else { return Ok(()) };
        let start = op.draw % root.size / self.leaves * self.leaves;
        record.is_of("entry", || start);
        let asked = self.leaves.min(root.size - start);
        let (count, known) = self.range(session, (start, asked), op, record).await?;
        owe(OwedCheck::Leaves { root, start, count, known }, op, record);
        Ok(())
    }

    /// Asks for so many leaves from a place on; says how many came, and one of them with its place, unless that does not have the hash
    /// beside it: calls for what no tree has would accuse it again and again.
    async fn range(
        &self,
        session: &TrillianSession,
        (start, asked): (u64, u64),
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> Result<(u64, Option<(u64, Hash)>), Ended> {
        let request = GetLeavesByRangeRequest {
            log_id: self.tree_id,
            start_index: start.cast_signed(),
            count: asked.cast_signed(),
        };
        session.call(Method::Leaves, &request, &mut op.answer, record).await?;
        let read = GetLeavesByRangeResponse::decode(op.answer.body.as_slice());
        let leaves = read.map_err(|_| malformed("answer that cannot be read"))?.leaves;
        let count = leaves.len() as u64;
        if !(1..=asked).contains(&count) {
            return Err(malformed("none or more leaves than asked for"));
        }
        let drawn = op.draw % count;
        let leaf = &leaves[drawn as usize];
        let known = Some(leaf_hash(&leaf.leaf_value)).filter(|own| leaf.merkle_leaf_hash == own.0);
        Ok((count, known.map(|hash| (start + drawn, hash))))
    }

    /// A leaf whose place is known, and the root of the largest tree that was seen, which has it; a leaf is read first where none is known.
    /// None in an empty tree.
    async fn any_leaf(
        &self,
        session: &TrillianSession,
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> Result<Option<((u64, Hash), Arc<SeenRoot>)>, Ended> {
        let Some(root) = self.root(session, op, record).await? else { return Ok(None) };
        let leaf = match session.any_leaf(op.draw, root.size) {
            Some(leaf) => leaf,
            // The proof that is asked for holds it to the root.
            None => {
                let (_, known) = self.range(session, (op.draw % root.size, 1), op, record).await?;
                known.ok_or(malformed("leaf with the hash of another"))?
            }
        };
        Ok(Some((leaf, root)))
    }

    /// The root of the largest tree that was seen, which is asked for where none was; none where that is empty.
    async fn root(
        &self,
        session: &TrillianSession,
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> Result<Option<Arc<SeenRoot>>, Ended> {
        if session.newest().is_none() {
            self.latest_root(session, op, record).await?;
        }
        Ok(session.newest())
    }
}
