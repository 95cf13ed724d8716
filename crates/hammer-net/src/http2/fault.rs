//! What went wrong with a stream, whether its request was read, and whether its connection can be used on.

use h2::Error;
use hammer_measure::Nanos;

use super::pool::Lease;
use crate::attempt::{Broken, may_repeat};
use crate::context::ClientContext;
use crate::failure::{Failure, FailureKind, kind_of_h2, not_taken};
use crate::request::{NotTaken, Request};

/// What went wrong with a stream.
pub(super) enum StreamFault {
    /// Nothing of the answer has come.
    BeforeAnswer(Error),
    /// The head of the answer was there.
    WithinAnswer(Error),
    /// More of the answer's body was not taken.
    NotTaken(NotTaken),
}

/// An exchange that came to a fault.
pub(super) struct Attempt<'a> {
    pub(super) lease: &'a Lease,
    pub(super) context: &'a ClientContext,
    pub(super) host: &'a str,
    pub(super) request: &'a Request,
    pub(super) sent: Option<Nanos>,
    /// Its connection took no byte to write since the stream was granted.
    pub(super) nothing_left: bool,
}

impl StreamFault {
    /// What `attempt` ended with.
    #[cold]
    pub(super) fn broken(self, attempt: &Attempt<'_>) -> Broken {
        match self {
            Self::NotTaken(why) => Broken::Final(not_taken(attempt.host, &why)),
            Self::WithinAnswer(error) => {
                retire_unless_reset(attempt.lease, &error);
                let failure = within_answer(attempt.host, &error);
                attempt.count_closed(&error, failure.kind);
                Broken::Final(failure)
            }
            Self::BeforeAnswer(error) => {
                retire_unless_reset(attempt.lease, &error);
                attempt.before_answer(&error)
            }
        }
    }
}

impl Attempt<'_> {
    fn before_answer(&self, error: &Error) -> Broken {
        let failure = failure_of(self.host, error);
        if error.is_reset() {
            return self.reset(failure);
        }
        // The peer's GOAWAY is told to streams above its last one, which the server never touched (RFC 9113, section 6.8), and to
        // those that nobody opened any more. Streams below it go on, and end by something else.
        let is_unprocessed = error.is_remote() && error.is_go_away();
        match (is_unprocessed, self.nothing_left) {
            (true, false) => Broken::Unread(failure),
            (true, true) => Broken::Unsent(failure),
            (false, true) if !self.lease.is_fresh => Broken::Unsent(failure),
            (false, false) if !self.lease.is_fresh && self.may_repeat(failure.kind) => Broken::Idle(failure),
            (false, _) => {
                self.count_closed(error, failure.kind);
                Broken::Final(failure)
            }
        }
    }

    /// Counts a connection that the peer closed under the stream. One that was reset counts itself.
    fn count_closed(&self, error: &Error, kind: FailureKind) {
        let is_closed = matches!(kind, FailureKind::Closed | FailureKind::Truncated | FailureKind::Tls);
        if is_closed && !error.is_reset() && kind_of_h2(error) != Some(FailureKind::Reset) {
            self.lease.connection.count_closed(&self.context.log);
        }
    }

    /// The stream alone was reset.
    fn reset(&self, failure: Failure) -> Broken {
        if failure.kind != FailureKind::RefusedStream {
            return Broken::Final(failure);
        }
        self.context.log.refused_stream();
        if self.lease.exceeds_allowed() { Broken::Unread(failure) } else { Broken::Final(failure) }
    }

    fn may_repeat(&self, kind: FailureKind) -> bool {
        let is_closed = matches!(kind, FailureKind::Closed | FailureKind::Reset);
        is_closed && may_repeat(self.context, &self.request.method, self.sent)
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
        FailureKind::Reset
        | FailureKind::StreamReset
        | FailureKind::Closed
        | FailureKind::RefusedStream
        | FailureKind::Tls => Failure { kind: FailureKind::Truncated, ..failure },
        _ => failure,
    }
}
