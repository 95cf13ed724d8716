//! What is sent again, by the policy that says so.

use hammer_net::FailureKind::{Closed, RefusedStream};
use hammer_net::Resend;
use http::Method;

use super::ok;
use crate::case::{Case, Pace, Speaks};
use crate::frames::{REFUSED, allow, go_away, reset};
use crate::play;
use crate::reply::{Asked, Reply, Then, body, is_third};

fn honest(asked: &Asked) -> Reply {
    Reply::is_ok(asked, ok(asked.stream, &body(asked.seq)))
}

/// A third is read and never answered, where its connection has carried a request before.
fn swallowed(asked: &Asked) -> Reply {
    match asked.nth > 0 && is_third(asked) {
        true => Reply::fails(Closed, b"").then(Then::Finish),
        false => honest(asked),
    }
}

const ALONE: Pace = Pace::AtOnce(1);

const AGAIN: &[Case] = &[
    Case::http2("idle: PUT is sent again", swallowed)
        .configured(|config| config.resend = Resend::Idle)
        .asked_by(|_| Method::PUT)
        .paced(ALONE, 30)
        .in_no_time()
        .resending_all(),
    Case::http2("idle: POST is not", swallowed)
        .configured(|config| config.resend = Resend::Idle)
        .paced(ALONE, 30)
        .in_no_time(),
    Case::http2("unsent: PUT is not", swallowed).asked_by(|_| Method::PUT).paced(ALONE, 30).in_no_time(),
    Case::http2("never: what a GOAWAY leaves out is not", |asked| match asked.nth {
        5 => Reply::refuses(go_away(asked.stream.saturating_sub(2))),
        _ => honest(asked),
    })
    .configured(|config| config.resend = Resend::Never)
    .losing(&[Closed])
    .refusing(),
    Case::http2("never: what is refused before SETTINGS is not", |asked| {
        match (asked.connection, asked.nth) {
            (0, 0) => Reply::refuses(reset(asked.stream, REFUSED)),
            (0, 1) => Reply::is_ok(asked, [allow(1), ok(asked.stream, &body(asked.seq))].concat()),
            _ => honest(asked),
        }
    })
    .speaking(Speaks::Http2 {
        greeting: |number| if number == 0 { Vec::new() } else { allow(100) },
        initial: 1,
        holds: 1,
    })
    .configured(|config| config.resend = Resend::Never)
    .losing(&[RefusedStream])
    .refusing(),
];

#[test]
fn only_what_a_policy_allows_is_sent_again_and_told_so() {
    play(AGAIN);
}
