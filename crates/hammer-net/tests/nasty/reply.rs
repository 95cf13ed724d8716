//! What a server says to a request, and what a client must make of it.

use hammer_net::FailureKind;

/// A request as a server sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Its number.
    pub(crate) seq: u64,
    /// Its place on its connection.
    pub(crate) nth: usize,
    /// The place of its connection among those that the server accepted.
    pub(crate) connection: usize,
    /// Its stream (RFC 9113, section 5.1.1); 0 over HTTP/1.1.
    pub(crate) stream: u32,
    /// Whether the streams that were open as it came in, with its own, were no more than the server allows.
    pub(crate) is_within_limit: bool,
    /// Whether the client has acknowledged SETTINGS.
    pub(crate) is_acknowledged: bool,
}

/// What follows the bytes of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// The next request.
    GoOn,
    /// The end of what is said; what still comes in is read and counted, and not served.
    Finish,
    /// The connection is closed with whatever it holds.
    Close,
    /// The connection is reset.
    Reset,
}

/// What a client must make of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// An answer of that status and body.
    Answered(u16, Vec<u8>),
    /// A failure of that kind.
    Failed(FailureKind),
    /// The server has not read the request, and says so: it may be sent again.
    Refused,
    /// Nothing: the caller cuts the operation off.
    CutOff,
}

/// What a server says to one request.
pub(crate) struct Reply {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// Whether each byte is a write of its own.
    pub(crate) is_dripped: bool,
    /// Said once the client has told how its operation ended.
    pub(crate) later: Vec<u8>,
    /// Whether `then` waits as well for what the client tells.
    pub(crate) then_later: bool,
    /// What follows.
    pub(crate) then: Then,
    /// What a client must make of it.
    pub(crate) ends: Ends,
}

impl Reply {
    fn new(bytes: impl Into<Vec<u8>>, ends: Ends) -> Self {
        let (later, then) = (Vec::new(), Then::GoOn);
        Self { bytes: bytes.into(), is_dripped: false, later, then_later: false, then, ends }
    }

    /// `bytes` are an answer of status 200 with the body of `asked`.
    pub(crate) fn is_ok(asked: &Asked, bytes: impl Into<Vec<u8>>) -> Self {
        Self::is(200, body(asked.seq), bytes)
    }

    /// `bytes` are an answer of that status and body.
    pub(crate) fn is(status: u16, body: impl Into<Vec<u8>>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(bytes, Ends::Answered(status, body.into()))
    }

    /// `bytes` are no whole answer.
    pub(crate) fn fails(kind: FailureKind, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(bytes, Ends::Failed(kind))
    }

    /// `bytes` say that the request was not read.
    pub(crate) fn refuses(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(bytes, Ends::Refused)
    }

    /// `bytes` are no whole answer, and nothing follows them.
    pub(crate) fn hangs(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(bytes, Ends::CutOff)
    }

    /// One byte in each write.
    pub(crate) fn dripped(self) -> Self {
        Self { is_dripped: true, ..self }
    }

    /// `then` follows.
    pub(crate) fn then(self, then: Then) -> Self {
        Self { then, ..self }
    }

    /// `bytes`, and what follows them, come when the client is done with the answer.
    pub(crate) fn later(self, bytes: impl Into<Vec<u8>>) -> Self {
        Self { later: bytes.into(), then_later: true, ..self }
    }
}

/// The body of the answer to request `seq`, which is that of no other.
pub(crate) fn body(seq: u64) -> Vec<u8> {
    format!("the answer to request {seq} and to no other").into_bytes()
}

/// Every third request has it bad.
pub(crate) fn is_third(asked: &Asked) -> bool {
    asked.seq % 3 == 1
}
