//! Heads that are too large or no heads at all, and answers without a body.

use hammer_net::FailureKind::{Protocol, Redirect, TooLarge};
use http::Method;

use super::{answer, ok};
use crate::case::{Case, Pace};
use crate::play;
use crate::reply::{Asked, Reply, Then, body};

fn length(asked: &Asked) -> String {
    format!("Content-Length: {}\r\n", body(asked.seq).len())
}

/// An honest answer with those fields before.
fn with(asked: &Asked, fields: &str) -> Vec<u8> {
    answer(&format!("{fields}{}", length(asked)), &body(asked.seq))
}

/// An answer that is said to be of `version`.
fn of_version(asked: &Asked, version: &str, fields: &str) -> Vec<u8> {
    let honest = String::from_utf8(with(asked, fields)).unwrap();
    honest.replacen("HTTP/1.1", version, 1).into_bytes()
}

/// The head of an answer of that status that says how long its body would be, and no body.
fn bare(asked: &Asked, status: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{}\r\n", length(asked)).into_bytes()
}

const HEADS: &[Case] = &[
    Case::new("a header of 600 KB", |asked| {
        Reply::fails(TooLarge, with(asked, &format!("X-Large: {}\r\n", "a".repeat(600 << 10))))
    })
    .paced(Pace::AtOnce(2), 10),
    Case::new("thousands of headers", |asked| Reply::fails(TooLarge, with(asked, &"X: 1\r\n".repeat(5_000))))
        .paced(Pace::AtOnce(2), 10),
    Case::new("no HTTP", |_| Reply::fails(Protocol, b"SSH-2.0-OpenSSH_9.7\r\n\r\n")),
    Case::new("a status that is none", |asked| {
        Reply::fails(Protocol, String::from_utf8(ok(&body(asked.seq))).unwrap().replacen("200", "2x0", 1))
    }),
    Case::new("a null in a header", |asked| Reply::fails(Protocol, with(asked, "X-Null: a\0b\r\n"))),
    Case::new("a head that does not end", |_| Reply::hangs(b"HTTP/1.1 200 OK\r\nX: 1\r\n"))
        .paced(Pace::AtOnce(2), 10),
    Case::new("silence", |_| Reply::hangs(b"")).paced(Pace::AtOnce(2), 10).counting_all(),
];

const VERSIONS: &[Case] = &[
    Case::new("HTTP/1.0", |asked| Reply::is_ok(asked, of_version(asked, "HTTP/1.0", "")).then(Then::Finish))
        .counting_all(),
    Case::new("HTTP/1.0 kept alive", |asked| {
        Reply::is_ok(asked, of_version(asked, "HTTP/1.0", "Connection: keep-alive\r\n"))
    })
    .counting_all(),
    Case::new("HTTP/1.0 that stays open", |asked| Reply::is_ok(asked, of_version(asked, "HTTP/1.0", "")))
        .counting_all(),
];

const FOLDED: &[Case] = &[
    Case::new("a line that goes on", |asked| Reply::is_ok(asked, with(asked, "X-Folded: a\r\n b\r\n")))
        .counting_all(),
    Case::new("a length that goes on", |asked| {
        Reply::is_ok(asked, answer(&length(asked).replacen(": ", ":\r\n\t", 1), &body(asked.seq)))
    })
    .counting_all(),
    Case::new("as many headers as are read", |asked| {
        Reply::is_ok(asked, with(asked, &"X: 1\r\n".repeat(127)))
    })
    .counting_all(),
];

const BARE: &[Case] = &[
    Case::new("HEAD", |asked| Reply::is(200, b"", bare(asked, "200 OK")))
        .asked_by(|_| Method::HEAD)
        .counting_all(),
    Case::new("204 with a length", |asked| Reply::is(204, b"", bare(asked, "204 No Content"))).counting_all(),
    Case::new("304 with a length", |asked| Reply::is(304, b"", bare(asked, "304 Not Modified")))
        .counting_all(),
    Case::new("redirect loop", |asked| {
        let fields = format!("Location: /again/{}\r\nContent-Length: 0\r\n", asked.seq);
        Reply::fails(
            Redirect,
            answer(&fields, b"")
                .strip_prefix(b"HTTP/1.1 200 OK")
                .map_or_else(Vec::new, |rest| [b"HTTP/1.1 302 Found", rest].concat()),
        )
    })
    .configured(|config| config.redirects = 5)
    .counting_all(),
];

#[test]
fn a_head_that_cannot_be_taken_is_a_failure_by_its_cause() {
    play(HEADS);
}

#[test]
fn an_older_version_keeps_a_connection_only_where_it_says_so() {
    play(VERSIONS);
}

#[test]
fn an_old_form_of_a_head_is_read_as_one_on_single_lines() {
    play(FOLDED);
}

#[test]
fn an_answer_without_a_body_leaves_its_connection_in_step() {
    play(BARE);
}
