//! What the messages of many services are made of (`google/protobuf/timestamp.proto`, `google/rpc/status.proto`).

use prost::Message;

/// A moment (google.protobuf.Timestamp).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct Timestamp {
    /// Seconds since the Unix epoch.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// Nanoseconds from there on, from 0 to 999,999,999.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

/// What became of a part of a call (google.rpc.Status); the details are left out.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Status {
    /// A code of gRPC (doc/statuscodes.md); 0 is success.
    #[prost(int32, tag = "1")]
    pub code: i32,
    /// A text for people.
    #[prost(string, tag = "2")]
    pub message: String,
}
