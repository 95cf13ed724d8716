//! What is wrong with an answer that is no answer of gRPC.

/// What is wrong with an answer, or with a message that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrpcFault {
    /// An answer of HTTP that is not of gRPC, by its `content-type`.
    #[error("not grpc")]
    NotGrpc,
    /// There is no `grpc-status`, neither in trailers nor in headers that are all there is.
    #[error("no grpc-status")]
    NoStatus,
    /// More than one `grpc-status`, which say different things.
    #[error("several grpc-status")]
    SeveralStatuses,
    /// Status OK without a message.
    #[error("no message")]
    NoMessage,
    /// More than one message for a unary call.
    #[error("several messages")]
    SeveralMessages,
    /// The body ends within a message.
    #[error("message cut off")]
    Cut,
    /// A compressed message, which nobody asked for.
    #[error("compressed message")]
    Compressed,
    /// A message that is said to be compressed, where `grpc-encoding` names no compression.
    #[error("compressed message without grpc-encoding")]
    NoEncoding,
    /// A message that is neither plain nor compressed.
    #[error("message flag unknown")]
    Flag,
    /// A message of 4 GiB or more, which has no length.
    #[error("message too large")]
    TooLarge,
}

impl GrpcFault {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotGrpc => "not grpc",
            Self::NoStatus => "no grpc-status",
            Self::SeveralStatuses => "several grpc-status",
            Self::NoMessage => "no message",
            Self::SeveralMessages => "several messages",
            Self::Cut => "message cut off",
            Self::Compressed => "compressed message",
            Self::NoEncoding => "compressed message without grpc-encoding",
            Self::Flag => "message flag unknown",
            Self::TooLarge => "message too large",
        }
    }
}
