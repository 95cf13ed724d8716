//! What happens to connections while nobody uses them.

use super::ok;
use crate::case::{Case, Pace};
use crate::play;
use crate::reply::{Asked, Reply, Then, body};

fn honest(asked: &Asked) -> Reply {
    Reply::is_ok(asked, ok(&body(asked.seq)))
}

const TOO_LATE: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n";

const IDLE: &[Case] = &[
    Case::new("closed while idle", |asked| honest(asked).later(b"").then(Then::Finish))
        .paced(Pace::Settled, 20)
        .redialling()
        .counting_all(),
    Case::new("dropped while idle", |asked| honest(asked).later(b"").then(Then::Close))
        .paced(Pace::Settled, 20)
        .redialling()
        .counting_all(),
    Case::new("reset while idle", |asked| honest(asked).later(b"").then(Then::Reset))
        .paced(Pace::Settled, 20)
        .redialling()
        .counting_all(),
    Case::new("an answer that nobody asked for", |asked| honest(asked).later(ok(b"to nobody")))
        .paced(Pace::Settled, 20)
        .redialling(),
    Case::new("half an answer that nobody asked for", |asked| honest(asked).later(b"HTTP/1.1 200 O"))
        .paced(Pace::Settled, 20)
        .redialling(),
    Case::new("408 before the close", |asked| honest(asked).later(TOO_LATE).then(Then::Finish))
        .paced(Pace::Settled, 20)
        .redialling(),
];

#[test]
fn a_connection_that_ended_while_idle_costs_no_request_and_what_it_said_answers_none() {
    play(IDLE);
}
