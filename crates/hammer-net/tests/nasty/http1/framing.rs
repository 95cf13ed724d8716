//! Where an answer ends: lengths, chunks, closes, and what comes before and behind it.

use hammer_net::FailureKind::{Protocol, TooLarge, Truncated};

use super::{answer, chunked, ok};
use crate::case::{Case, Pace};
use crate::play;
use crate::reply::{Asked, Reply, Then, body};

/// The body of `asked` behind those fields, of which `{}` stands for its length.
fn with(asked: &Asked, fields: &str) -> Vec<u8> {
    let body = body(asked.seq);
    answer(&fields.replace("{}", &body.len().to_string()), &body)
}

fn whole(asked: &Asked, fields: &str) -> Reply {
    Reply::is_ok(asked, with(asked, fields))
}

fn wrong(asked: &Asked, fields: &str) -> Reply {
    Reply::fails(Protocol, with(asked, fields))
}

/// The body of `asked` behind `chunks`, which is not how chunks are written.
fn bad_chunks(asked: &Asked, size: &str, end: &str) -> Reply {
    let bytes = [size.as_bytes(), &body(asked.seq), end.as_bytes()].concat();
    Reply::fails(Protocol, answer("Transfer-Encoding: chunked\r\n", &bytes))
}

fn in_chunks(asked: &Asked, extension: &str, last: &str) -> Vec<u8> {
    chunked(&body(asked.seq), extension, last)
}

const LENGTHS: &[Case] = &[
    Case::new("the same length twice", |asked| whole(asked, "Content-Length: {}\r\nContent-Length: {}\r\n"))
        .counting_all(),
    Case::new("the same length in a list", |asked| whole(asked, "Content-Length: {}, {}\r\n")).counting_all(),
    Case::new("two lengths", |asked| wrong(asked, "Content-Length: {}\r\nContent-Length: 3\r\n")),
    Case::new("two lengths in a list", |asked| wrong(asked, "Content-Length: {}, 3\r\n")),
    Case::new("a negative length", |asked| wrong(asked, "Content-Length: -1\r\n")),
    Case::new("a signed length", |asked| wrong(asked, "Content-Length: +{}\r\n")),
    Case::new("a length of no number", |asked| wrong(asked, "Content-Length: 0x10\r\n")),
    Case::new("an empty length", |asked| wrong(asked, "Content-Length: \r\n")),
    Case::new("a length over 64 bits", |asked| wrong(asked, "Content-Length: 99999999999999999999\r\n")),
    Case::new("a length over the limit", |asked| {
        Reply::fails(TooLarge, with(asked, "Content-Length: 9000000000000000000\r\n"))
    }),
    Case::new("a length that is too short", |asked| {
        let short = body(asked.seq)[..10].to_vec();
        Reply::is(200, short, with(asked, "Content-Length: 10\r\n"))
    }),
    Case::new("a length that is too long, closed", |asked| {
        Reply::fails(Truncated, with(asked, "Content-Length: 1000\r\n")).then(Then::Finish)
    })
    .counting_all(),
    Case::new("a length that is too long, silence", |asked| {
        Reply::hangs(with(asked, "Content-Length: 1000\r\n"))
    })
    .paced(Pace::AtOnce(2), 10),
];

const CHUNKS: &[Case] = &[
    Case::new("chunks", |asked| Reply::is_ok(asked, in_chunks(asked, "", "0\r\n\r\n"))).counting_all(),
    Case::new("chunks with extensions", |asked| {
        Reply::is_ok(asked, in_chunks(asked, ";name=\"a value\"", "0;last\r\n\r\n"))
    })
    .counting_all(),
    Case::new("trailers", |asked| {
        Reply::is_ok(asked, in_chunks(asked, "", "0\r\nX-Trailer: yes\r\nContent-Length: 3\r\n\r\n"))
    })
    .counting_all(),
    Case::new("chunks beside a length", |asked| {
        let chunks = String::from_utf8(in_chunks(asked, "", "0\r\n\r\n")).unwrap();
        Reply::is_ok(asked, chunks.replacen("\r\n", "\r\nContent-Length: 3\r\n", 1))
    }),
    Case::new("no last chunk, closed", |asked| {
        Reply::fails(Truncated, in_chunks(asked, "", "")).then(Then::Finish)
    })
    .counting_all(),
    Case::new("half a last chunk, closed", |asked| {
        Reply::fails(Truncated, in_chunks(asked, "", "0\r\n")).then(Then::Finish)
    })
    .counting_all(),
    Case::new("no last chunk, silence", |asked| Reply::hangs(in_chunks(asked, "", "")))
        .paced(Pace::AtOnce(2), 10),
    Case::new("a size of no number", |asked| bad_chunks(asked, "zz\r\n", "\r\n0\r\n\r\n")),
    Case::new("a negative size", |asked| bad_chunks(asked, "-5\r\n", "\r\n0\r\n\r\n")),
    Case::new("an empty size", |asked| bad_chunks(asked, "\r\n", "\r\n0\r\n\r\n")),
    Case::new("a size over 64 bits", |asked| bad_chunks(asked, "fffffffffffffffff\r\n", "\r\n0\r\n\r\n")),
    Case::new("a size that is too small", |asked| bad_chunks(asked, "5\r\n", "\r\n0\r\n\r\n")),
];

const BEFORE_AND_BEHIND: &[Case] = &[
    Case::new("a byte in each write", |asked| Reply::is_ok(asked, ok(&body(asked.seq))).dripped())
        .paced(Pace::AtOnce(4), 20)
        .counting_all(),
    Case::new("chunks, a byte in each write", |asked| {
        Reply::is_ok(asked, in_chunks(asked, ";a=b", "0\r\nX: 1\r\n\r\n")).dripped()
    })
    .paced(Pace::AtOnce(4), 20)
    .counting_all(),
    Case::new("100 before", |asked| {
        Reply::is_ok(asked, [b"HTTP/1.1 100 Continue\r\n\r\n".as_slice(), &ok(&body(asked.seq))].concat())
    })
    .counting_all(),
    Case::new("many 103 before", |asked| {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n".repeat(20);
        Reply::is_ok(asked, [hints.as_bytes(), &ok(&body(asked.seq))].concat())
    })
    .counting_all(),
    Case::new("two answers", |asked| Reply::is_ok(asked, [ok(&body(asked.seq)), ok(b"to nobody")].concat())),
    Case::new("bytes behind the answer", |asked| {
        Reply::is_ok(asked, [ok(&body(asked.seq)), b"\r\n\r\nand".to_vec()].concat())
    }),
    Case::new("up to the close", |asked| whole(asked, "Server: old\r\n").then(Then::Finish)).counting_all(),
    Case::new("up to a reset", |asked| {
        Reply::fails(Truncated, with(asked, "Server: old\r\n")).then(Then::Reset)
    }),
];

#[test]
fn a_length_bounds_the_body_and_one_that_is_none_is_refused() {
    play(LENGTHS);
}

#[test]
fn chunks_are_read_to_the_last_and_what_is_no_chunk_is_refused() {
    play(CHUNKS);
}

#[test]
fn an_answer_is_told_from_what_stands_before_and_behind_it() {
    play(BEFORE_AND_BEHIND);
}
