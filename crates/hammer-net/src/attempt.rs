//! What an attempt at an exchange ended with.

use hammer_measure::Nanos;
use http::Method;

use crate::config::Resend;
use crate::context::ClientContext;
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

/// Whether a request that was `sent` on a connection that had been used before, which was closed without a byte of an answer, may be
/// sent again ([`Resend::Idle`]).
#[cold]
pub(crate) fn may_repeat(context: &ClientContext, method: &Method, sent: Option<Nanos>) -> bool {
    // Carried out twice they do no more than once (RFC 9110, section 9.2.2).
    let is_idempotent = [Method::GET, Method::HEAD, Method::PUT, Method::DELETE].contains(method);
    let is_idle_close = || sent.is_some_and(|sent| context.clock.now().since(sent) <= IDLE_CLOSE);
    context.config.resend == Resend::Idle && is_idempotent && is_idle_close()
}

/// A connection that is closed so soon after a write was closed before it, as a rule.
const IDLE_CLOSE: Nanos = Nanos::from_millis(1);
