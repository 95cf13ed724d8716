//! Streams that end in an unusual way, on connections that go on.

use hammer_net::FailureKind::{Protocol, RefusedStream, StreamReset, TooLarge, Truncated};

use super::ok;
use crate::case::{Case, Pace};
use crate::frames::{
    CONTINUATION, END_HEADERS, HEADERS, REFUSED, content_length, data, frame, headers, literal, reset, status,
};
use crate::play;
use crate::reply::{Asked, Reply, body, is_third};

fn honest(asked: &Asked) -> Reply {
    Reply::is_ok(asked, ok(asked.stream, &body(asked.seq)))
}

fn a_third(asked: &Asked, bad: impl FnOnce() -> Reply) -> Reply {
    if is_third(asked) { bad() } else { honest(asked) }
}

/// Each code of RFC 9113, section 7, but for REFUSED_STREAM, in turn.
fn code(asked: &Asked) -> u32 {
    let code = u32::try_from(asked.seq / 3 % 14).unwrap();
    if code == REFUSED { 0x1234 } else { code }
}

fn half(asked: &Asked) -> Vec<u8> {
    [headers(asked.stream, &status("200")), data(asked.stream, b"the answer", false)].concat()
}

/// The body of `asked` behind a head with `block` besides its status.
fn with(asked: &Asked, block: &[u8]) -> Vec<u8> {
    let head = [status("200").as_slice(), block].concat();
    [headers(asked.stream, &head), data(asked.stream, &body(asked.seq), true)].concat()
}

/// A head of 600 KB, in frames of 16 KB.
fn large_head(asked: &Asked) -> Vec<u8> {
    let block = [status("200"), literal("x-large", &vec![b'a'; 600 << 10])].concat();
    let mut chunks = block.chunks(16 << 10).peekable();
    let mut bytes = frame(HEADERS, 0, asked.stream, chunks.next().unwrap());
    while let Some(chunk) = chunks.next() {
        let flags = if chunks.peek().is_none() { END_HEADERS } else { 0 };
        bytes.extend(frame(CONTINUATION, flags, asked.stream, chunk));
    }
    [bytes, data(asked.stream, &body(asked.seq), true)].concat()
}

const RESETS: &[Case] = &[
    Case::http2("RST_STREAM before the answer", |asked| {
        a_third(asked, || Reply::fails(StreamReset, reset(asked.stream, code(asked))))
    })
    .paced(Pace::AtOnce(8), 90),
    Case::http2("RST_STREAM in the answer", |asked| {
        a_third(asked, || Reply::fails(Truncated, [half(asked), reset(asked.stream, code(asked))].concat()))
    })
    .paced(Pace::AtOnce(8), 90),
    Case::http2("RST_STREAM after the answer", |asked| {
        let both = [ok(asked.stream, &body(asked.seq)), reset(asked.stream, code(asked))].concat();
        a_third(asked, || Reply::is_ok(asked, both))
    })
    .paced(Pace::AtOnce(8), 90),
    Case::http2("REFUSED_STREAM within the allowed number", |asked| {
        let refuses = asked.is_acknowledged && is_third(asked);
        let refused = Reply::fails(RefusedStream, reset(asked.stream, REFUSED));
        if refuses { refused } else { honest(asked) }
    }),
    Case::http2("REFUSED_STREAM in the answer", |asked| {
        a_third(asked, || Reply::fails(Truncated, [half(asked), reset(asked.stream, REFUSED)].concat()))
    }),
];

const ANSWERS: &[Case] = &[
    Case::http2("a byte in each write", |asked| honest(asked).dripped()).paced(Pace::AtOnce(4), 20),
    Case::http2("100 and 103 before", |asked| {
        let before = ["100", "103"].map(|code| headers(asked.stream, &status(code))).concat();
        Reply::is_ok(asked, [before, ok(asked.stream, &body(asked.seq))].concat())
    }),
    Case::http2("trailers", |asked| {
        let head = headers(asked.stream, &status("200"));
        let trailers = frame(HEADERS, END_HEADERS | 1, asked.stream, &literal("x-trailer", b"yes"));
        Reply::is_ok(asked, [head, data(asked.stream, &body(asked.seq), false), trailers].concat())
    }),
    Case::http2("no body", |asked| {
        Reply::is(204, b"", frame(HEADERS, END_HEADERS | 1, asked.stream, &status("204")))
    }),
    Case::http2("the right length", |asked| {
        Reply::is_ok(asked, with(asked, &content_length(body(asked.seq).len())))
    }),
    Case::http2("a length that is too short", |asked| {
        Reply::fails(Protocol, with(asked, &content_length(10)))
    }),
    Case::http2("a length that is too long", |asked| {
        Reply::fails(Protocol, with(asked, &content_length(1000)))
    }),
    Case::http2("no status", |asked| {
        let head = headers(asked.stream, &literal("server", b"odd"));
        Reply::fails(Protocol, [head, data(asked.stream, &body(asked.seq), true)].concat())
    }),
    Case::http2("a header of 600 KB", |asked| Reply::fails(TooLarge, large_head(asked)))
        .paced(Pace::AtOnce(1), 6),
    Case::http2("two answers on one stream", |asked| {
        Reply::is_ok(asked, [ok(asked.stream, &body(asked.seq)), ok(asked.stream, b"to nobody")].concat())
    })
    .paced(Pace::AtOnce(1), 10),
];

#[test]
fn a_stream_that_is_reset_is_told_so_and_an_answer_that_was_whole_stays_one() {
    play(RESETS);
}

#[test]
fn an_answer_is_read_to_its_end_and_what_contradicts_itself_is_refused() {
    play(ANSWERS);
}
