//! Connections that end before, in and after an answer.

use hammer_net::FailureKind::{Closed, Reset, Truncated};

use super::{answer, ok};
use crate::case::{Case, Pace};
use crate::play;
use crate::reply::{Asked, Reply, Then, body, is_third};

/// A third fails as `bad` says, the others are answered.
fn a_third(asked: &Asked, bad: impl FnOnce() -> Reply) -> Reply {
    if is_third(asked) { bad() } else { honest(asked) }
}

fn honest(asked: &Asked) -> Reply {
    Reply::is_ok(asked, ok(&body(asked.seq)))
}

/// The n-th answer of a connection is its last, and says so if `told`.
fn each(asked: &Asked, n: usize, is_told: bool, then: Then) -> Reply {
    if asked.nth % n < n - 1 {
        return honest(asked);
    }
    let body = body(asked.seq);
    let told = if is_told { "Connection: close\r\n" } else { "" };
    Reply::is_ok(asked, answer(&format!("{told}Content-Length: {}\r\n", body.len()), &body)).then(then)
}

fn half_of_an_answer(asked: &Asked) -> Vec<u8> {
    let mut half = ok(&body(asked.seq));
    half.truncate(half.len() - 5);
    half
}

const HALF_A_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Le";

const ENDS: &[Case] = &[
    Case::new("honest", honest).counting_all(),
    Case::new("reset before the answer", |asked| {
        a_third(asked, || Reply::fails(Reset, b"").then(Then::Reset))
    })
    .counting_all(),
    Case::new("reset in the head", |asked| {
        a_third(asked, || Reply::fails(Truncated, HALF_A_HEAD).then(Then::Reset))
    }),
    Case::new("reset in the body", |asked| {
        a_third(asked, || Reply::fails(Truncated, half_of_an_answer(asked)).then(Then::Reset))
    }),
    Case::new("closed before the answer", |asked| {
        a_third(asked, || Reply::fails(Closed, b"").then(Then::Close))
    })
    .counting_all(),
    Case::new("closed in the head", |asked| {
        a_third(asked, || Reply::fails(Truncated, HALF_A_HEAD).then(Then::Close))
    })
    .counting_all(),
    Case::new("closed in the body", |asked| {
        a_third(asked, || Reply::fails(Truncated, half_of_an_answer(asked)).then(Then::Close))
    })
    .counting_all(),
    Case::new("finished before the answer", |asked| {
        a_third(asked, || Reply::fails(Closed, b"").then(Then::Finish))
    })
    .counting_all(),
    Case::new("finished in the body", |asked| {
        a_third(asked, || Reply::fails(Truncated, half_of_an_answer(asked)).then(Then::Finish))
    })
    .counting_all(),
];

const LAST_ANSWERS: &[Case] = &[
    Case::new("five requests a connection, told", |asked| each(asked, 5, true, Then::Finish)).counting_all(),
    Case::new("five requests a connection, told and closed", |asked| each(asked, 5, true, Then::Close))
        .counting_all(),
    Case::new("one request a connection, told", |asked| each(asked, 1, true, Then::Finish)).counting_all(),
    Case::new("told, and kept open", |asked| each(asked, 2, true, Then::GoOn)).counting_all(),
    Case::new("five requests a connection, not told", |asked| each(asked, 5, false, Then::Finish))
        .losing(&[Closed])
        .counting_all(),
    Case::new("five requests a connection, closed", |asked| each(asked, 5, false, Then::Close))
        .losing(&[Closed, Reset]),
    Case::new("five requests a connection, reset", |asked| each(asked, 5, false, Then::Reset))
        .losing(&[Closed, Reset]),
    Case::new("reset after each answer, many at once", |asked| each(asked, 1, false, Then::Reset))
        .losing(&[Closed, Reset])
        .paced(Pace::AtOnce(16), 200),
    Case::new("closed while idle as others write", |asked| each(asked, 2, false, Then::Finish).later(b""))
        .losing(&[Closed])
        .paced(Pace::AtOnce(3), 100)
        .counting_all(),
];

#[test]
fn an_end_before_or_in_an_answer_is_told_by_its_cause_and_nothing_is_sent_again() {
    play(ENDS);
}

#[test]
fn an_end_after_an_answer_leaves_it_whole_and_the_next_request_is_sent_once() {
    play(LAST_ANSWERS);
}
