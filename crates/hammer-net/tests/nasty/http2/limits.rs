//! Servers that allow few streams, say so late, or change their mind.

use hammer_net::FailureKind::RefusedStream;

use super::ok;
use crate::case::{Case, Pace, Speaks};
use crate::frames::{REFUSED, allow, reset, settings};
use crate::play;
use crate::reply::{Asked, Reply, body};

fn honest(asked: &Asked) -> Reply {
    said(asked, Vec::new())
}

/// Answered behind `before`; a stream over the limit is refused.
fn said(asked: &Asked, before: Vec<u8>) -> Reply {
    if !asked.is_within_limit {
        return Reply::refuses([before, reset(asked.stream, REFUSED)].concat());
    }
    Reply::is_ok(asked, [before, ok(asked.stream, &body(asked.seq))].concat())
}

/// The server says what it allows with its n-th reply.
fn at(asked: &Asked, n: usize, streams: u32) -> Reply {
    said(asked, if asked.nth == n { allow(streams) } else { Vec::new() })
}

const fn greets(greeting: fn(usize) -> Vec<u8>, initial: u32) -> Speaks {
    Speaks::Http2 { greeting, initial, holds: 4 }
}

const LIMITS: &[Case] = &[
    Case::http2("one stream from the start", honest).speaking(greets(|_| allow(1), 1)),
    Case::http2("one stream from the start, told with the first answer", |asked| at(asked, 0, 1))
        .speaking(greets(|_| Vec::new(), 1)),
    Case::http2("one stream from the start, many at once", |asked| at(asked, 0, 1))
        .speaking(greets(|_| Vec::new(), 1))
        .paced(Pace::AtOnce(32), 200),
    Case::http2("SETTINGS that never come", honest).speaking(greets(|_| Vec::new(), 1)),
    Case::http2("SETTINGS that say nothing", |asked| {
        said(asked, if asked.nth == 0 { settings() } else { Vec::new() })
    })
    .speaking(greets(|_| Vec::new(), 1)),
    Case::http2("two streams, one connection", honest)
        .speaking(greets(|_| allow(2), 1))
        .configured(|config| config.connections = 1),
    Case::http2("lowered to one", |asked| at(asked, 6, 1)),
    Case::http2("lowered to one, one connection", |asked| at(asked, 6, 1))
        .configured(|config| config.connections = 1),
    Case::http2("raised to a thousand", |asked| at(asked, 6, 1000))
        .speaking(greets(|_| allow(2), 1))
        .paced(Pace::AtOnce(32), 200),
    Case::http2("none for a while", |asked| {
        let reply = said(asked, if asked.nth == 6 { allow(0) } else { Vec::new() });
        if asked.nth == 6 { reply.later(allow(5)) } else { reply }
    })
    .configured(|config| config.connections = 1),
    Case::http2("lowered and raised with each answer", |asked| {
        said(asked, allow([1, 7, 3, 20][asked.nth % 4]))
    })
    .paced(Pace::AtOnce(16), 200),
];

/// The first request of the first connection is refused, in those words.
fn first_refused(asked: &Asked, refusal: impl FnOnce() -> Reply) -> Reply {
    if asked.nth == 0 && asked.connection == 0 { refusal() } else { honest(asked) }
}

/// The first connection is not greeted.
fn later_greetings(number: usize) -> Vec<u8> {
    if number == 0 { Vec::new() } else { settings() }
}

const REFUSALS: &[Case] = &[
    Case::http2("REFUSED_STREAM before SETTINGS", |asked| match asked.nth {
        1 if asked.connection == 0 => said(asked, allow(1)),
        _ => first_refused(asked, || Reply::refuses(reset(asked.stream, REFUSED))),
    })
    .speaking(greets(later_greetings, 1))
    .resending_all(),
    Case::http2("REFUSED_STREAM behind SETTINGS that allow it", |asked| {
        let bytes = [allow(1), reset(asked.stream, REFUSED)].concat();
        first_refused(asked, || Reply::fails(RefusedStream, bytes))
    })
    .speaking(greets(later_greetings, 1)),
    Case::http2("REFUSED_STREAM beyond SETTINGS that allow fewer", |asked| match asked.nth {
        4 => said(asked, allow(1)),
        5 if asked.connection == 0 => Reply::refuses(reset(asked.stream, REFUSED)),
        _ => honest(asked),
    })
    .configured(|config| config.connections = 1)
    .resending_all(),
];

#[test]
fn no_stream_is_opened_beyond_what_the_server_allows() {
    play(LIMITS);
}

#[test]
fn what_was_refused_beyond_the_limit_or_before_it_was_said_is_sent_again_and_told_so() {
    play(REFUSALS);
}
