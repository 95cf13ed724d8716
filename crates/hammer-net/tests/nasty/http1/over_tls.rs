//! Servers that speak TLS and end without a word of it (`close_notify`, RFC 8446, section 6.1).

use hammer_net::FailureKind::{Closed, Reset, Truncated};

use super::{answer, chunked, ok};
use crate::case::{Case, Pace, Speaks};
use crate::play;
use crate::reply::{Asked, Reply, Then, body, is_third};

fn honest(asked: &Asked) -> Reply {
    Reply::is_ok(asked, ok(&body(asked.seq)))
}

fn a_third(asked: &Asked, bad: impl FnOnce() -> Reply) -> Reply {
    if is_third(asked) { bad() } else { honest(asked) }
}

/// The body of `asked`, of which nothing says where it ends.
fn until_the_close(asked: &Asked) -> Vec<u8> {
    answer("Server: old\r\n", &body(asked.seq))
}

const OVER_TLS: &[Case] = &[
    tls("honest", honest),
    tls("a byte in each record", |asked| honest(asked).dripped()).paced(Pace::AtOnce(2), 6),
    tls("a length, and the end", |asked| {
        let body = body(asked.seq);
        let fields = format!("Connection: close\r\nContent-Length: {}\r\n", body.len());
        Reply::is_ok(asked, answer(&fields, &body)).then(Then::Finish)
    }),
    tls("up to the end, which anybody may have made", |asked| {
        Reply::fails(Truncated, until_the_close(asked)).then(Then::Finish)
    }),
    tls("no last chunk", |asked| {
        a_third(asked, || Reply::fails(Truncated, chunked(&body(asked.seq), "", "")).then(Then::Finish))
    }),
    tls("finished before the answer", |asked| {
        a_third(asked, || Reply::fails(Closed, b"").then(Then::Finish))
    }),
    tls("reset before the answer", |asked| a_third(asked, || Reply::fails(Reset, b"").then(Then::Reset))),
    tls("reset in the answer", |asked| {
        a_third(asked, || Reply::fails(Truncated, &b"HTTP/1.1 200 OK\r\nContent-Le"[..]).then(Then::Reset))
    }),
    tls("finished while idle", |asked| honest(asked).later(b"").then(Then::Finish))
        .paced(Pace::Settled, 10)
        .redialling(),
    tls("reset while idle", |asked| honest(asked).later(b"").then(Then::Reset))
        .paced(Pace::Settled, 10)
        .redialling(),
    tls("an answer that nobody asked for", |asked| honest(asked).later(ok(b"to nobody")))
        .paced(Pace::Settled, 10)
        .redialling(),
];

const fn tls(name: &'static str, reply: fn(&Asked) -> Reply) -> Case {
    Case::new(name, reply).speaking(Speaks::Http1OverTls).paced(Pace::AtOnce(2), 12)
}

#[test]
fn an_end_without_a_word_of_tls_ends_only_what_knows_its_own_end() {
    play(OVER_TLS);
}
