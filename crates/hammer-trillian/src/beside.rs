//! What is called beside operations, so that their promises can be checked.

use std::sync::Arc;

use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_measure::Nanos;
use hammer_messages::trillian::{
    GetInclusionProofByHashResponse, GetInclusionProofRequest, GetLatestSignedLogRootRequest,
    GetLatestSignedLogRootResponse,
};
use hammer_net::grpc::GrpcStatus;
use hammer_read::{Part, ends};
use hammer_tlog::hash::Hash;
use prost::Message;

use crate::check::Check;
use crate::session::{Method, SeenRoot, TrillianSession};
use crate::workload::{TrillianOp, TrillianWorkload};

/// What an operation was answered, and still has to be held against the tree.
#[derive(Debug)]
pub(crate) enum OwedCheck {
    /// A leaf that was queued, and when that was answered.
    LookUp { leaf: Hash, answered: Nanos },
    /// Leaves that were read: the root that they are to lead to, the first one's index, how many there are, and one of them.
    Leaves { root: Arc<SeenRoot>, start: u64, count: u64, known: Option<(u64, Hash)> },
}

/// What became of a look for a queued leaf.
enum Look {
    Found,
    NotThere,
    Refused,
}

/// Leaves the rest to the check, once the operation's own end is fixed.
pub(crate) fn owe(owed: OwedCheck, op: &mut TrillianOp, record: &OperationRecord) {
    let check = match owed {
        OwedCheck::LookUp { .. } => Check::Found,
        OwedCheck::Leaves { .. } => Check::Leaves,
    };
    op.owed = Some(owed);
    record.check_beside(check.promise().into());
}

impl TrillianWorkload {
    /// Calls what the answer is held against, and promises.
    pub(crate) async fn check_owed(
        &self,
        session: &TrillianSession,
        owed: OwedCheck,
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) {
        match owed {
            OwedCheck::LookUp { leaf, answered } => self.look_up(session, (leaf, answered), op, record).await,
            OwedCheck::Leaves { root, start, count, known } => {
                let leaves = (start, count);
                let is_proven = self.prove_leaves(session, &root, leaves, op, record).await;
                if let Some((index, leaf)) = known.filter(|_| is_proven) {
                    session.saw_leaf(index, leaf, op.draw);
                }
            }
        }
    }

    /// Looks for a leaf until a tree has it, or should have had it.
    async fn look_up(
        &self,
        session: &TrillianSession,
        (leaf, answered): (Hash, Nanos),
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) {
        let due = answered.saturating_add(self.integration_delay);
        let mut pause = FIRST_LOOK;
        loop {
            session.clock.sleep_until(session.clock.now().saturating_add(pause)).await;
            pause = Nanos((pause.0 * 2).min(LONGEST_PAUSE.0));
            let asked = session.clock.now();
            match self.look(session, (leaf, asked >= due), op, record).await {
                Look::Found => return,
                Look::NotThere if asked >= due => {
                    return session.promise(record, Check::Lost, [Part::bytes(&leaf.0)]);
                }
                Look::Refused if asked >= due => return session.promise(record, Check::UnverifiedFound, []),
                Look::NotThere | Look::Refused => {}
            }
        }
    }

    /// Looks once, in the newest tree: in one that is asked for now where the last look `is_last`, else in one that another look may have
    /// asked for a moment ago.
    async fn look(
        &self,
        session: &TrillianSession,
        (leaf, is_last): (Hash, bool),
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> Look {
        let series = self.beside_series().1;
        let now = session.clock.now();
        let is_new = now.since(session.root_asked_at.get()) < SHARED_FOR;
        if is_last || !is_new || session.newest().is_none() {
            session.root_asked_at.set(now);
            let request = GetLatestSignedLogRootRequest { log_id: self.tree_id, first_tree_size: 0 };
            let called =
                session.call_beside(Method::LatestRoot, &request, &mut op.beside, (record, series)).await;
            if called.is_err() {
                return Look::Refused;
            }
            let body = op.beside.body.as_slice();
            // Whatever the session holds against it later, it is accused here if it is not the log's.
            session.promise(record, Check::Root, [Part::bytes(&[]), Part::bytes(body)]);
            let read = GetLatestSignedLogRootResponse::decode(body);
            session.saw(read.ok().and_then(|read| read.signed_log_root).as_ref());
        }
        let Some(root) = session.newest() else { return Look::NotThere };
        let request = self.by_hash(&leaf, root.size);
        let called =
            session.call_beside(Method::ProofByHash, &request, &mut op.beside, (record, series)).await;
        match called {
            Ok(()) => {}
            Err(ended) if ended == no_such_leaf() => return Look::NotThere,
            Err(_) => return Look::Refused,
        }
        let body = op.beside.body.as_slice();
        match GetInclusionProofByHashResponse::decode(body) {
            // A server that is behind the one that said the root says nothing of the leaf.
            Ok(read) if read.proof.is_empty() => return Look::Refused,
            Ok(read) => {
                let index = read.proof.first().map_or(0, |proof| proof.leaf_index.cast_unsigned());
                session.saw_leaf(index, leaf, op.draw);
                let parts = [Part::bytes(&root.raw), Part::bytes(&leaf.0), Part::bytes(body)];
                session.promise(record, Check::Found, parts);
            }
            Err(why) => {
                let told = why.to_string();
                session.promise(record, Check::UnreadableFound, [Part::bytes(told.as_bytes())]);
            }
        }
        Look::Found
    }

    /// Asks for the audit paths that lead leaves up to the root; says whether there are.
    async fn prove_leaves(
        &self,
        session: &TrillianSession,
        root: &SeenRoot,
        (start, count): (u64, u64),
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> bool {
        let series = self.beside_series().0;
        let mut proofs = Vec::new();
        for index in ends(start, count, root.size) {
            let request = GetInclusionProofRequest {
                log_id: self.tree_id,
                leaf_index: index.cast_signed(),
                tree_size: root.size.cast_signed(),
            };
            let called = session.call_beside(Method::Proof, &request, &mut op.beside, (record, series)).await;
            if called.is_err() {
                session.promise(record, Check::UnverifiedLeaves, []);
                return false;
            }
            proofs.push((index, op.beside.body.clone()));
        }
        let parts = [Part::bytes(&root.raw), Part::numbered(start, &op.answer.body)];
        let proofs = proofs.iter().map(|(index, proof)| Part::numbered(*index, proof));
        session.promise(record, Check::Leaves, parts.into_iter().chain(proofs));
        true
    }
}

/// What a log says of a leaf that is in no tree yet.
fn no_such_leaf() -> Ended {
    Ended::failed(GrpcStatus::NotFound.outcome(), GrpcStatus::NotFound.name())
}

/// A signer runs ten times a second by default.
const FIRST_LOOK: Nanos = Nanos(100_000_000);
const LONGEST_PAUSE: Nanos = Nanos(1_000_000_000);
/// A root that was asked for so shortly before is another look's too.
const SHARED_FOR: Nanos = Nanos(50_000_000);
