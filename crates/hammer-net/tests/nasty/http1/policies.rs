//! What is sent again, by the policy that says so.

use hammer_net::FailureKind::Closed;
use hammer_net::Resend;
use http::Method;

use super::ok;
use crate::case::{Case, Pace};
use crate::play;
use crate::reply::{Asked, Reply, Then, body, is_third};

/// Read and closed without a byte of an answer, where the connection has carried a request before and `bad` says so.
fn swallowed(asked: &Asked, bad: bool) -> Reply {
    if asked.nth > 0 && bad {
        return Reply::fails(Closed, b"").then(Then::Finish);
    }
    Reply::is_ok(asked, ok(&body(asked.seq)))
}

const AGAIN: &[Case] = &[
    Case::new("idle: GET is sent again", |asked| swallowed(asked, is_third(asked)))
        .configured(|config| config.resend = Resend::Idle)
        .asked_by(|_| Method::GET)
        .resending_all()
        .in_no_time()
        .counting_all(),
    Case::new("idle: POST is not", |asked| swallowed(asked, is_third(asked)))
        .configured(|config| config.resend = Resend::Idle)
        .asked_by(|_| Method::POST)
        .counting_all(),
    Case::new("idle: a first request is not", |asked| {
        if is_third(asked) { Reply::fails(Closed, b"").then(Then::Finish) } else { swallowed(asked, true) }
    })
    .configured(|config| {
        config.resend = Resend::Idle;
        config.keepalive = false;
    })
    .asked_by(|_| Method::GET)
    .counting_all(),
    Case::new("never: GET is not", |asked| swallowed(asked, is_third(asked)))
        .configured(|config| config.resend = Resend::Never)
        .asked_by(|_| Method::GET)
        .counting_all(),
    Case::new("never: what is gone before the write is dialled anew", |asked| {
        Reply::is_ok(asked, ok(&body(asked.seq))).later(b"").then(Then::Finish)
    })
    .configured(|config| config.resend = Resend::Never)
    .paced(Pace::Settled, 20)
    .redialling()
    .counting_all(),
];

#[test]
fn only_what_a_policy_allows_is_sent_again_and_told_so() {
    play(AGAIN);
}
