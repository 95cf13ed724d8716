//! What an attempt at an exchange ended with.

use crate::dial::Protocol;
use crate::failure::Failure;

/// How an attempt ended that did not fail.
pub(crate) enum Exchanged {
    /// The answer is whole.
    Done,
    /// The server now speaks another version; nothing was sent.
    Other(Protocol),
}

/// An attempt that failed, and whether it may be tried on another connection.
pub(crate) enum Broken {
    /// The connection turned out to be closed before anything of the request left. It is out of the pool.
    Unsent(Failure),
    /// The request left, in part at least, and the server says that it did not touch it (RFC 9113, section 8.7).
    Unread(Failure),
    /// A connection that was idle was closed after the request was written, before any byte of an answer. It is out of the pool.
    Idle(Failure),
    /// The request cannot be tried again.
    Final(Failure),
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self::Final(failure)
    }
}
