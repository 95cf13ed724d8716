//! Which call is which endpoint, and who answers it.

use std::sync::Arc;

use bytes::Bytes;
use hammer_lab::serve::{
    Target,
    answer::AnswerBody,
    grpc::{self, GrpcCode, GrpcRefusal},
};
use hammer_messages::trillian::{
    GET_CONSISTENCY_PROOF, GET_INCLUSION_PROOF, GET_INCLUSION_PROOF_BY_HASH, GET_LATEST_SIGNED_LOG_ROOT,
    GET_LEAVES_BY_RANGE, QUEUE_LEAF,
};
use http::{Method, Response, request::Parts};
use prost::Message;
use tokio::sync::watch;

use super::{log::TrillianLog, plan::TrillianLieKind};
use crate::rekor::lie::ToldRekorLie;

/// A log behind its server.
#[derive(Debug)]
pub struct TrillianTarget {
    pub(super) log: TrillianLog,
}

impl TrillianTarget {
    /// The lies that the log told, in order; up to 10,000 are listed, and the count of those beyond is given. One about a leaf is listed
    /// once, however often it is told.
    #[must_use]
    pub fn told_lies(&self) -> (Vec<ToldRekorLie<TrillianLieKind>>, u64) {
        self.log.lies.told()
    }

    fn answered(&self, path: &str, body: &Bytes) -> Result<Vec<u8>, GrpcRefusal> {
        let log = &self.log;
        Ok(match path {
            QUEUE_LEAF => log.queue_leaf(read(body)?)?.encode_to_vec(),
            GET_LATEST_SIGNED_LOG_ROOT => log.latest_root(read(body)?)?.encode_to_vec(),
            GET_CONSISTENCY_PROOF => log.consistency_proof(read(body)?)?.encode_to_vec(),
            GET_INCLUSION_PROOF => log.inclusion_proof(read(body)?)?.encode_to_vec(),
            GET_INCLUSION_PROOF_BY_HASH => log.inclusion_proof_by_hash(&read(body)?)?.encode_to_vec(),
            GET_LEAVES_BY_RANGE => log.leaves_by_range(read(body)?)?.encode_to_vec(),
            path => {
                let method = path.trim_start_matches('/');
                return Err(GrpcRefusal::new(GrpcCode::Unimplemented, format!("unknown method {method}")));
            }
        })
    }
}

fn read<M: Message + Default>(body: &Bytes) -> Result<M, GrpcRefusal> {
    M::decode(grpc::message(body)?).map_err(|error| {
        GrpcRefusal::new(GrpcCode::Internal, format!("grpc: error unmarshalling request: {error}"))
    })
}

impl Target for TrillianTarget {
    const ENDPOINTS: &'static [&'static str] = &[
        "queue-leaf",
        "get-latest-signed-log-root",
        "get-consistency-proof",
        "get-inclusion-proof",
        "get-inclusion-proof-by-hash",
        "get-leaves-by-range",
        "other",
    ];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        match path {
            QUEUE_LEAF => "queue-leaf",
            GET_LATEST_SIGNED_LOG_ROOT => "get-latest-signed-log-root",
            GET_CONSISTENCY_PROOF => "get-consistency-proof",
            GET_INCLUSION_PROOF => "get-inclusion-proof",
            GET_INCLUSION_PROOF_BY_HASH => "get-inclusion-proof-by-hash",
            GET_LEAVES_BY_RANGE => "get-leaves-by-range",
            _ => "other",
        }
    }

    async fn answer(self: Arc<Self>, _: &'static str, parts: Parts, body: Bytes) -> Response<AnswerBody> {
        let answered = self.answered(parts.uri.path(), &body);
        answered.map_or_else(Response::from, |message| grpc::ok(&message))
    }

    async fn work(self: Arc<Self>, stopped: watch::Receiver<bool>) {
        self.log.sequence(stopped).await;
    }
}
