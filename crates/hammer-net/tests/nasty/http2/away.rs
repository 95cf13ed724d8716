//! Servers that go away (GOAWAY, RFC 9113, section 6.8), in an orderly way or not.

use hammer_net::FailureKind::Closed;

use super::ok;
use crate::case::{Case, Pace};
use crate::frames::{LAST_STREAM, go_away};
use crate::play;
use crate::reply::{Asked, Reply, Then, body};

/// Answered behind `before`.
fn said(asked: &Asked, before: Vec<u8>) -> Reply {
    Reply::is_ok(asked, [before, ok(asked.stream, &body(asked.seq))].concat())
}

/// The n-th request of a connection is answered behind a GOAWAY with that last stream.
fn at(asked: &Asked, n: usize, last: impl FnOnce(u32) -> u32) -> Reply {
    said(asked, if asked.nth == n { go_away(last(asked.stream)) } else { Vec::new() })
}

const AWAY: &[Case] = &[
    Case::http2("GOAWAY with the stream itself", |asked| at(asked, 5, |stream| stream)).resending(),
    Case::http2("GOAWAY with a stream above", |asked| at(asked, 5, |stream| stream + 200)),
    Case::http2("GOAWAY with the stream before", |asked| {
        let before = asked.stream.saturating_sub(2);
        if asked.nth == 5 { Reply::refuses(go_away(before)) } else { said(asked, Vec::new()) }
    })
    .resending(),
    Case::http2("GOAWAY with no stream at all", |asked| {
        let is_first = asked.nth == 0 && asked.connection.is_multiple_of(2);
        if is_first { Reply::refuses(go_away(0)) } else { said(asked, Vec::new()) }
    })
    .resending(),
    Case::http2("GOAWAY with no stream at all, and the end", |asked| {
        let is_first = asked.nth == 0 && asked.connection.is_multiple_of(2);
        if is_first { Reply::refuses(go_away(0)).then(Then::Finish) } else { said(asked, Vec::new()) }
    })
    .resending()
    .paced(Pace::AtOnce(1), 20),
    Case::http2("two GOAWAY, the first of which names no stream", |asked| match asked.nth {
        3 => said(asked, go_away(LAST_STREAM)),
        5 => said(asked, go_away(asked.stream)),
        _ => said(asked, Vec::new()),
    })
    .resending(),
    Case::http2("GOAWAY after each answer, idle", |asked| {
        said(asked, Vec::new()).later(go_away(asked.stream)).then(Then::Finish)
    })
    .paced(Pace::Settled, 20),
    // Seven others may be answered before one that is sent again each time, and then it is given up.
    Case::http2("GOAWAY after each answer", |asked| at(asked, 0, |stream| stream))
        .resending()
        .losing(&[Closed])
        .paced(Pace::AtOnce(8), 60),
    Case::http2("GOAWAY with a stream that is not answered", |asked| {
        let ended = Reply::fails(Closed, go_away(asked.stream)).then(Then::Finish);
        if asked.nth == 5 { ended } else { said(asked, Vec::new()) }
    })
    .paced(Pace::AtOnce(1), 30),
];

#[test]
fn what_a_server_that_goes_away_has_read_is_answered_and_the_rest_is_sent_once_elsewhere() {
    play(AWAY);
}
