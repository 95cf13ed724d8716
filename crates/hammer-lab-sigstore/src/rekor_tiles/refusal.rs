//! What is not answered as asked, in gRPC's terms, which REST is a skin of.

use hammer_lab::serve::grpc::{GrpcCode, GrpcRefusal};
use http::StatusCode;

/// An answer that is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TilesRefusal {
    pub(crate) grpc: GrpcRefusal,
    /// The index of the entry that is there already.
    pub(crate) log_index: Option<u64>,
    /// The log takes nothing any more: REST says so in its own words.
    pub(crate) frozen: bool,
}

impl TilesRefusal {
    pub(crate) fn of(code: GrpcCode, message: impl Into<String>) -> Self {
        Self { grpc: GrpcRefusal::new(code, message), log_index: None, frozen: false }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::of(GrpcCode::InvalidArgument, message)
    }

    pub(crate) fn pushback() -> Self {
        Self::of(GrpcCode::Unavailable, "reached max pushback; retry")
    }

    pub(crate) fn timeout() -> Self {
        Self::of(GrpcCode::DeadlineExceeded, "context deadline exceeded")
    }

    pub(crate) fn frozen() -> Self {
        Self { frozen: true, ..Self::of(GrpcCode::Unimplemented, "log frozen") }
    }

    pub(crate) fn duplicate(log_index: u64) -> Self {
        let message =
            format!("an equivalent entry already exists in the transparency log with index {log_index}");
        Self { log_index: Some(log_index), ..Self::of(GrpcCode::AlreadyExists, message) }
    }

    /// The status that a gateway makes of the code.
    pub(crate) const fn status(&self) -> StatusCode {
        match self.grpc.code {
            _ if self.frozen => StatusCode::METHOD_NOT_ALLOWED,
            GrpcCode::InvalidArgument => StatusCode::BAD_REQUEST,
            GrpcCode::AlreadyExists => StatusCode::CONFLICT,
            GrpcCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            GrpcCode::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
            GrpcCode::Unimplemented => StatusCode::NOT_IMPLEMENTED,
            GrpcCode::NotFound => StatusCode::NOT_FOUND,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}
