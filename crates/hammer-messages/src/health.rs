//! Whether a server is ready (`grpc/health/v1/health.proto`).

use prost::{Enumeration, Message};

/// Asks for a [`HealthCheckRequest`] and answers with a [`HealthCheckResponse`].
pub const CHECK: &str = "/grpc.health.v1.Health/Check";

/// Which service is asked for.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct HealthCheckRequest {
    /// The full name of a service; empty for the server as a whole.
    #[prost(string, tag = "1")]
    pub service: String,
}

/// How it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct HealthCheckResponse {
    /// Its state.
    #[prost(enumeration = "ServingStatus", tag = "1")]
    pub status: i32,
}

/// The state of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum ServingStatus {
    /// Nobody knows.
    Unknown = 0,
    /// It answers.
    Serving = 1,
    /// It does not answer.
    NotServing = 2,
    /// There is no such service; only `Watch` says so.
    ServiceUnknown = 3,
}
