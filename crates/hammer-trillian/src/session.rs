use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use bytes::BytesMut;
use hammer_core::record::{OperationRecord, StepGuard};
use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, FatalError, ShardContext};
use hammer_exchange::{SentSecrets, ServiceClient, ServiceConfig};
use hammer_measure::{Nanos, Outcome};
use hammer_messages::trillian::{
    GET_INCLUSION_PROOF, GET_INCLUSION_PROOF_BY_HASH, GET_LATEST_SIGNED_LOG_ROOT, GET_LEAVES_BY_RANGE,
    QUEUE_LEAF, SignedLogRoot,
};
use hammer_net::grpc::{GrpcStatus, encode, unary_reply, unary_request};
use hammer_net::{Answer, Request};
use hammer_read::{Part, write_parts};
use hammer_tlog::hash::Hash;
use prost::Message;

use crate::check::Check;

/// A shard's clients, and what it has seen of the tree.
pub struct TrillianSession {
    own: ServiceClient,
    /// The connections of what is called beside operations.
    beside: ServiceClient,
    methods: Methods,
    pub(crate) clock: Rc<dyn Clock>,
    /// Roots of different sizes, the largest last; none is of an empty tree.
    roots: RefCell<VecDeque<Arc<SeenRoot>>>,
    /// When the newest root was last asked for beside operations.
    pub(crate) root_asked_at: Cell<Nanos>,
    /// Leaves whose places are known.
    leaves: RefCell<Vec<(u64, Hash)>>,
    buffer: RefCell<BytesMut>,
    record: RefCell<Vec<u8>>,
}

/// A root that the session saw, as it was served.
#[derive(Debug)]
pub(crate) struct SeenRoot {
    pub(crate) raw: Vec<u8>,
    pub(crate) size: u64,
}

/// Requests without their messages.
struct Methods {
    queue_leaf: Request,
    latest_root: Request,
    proof: Request,
    proof_by_hash: Request,
    leaves: Request,
}

/// A method.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Method {
    QueueLeaf,
    LatestRoot,
    Proof,
    ProofByHash,
    Leaves,
}

impl TrillianSession {
    pub(crate) async fn open(service: &ServiceConfig, context: &ShardContext) -> Result<Self, FatalError> {
        let own = service.open(context).await?;
        let beside = service.beside(BESIDE.min(service.client.connections)).open(context).await?;
        let request = |path: &str| -> Result<Request, FatalError> { Ok(unary_request(own.path(path)?, "")) };
        let methods = Methods {
            queue_leaf: request(QUEUE_LEAF)?,
            latest_root: request(GET_LATEST_SIGNED_LOG_ROOT)?,
            proof: request(GET_INCLUSION_PROOF)?,
            proof_by_hash: request(GET_INCLUSION_PROOF_BY_HASH)?,
            leaves: request(GET_LEAVES_BY_RANGE)?,
        };
        let (roots, root_asked_at, leaves, buffer, record) = Default::default();
        let clock = context.clock.clone();
        Ok(Self { own, beside, methods, clock, roots, root_asked_at, leaves, buffer, record })
    }

    /// One call of the operation; leaves the message alone in the body of `answer`.
    pub(crate) async fn call(
        &self,
        method: Method,
        message: &impl Message,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        self.send(&self.own, method, message, answer, record.exchange()).await
    }

    /// One call beside the operation, in the series `series`.
    pub(crate) async fn call_beside(
        &self,
        method: Method,
        message: &impl Message,
        answer: &mut Answer,
        (record, series): (&OperationRecord, usize),
    ) -> Result<(), Ended> {
        self.send(&self.beside, method, message, answer, record.step(series)).await
    }

    async fn send(
        &self,
        client: &ServiceClient,
        method: Method,
        message: &impl Message,
        answer: &mut Answer,
        mut step: StepGuard<'_>,
    ) -> Result<(), Ended> {
        let Methods { queue_leaf, latest_root, proof, proof_by_hash, leaves } = &self.methods;
        let mut request = match method {
            Method::QueueLeaf => queue_leaf,
            Method::LatestRoot => latest_root,
            Method::Proof => proof,
            Method::ProofByHash => proof_by_hash,
            Method::Leaves => leaves,
        }
        .clone();
        let encoded = encode(message, &mut self.buffer.borrow_mut());
        request.body = encoded.map_err(|fault| Ended::failed(Outcome::Malformed, fault.name()))?.into();
        client.send_judged(&mut step, (&request, SentSecrets::default()), |_| true, answer).await?;
        replied(&mut step, answer, (client, &request))
    }

