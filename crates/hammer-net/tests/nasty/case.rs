//! A case: how one kind of nasty server behaves, and how it is asked.

use hammer_net::{ClientConfig, FailureKind, Request};
use http::Method;
use http::uri::PathAndQuery;

use crate::clock::Clock;
use crate::frames::settings;
use crate::reply::{Asked, Reply};

/// What a server speaks.
#[derive(Clone, Copy)]
pub(crate) enum Speaks {
    /// HTTP/1.1 over TCP.
    Http1,
    /// HTTP/1.1 over TLS, without a word at the end (`close_notify`).
    Http1OverTls,
    /// HTTP/2 with prior knowledge. The n-th connection is opened with those bytes of the server, which may be none.
    Http2 {
        /// What the server says before it has read anything.
        greeting: fn(usize) -> Vec<u8>,
        /// How many streams it allows before any SETTINGS of its own are acknowledged.
        initial: u32,
        /// How many requests it lets wait for one another before it replies to the first, unless no more come.
        holds: usize,
    },
}

/// How requests follow one another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// So many at once, each following the end of another.
    AtOnce(usize),
    /// One at a time, each after the server is done with the one before.
    Settled,
}

/// How the bytes that both sides count compare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// Each byte that left one side was read by the other.
    Equal,
    /// A side gave up a connection with bytes under way.
    SomeLost,
}

/// One kind of nasty server.
pub(crate) struct Case {
    /// What is nasty.
    pub(crate) name: &'static str,
    /// What it speaks.
    pub(crate) speaks: Speaks,
    /// What it says to a request.
    pub(crate) reply: fn(&Asked) -> Reply,
    /// How its client is configured beyond the usual.
    pub(crate) config: fn(&mut ClientConfig),
    /// The requests' method.
    pub(crate) method: fn(u64) -> Method,
    /// How they follow one another.
    pub(crate) pace: Pace,
    /// How many there are.
    pub(crate) count: u64,
    /// How a request that was sent and never read whole may fail, by a race that no client can win.
    pub(crate) unread: &'static [FailureKind],
    /// How bytes compare.
    pub(crate) bytes: Bytes,
    /// The clock that it is told by.
    pub(crate) clock: Clock,
    /// Whether the server may say of a request that it has not read it.
    pub(crate) may_refuse: bool,
    /// Whether a request may be sent again.
    pub(crate) may_resend: bool,
    /// Whether every request is answered, of which some were sent again.
    pub(crate) resends_all: bool,
    /// Whether every request but the first finds its connection gone, where that is known.
    pub(crate) redials: Option<bool>,
}

impl Case {
    /// Sixty requests, four at once, GET and POST in turn, over HTTP/1.1.
    pub(crate) const fn new(name: &'static str, reply: fn(&Asked) -> Reply) -> Self {
        Self {
            name,
            speaks: Speaks::Http1,
            reply,
            config: |_| {},
            method: |seq| if seq.is_multiple_of(2) { Method::GET } else { Method::POST },
            pace: Pace::AtOnce(4),
            count: 60,
            unread: &[],
            bytes: Bytes::SomeLost,
            clock: Clock::Machine,
            may_refuse: false,
            may_resend: false,
            resends_all: false,
            redials: None,
        }
    }

    /// Sixty requests, eight at once, over HTTP/2 to a server that greets with SETTINGS.
    pub(crate) const fn http2(name: &'static str, reply: fn(&Asked) -> Reply) -> Self {
        let speaks = Speaks::Http2 { greeting: |_| settings(), initial: u32::MAX, holds: 4 };
        Self { pace: Pace::AtOnce(8), ..Self::new(name, reply).speaking(speaks) }
    }

    /// Over what it speaks. Requests over HTTP/2 are POST: their number stands in the body.
    pub(crate) const fn speaking(self, speaks: Speaks) -> Self {
        let method: fn(u64) -> Method = match speaks {
            Speaks::Http2 { .. } => |_| Method::POST,
            _ => self.method,
        };
        Self { speaks, method, ..self }
    }

    /// With another configuration.
    pub(crate) const fn configured(self, config: fn(&mut ClientConfig)) -> Self {
        Self { config, ..self }
    }

    /// Asked with one method only.
    pub(crate) const fn asked_by(self, method: fn(u64) -> Method) -> Self {
        Self { method, ..self }
    }

    /// Asked in another pace.
    pub(crate) const fn paced(self, pace: Pace, count: u64) -> Self {
        Self { pace, count, ..self }
    }

    /// A request may be lost on a connection that the server ends.
    pub(crate) const fn losing(self, unread: &'static [FailureKind]) -> Self {
        Self { unread, ..self }
    }

    /// Nothing takes long.
    pub(crate) const fn in_no_time(self) -> Self {
        Self { clock: Clock::Ticking, ..self }
    }

    /// The server may say of a request that it has not read it.
    pub(crate) const fn refusing(self) -> Self {
        Self { may_refuse: true, ..self }
    }

    /// A request may be refused unread or swallowed, and be sent again.
    pub(crate) const fn resending(self) -> Self {
        Self { may_refuse: true, may_resend: true, ..self }
    }

    /// Whatever is swallowed is sent again, and answered then.
    pub(crate) const fn resending_all(self) -> Self {
        Self { resends_all: true, ..self.resending() }
    }

    /// Every request but the first finds its connection gone.
    pub(crate) const fn redialling(self) -> Self {
        Self { redials: Some(true), ..self }
    }

    /// No byte is lost.
    pub(crate) const fn counting_all(self) -> Self {
        Self { bytes: Bytes::Equal, ..self }
    }

    /// Request `seq`; its number stands in its path and, where it has one, in its body.
    pub(crate) fn request(&self, seq: u64) -> Request {
        let path = PathAndQuery::try_from(format!("/seq/{seq}")).unwrap();
        let method = (self.method)(seq);
        match method == Method::POST || method == Method::PUT {
            true => Request { method, ..Request::post(path, format!("seq {seq}")) },
            false => Request { method, ..Request::get(path) },
        }
    }
}
