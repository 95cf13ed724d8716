//! Why a workload on Trillian cannot be set up.

/// A fragment that completes "failed to ...".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrillianError {
    /// There is no URL.
    #[error("find the log server: `url` is not given")]
    NoUrl,
    /// A workload that does nothing.
    #[error(
        "draw a call: `mix` names nothing with a weight; give it queue-leaf, get-latest-signed-log-root, get-inclusion-proof, get-inclusion-proof-by-hash or get-leaves-by-range"
    )]
    NothingToCall,
    /// A call by a client of HTTP/1.1 alone.
    #[error("call gRPC over HTTP/1.1: it needs HTTP/2")]
    GrpcOverHttp1,
}

impl TrillianError {
    /// The key at fault, below the block of the target; none where it is of the workload.
    pub const fn key(&self) -> Option<&'static str> {
        match self {
            Self::NoUrl => Some("url"),
            Self::NothingToCall | Self::GrpcOverHttp1 => None,
        }
    }
}
