//! What went wrong with a stream, whether its request was read, and whether its connection can be used on.

use h2::{Error, Reason};

use super::pool::Lease;
use crate::attempt::Broken;
use crate::failure::{Failure, FailureKind, too_large};

/// What went wrong with a stream.
pub(super) enum StreamFault {
    /// Nothing of the answer has come.
    BeforeAnswer(Error),
    /// The head of the answer was there.
    WithinAnswer(Error),
    /// The answer is larger than this, in bytes.
    TooLarge(usize),
}

impl StreamFault {
    /// What the attempt on the stream of `lease` ended with. `nothing_left`: the connection took no byte to write since then.
    #[cold]
    pub(super) fn broken(self, lease: &Lease, host: &str, nothing_left: bool) -> Broken {
        match self {
            Self::TooLarge(limit) => Broken::Final(too_large(host, limit)),
            Self::WithinAnswer(error) => {
                retire_unless_reset(lease, &error);
                Broken::Final(within_answer(host, &error))
            }
            Self::BeforeAnswer(error) => {
                retire_unless_reset(lease, &error);
                before_answer(lease, &error, failure_of(host, &error), nothing_left)
            }
        }
    }
}

/// A stream that was reset says nothing of its connection; every other error is one of that.
fn retire_unless_reset(lease: &Lease, error: &Error) {
    if !error.is_reset() {
        lease.retire();
    }
}

fn failure_of(host: &str, error: &Error) -> Failure {
    Failure::of_exchange(host, error, FailureKind::Protocol)
}

fn within_answer(host: &str, error: &Error) -> Failure {
    let failure = failure_of(host, error);
    match failure.kind {
        FailureKind::Reset | FailureKind::Closed | FailureKind::RefusedStream => {
            Failure { kind: FailureKind::Truncated, ..failure }
        }
        _ => failure,
    }
}

fn before_answer(lease: &Lease, error: &Error, failure: Failure, nothing_left: bool) -> Broken {
    // The peer's GOAWAY is told to streams above its last one, which the server never touched (RFC 9113, section 6.8), and to those
    // that nobody opened any more. Streams below it go on, and end by something else.
    let is_unprocessed = error.is_remote() && error.is_go_away();
    let is_refused = error.is_remote() && error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM);
    if is_refused && lease.exceeds_allowed() {
        return Broken::Unread(failure);
    }
    match (is_unprocessed, nothing_left) {
        (true, false) => Broken::Unread(failure),
        (true, true) => Broken::Unsent(failure),
        (false, true) if !lease.is_fresh && !error.is_reset() => Broken::Unsent(failure),
        (false, _) => Broken::Final(failure),
    }
}
