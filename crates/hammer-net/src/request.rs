//! What is sent, and the room for what comes back.

use http::uri::PathAndQuery;
use http::{HeaderMap, Method, StatusCode, Version};

use crate::body::Body;
use crate::wire::WireTimes;

/// A request without its endpoint, which balancing chooses. It can be sent any number of times: sending clones
/// reference counts, so a workload keeps one for each kind of operation and changes `path` or `body`.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query as sent; [`crate::Client::path`] puts the endpoints' own path before it.
    pub path: PathAndQuery,
    /// The headers. `Host` and `Content-Length` are filled in; an own `Host` is kept (over HTTP/2 as `:authority`).
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
}

/// The room for an answer. One that is used again and again costs no allocation for headers and body.
#[derive(Debug, Default)]
pub struct Answer {
    /// The status; of the last answer where redirects were followed.
    pub status: StatusCode,
    /// The version that was spoken.
    pub version: Version,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, at most the response limit; partial after a failure.
    pub body: Vec<u8>,
    /// The instants on the wire, valid as far as it came also after a failure or when the send was cancelled.
    pub wire: WireTimes,
    /// Bytes written to the socket since the connection's previous operation took its count: TLS and its handshake
    /// included. The sum over all operations of a connection is all it wrote. On a multiplexed connection concurrent
    /// operations are not told apart: whoever finishes takes what is there.
    pub bytes_out: u64,
    /// Bytes read from the socket, counted likewise.
    pub bytes_in: u64,
    /// The endpoint's place in [`crate::Client::endpoints`]; `None` for a redirect's other origin or when none was reached.
    pub endpoint: Option<usize>,
    /// The server cannot have read the request, and it was sent again: bytes of it left this machine twice.
    pub resent: bool,
    /// The connection that was to carry the request had been closed before anything of it left, and another one carried it.
    pub redialled: bool,
    /// How many redirects were followed.
    pub redirects: u32,
}

impl Request {
    /// A `GET` of `path` without headers.
    pub fn get(path: PathAndQuery) -> Self {
        Self { method: Method::GET, path, headers: HeaderMap::new(), body: Body::empty() }
    }

    /// A `POST` of `body` to `path` without headers.
    pub fn post(path: PathAndQuery, body: impl Into<Body>) -> Self {
        Self { method: Method::POST, path, headers: HeaderMap::new(), body: body.into() }
    }
}

impl Answer {
    /// Room for an answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the previous answer and keeps its memory, but not that of a body over [`KEPT_BODY`].
    pub(crate) fn reset(&mut self) {
        self.status = StatusCode::default();
        self.version = Version::default();
        self.headers.clear();
        self.body.clear();
        self.body.shrink_to(KEPT_BODY);
        self.wire = WireTimes::default();
        self.bytes_out = 0;
        self.bytes_in = 0;
        self.endpoint = None;
        self.resent = false;
        self.redialled = false;
        self.redirects = 0;
    }
}

/// One huge answer must not be held in memory for the rest of the run.
const KEPT_BODY: usize = 256 << 10;
