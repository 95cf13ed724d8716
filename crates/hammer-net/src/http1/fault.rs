//! What is wrong with an answer of HTTP/1.1.

use crate::failure::FailureKind;
use crate::request::NotTaken;

/// What is wrong with an answer: a fragment that completes "failed to get an answer from HOST: ".
#[derive(Debug, thiserror::Error)]
pub(super) enum AnswerFault {
    #[error("its head is no HTTP/1: {0}")]
    Head(httparse::Error),
    #[error("its bytes are of TLS: the server speaks it there")]
    Tls,
    #[error("its head is larger than {} KiB", crate::request::MOST_HEAD >> 10)]
    LongHead,
    #[error("its head has more than {} headers", super::head::MOST_HEADERS)]
    ManyHeaders,
    #[error("its status is {0}")]
    Status(u16),
    #[error("it switches protocols, which nobody asked for")]
    Upgrade,
    #[error("its Content-Length is no length, or two that differ")]
    Length,
    #[error("it has a Transfer-Encoding, which HTTP/1.0 does not know")]
    Encoding,
    #[error("its chunks are none")]
    Chunk,
    #[error("its extensions and trailers have no end")]
    LongTrailers,
    #[error(transparent)]
    Body(#[from] NotTaken),
}

impl AnswerFault {
    /// The cause by which it is counted.
    pub(super) const fn kind(&self) -> FailureKind {
        match self {
            Self::LongHead | Self::ManyHeaders | Self::LongTrailers => FailureKind::TooLarge,
            Self::Body(why) => why.kind(),
            Self::Tls => FailureKind::SpeaksTls,
            _ => FailureKind::Protocol,
        }
    }
}
