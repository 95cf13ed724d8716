//! Connections that end, with one stream or several under way.

use hammer_net::FailureKind::{Closed, Protocol, Reset, Truncated};

use super::ok;
use crate::case::{Case, Pace};
use crate::frames::{data, frame, headers, status};
use crate::play;
use crate::reply::{Asked, Reply, Then, body, is_third};

fn honest(asked: &Asked) -> Reply {
    Reply::is_ok(asked, ok(asked.stream, &body(asked.seq)))
}

fn a_third(asked: &Asked, bad: impl FnOnce() -> Reply) -> Reply {
    if is_third(asked) { bad() } else { honest(asked) }
}

/// A connection's fifth reply is what no client can read on from.
fn fifth(asked: &Asked, bytes: Vec<u8>) -> Reply {
    if asked.nth == 5 { Reply::fails(Protocol, bytes).then(Then::Finish) } else { honest(asked) }
}

fn half(asked: &Asked) -> Vec<u8> {
    [headers(asked.stream, &status("200")), data(asked.stream, b"the answer", false)].concat()
}

/// One request at a time on each connection, so that what ends one ends no other.
const ALONE: Pace = Pace::AtOnce(1);

const ENDS: &[Case] = &[
    Case::http2("honest", honest),
    Case::http2("reset before the answer", |asked| {
        a_third(asked, || Reply::fails(Reset, b"").then(Then::Reset))
    })
    .paced(ALONE, 30),
    Case::http2("closed before the answer", |asked| {
        a_third(asked, || Reply::fails(Closed, b"").then(Then::Close))
    })
    .paced(ALONE, 30),
    Case::http2("finished before the answer", |asked| {
        a_third(asked, || Reply::fails(Closed, b"").then(Then::Finish))
    })
    .paced(ALONE, 30),
    Case::http2("reset in the answer", |asked| {
        a_third(asked, || Reply::fails(Truncated, half(asked)).then(Then::Reset))
    })
    .paced(ALONE, 30),
    Case::http2("finished in the answer", |asked| {
        a_third(asked, || Reply::fails(Truncated, half(asked)).then(Then::Finish))
    })
    .paced(ALONE, 30),
    Case::http2("finished in a frame", |asked| {
        let whole = data(asked.stream, &body(asked.seq), true);
        let head = headers(asked.stream, &status("200"));
        let bytes = [&head[..], &whole[..whole.len() - 4]].concat();
        a_third(asked, || Reply::fails(Truncated, bytes).then(Then::Finish))
    })
    .paced(ALONE, 30),
    Case::http2("finished after each answer, idle", |asked| honest(asked).later(b"").then(Then::Finish))
        .paced(Pace::Settled, 20),
    Case::http2("reset after each answer, idle", |asked| honest(asked).later(b"").then(Then::Reset))
        .paced(Pace::Settled, 20),
    Case::http2("silence", |_| Reply::hangs(b"")).paced(Pace::AtOnce(4), 12),
];

const WITH_OTHERS: &[Case] = &[
    Case::http2("reset as others wait", |asked| {
        if asked.nth == 5 { Reply::fails(Reset, b"").then(Then::Reset) } else { honest(asked) }
    })
    .losing(&[Closed, Reset]),
    Case::http2("finished as others wait", |asked| {
        if asked.nth == 5 { honest(asked).then(Then::Finish) } else { honest(asked) }
    })
    .losing(&[Closed]),
    Case::http2("closed as others wait", |asked| {
        if asked.nth == 5 { honest(asked).then(Then::Close) } else { honest(asked) }
    })
    .losing(&[Closed, Reset]),
    Case::http2("a frame of DATA on no stream", |asked| fifth(asked, data(0, b"x", false)))
        .losing(&[Protocol]),
    Case::http2("a frame that is too large", |asked| fifth(asked, data(asked.stream, &[0; 20_000], true)))
        .losing(&[Protocol]),
    Case::http2("a header block that is none", |asked| fifth(asked, headers(asked.stream, &[0xff; 9])))
        .losing(&[Protocol]),
    Case::http2("frames of unknown kinds", |asked| {
        let unknown = frame(0xbe, 0xef, asked.stream, b"whatever");
        Reply::is_ok(asked, [unknown, ok(asked.stream, &body(asked.seq))].concat())
    }),
];

#[test]
fn an_end_before_or_in_an_answer_is_told_by_its_cause_and_nothing_is_sent_again() {
    play(ENDS);
}

#[test]
fn an_end_of_the_connection_fails_what_was_under_way_and_no_more() {
    play(WITH_OTHERS);
}
