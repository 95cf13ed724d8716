//! Trillian's log server (package trillian: `trillian.proto`, `trillian_log_api.proto`).

mod log;
mod proof;
mod root;

pub use log::{
    GetLeavesByRangeRequest, GetLeavesByRangeResponse, InitLogRequest, InitLogResponse, LogLeaf,
    QueueLeafRequest, QueueLeafResponse, QueuedLogLeaf,
};
pub use proof::{
    GetConsistencyProofRequest, GetConsistencyProofResponse, GetInclusionProofByHashRequest,
    GetInclusionProofByHashResponse, GetInclusionProofRequest, GetInclusionProofResponse,
    GetLatestSignedLogRootRequest, GetLatestSignedLogRootResponse, Proof, SignedLogRoot,
};
pub use root::{LogRootError, LogRootV1};

/// Asks for a [`QueueLeafRequest`] and answers with a [`QueueLeafResponse`].
pub const QUEUE_LEAF: &str = "/trillian.TrillianLog/QueueLeaf";
/// Asks for a [`GetInclusionProofRequest`] and answers with a [`GetInclusionProofResponse`].
pub const GET_INCLUSION_PROOF: &str = "/trillian.TrillianLog/GetInclusionProof";
/// Asks for a [`GetInclusionProofByHashRequest`] and answers with a [`GetInclusionProofByHashResponse`].
pub const GET_INCLUSION_PROOF_BY_HASH: &str = "/trillian.TrillianLog/GetInclusionProofByHash";
/// Asks for a [`GetConsistencyProofRequest`] and answers with a [`GetConsistencyProofResponse`].
pub const GET_CONSISTENCY_PROOF: &str = "/trillian.TrillianLog/GetConsistencyProof";
/// Asks for a [`GetLatestSignedLogRootRequest`] and answers with a [`GetLatestSignedLogRootResponse`].
pub const GET_LATEST_SIGNED_LOG_ROOT: &str = "/trillian.TrillianLog/GetLatestSignedLogRoot";
/// Asks for a [`GetLeavesByRangeRequest`] and answers with a [`GetLeavesByRangeResponse`].
pub const GET_LEAVES_BY_RANGE: &str = "/trillian.TrillianLog/GetLeavesByRange";
/// Asks for an [`InitLogRequest`] and answers with an [`InitLogResponse`].
pub const INIT_LOG: &str = "/trillian.TrillianLog/InitLog";