    /// The largest root that was seen; none before there was a leaf in the tree.
    pub(crate) fn newest(&self) -> Option<Arc<SeenRoot>> {
        self.roots.borrow().back().cloned()
    }

    /// A root that was seen before, of any size.
    pub(crate) fn older(&self, draw: u64) -> Option<Arc<SeenRoot>> {
        let roots = self.roots.borrow();
        roots.get((draw % (roots.len() as u64).max(1)) as usize).cloned()
    }

    /// Keeps a root that was served; says the size of its tree.
    pub(crate) fn saw(&self, root: Option<&SignedLogRoot>) -> Option<u64> {
        let root = root?;
        let size = root.read().ok()?.tree_size;
        let mut roots = self.roots.borrow_mut();
        // One of several servers may be behind the others.
        if size > roots.back().map_or(0, |newest| newest.size) {
            if roots.len() == MOST_ROOTS {
                roots.pop_front();
            }
            roots.push_back(Arc::new(SeenRoot { raw: root.log_root.clone(), size }));
        }
        Some(size)
    }

    /// Keeps the place of a leaf, in the place of one that `draw` says where there is no more room.
    pub(crate) fn saw_leaf(&self, index: u64, leaf: Hash, draw: u64) {
        let mut leaves = self.leaves.borrow_mut();
        if leaves.contains(&(index, leaf)) {
            return;
        }
        match leaves.len() {
            MOST_LEAVES => leaves[(draw % MOST_LEAVES as u64) as usize] = (index, leaf),
            _ => leaves.push((index, leaf)),
        }
    }

    /// A leaf whose place is known and below `size`.
    pub(crate) fn any_leaf(&self, draw: u64, size: u64) -> Option<(u64, Hash)> {
        let leaves = self.leaves.borrow();
        let first = (draw % (leaves.len() as u64).max(1)) as usize;
        let (before, from) = leaves.split_at(first.min(leaves.len()));
        from.iter().chain(before).find(|(index, _)| *index < size).copied()
    }

    pub(crate) fn promise<'a>(
        &self,
        record: &OperationRecord,
        check: Check,
        parts: impl IntoIterator<Item = Part<'a>>,
    ) {
        let mut bytes = self.record.borrow_mut();
        write_parts(&mut bytes, check as u8, parts);
        record.promise(check.promise().into(), &bytes);
        bytes.shrink_to(KEPT_RECORD);
    }
}

/// Leaves the message alone in the body of an answer to a call.
fn replied(
    step: &mut StepGuard<'_>,
    answer: &mut Answer,
    (client, request): (&ServiceClient, &Request),
) -> Result<(), Ended> {
    let ended = match unary_reply(answer) {
        Ok(reply) if reply.status == GrpcStatus::Ok => {
            let message = reply.message.len();
            answer.body.drain(..answer.body.len() - message);
            return Ok(());
        }
        Ok(reply) => {
            let is_without_tree = reply.status == GrpcStatus::NotFound && is_of_tree(&reply.text());
            let cause = if is_without_tree { NO_TREE } else { reply.status.name() };
            let ended = Ended::failed(reply.status.outcome(), cause);
            client.tell_said(step, ended, (request, SentSecrets::default()), || reply.said());
            ended
        }
        Err(fault) => Ended::failed(Outcome::Malformed, fault.name()),
    };
    step.ends(ended);
    Err(ended)
}

/// `tree 42 not found`.
fn is_of_tree(text: &str) -> bool {
    let id = text.strip_prefix("tree ").and_then(|rest| rest.split_once(' '));
    id.is_some_and(|(id, rest)| id.parse::<i64>().is_ok() && rest.starts_with("not found"))
}

/// How a call ends whose tree the log server does not have.
pub(crate) const NO_TREE: &str = "no tree of this tree_id";
const MOST_ROOTS: usize = 16;
const MOST_LEAVES: usize = 512;
/// Connections over the whole run for what is called beside operations, which must not wait for theirs.
const BESIDE: usize = 16;
/// A record of many large leaves must not be held in memory for the rest of the run.
const KEPT_RECORD: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_is_not_there_is_told_from_a_leaf_that_is_not() {
        assert!(is_of_tree("tree 42 not found"));
        assert!(is_of_tree("tree -1 not found: no rows"));
        assert!(!is_of_tree("No leaves for hash: 00"));
        assert!(!is_of_tree("tree house not found"));
        assert!(!is_of_tree(""));
    }
}
