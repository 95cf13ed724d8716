//! What is sent, and the room for what comes back.

use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::SocketAddr;

use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, Method, StatusCode, Version};
use ring::digest;

use crate::body::Body;
use crate::failure::FailureKind;
use crate::headers::Headers;
use crate::wire::WireTimes;

/// A request without its endpoint, which balancing chooses. It can be sent any number of times, so a workload keeps one for each
/// kind of operation and changes `path` or `body`; what does not change is put into bytes once.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query as sent; [`crate::Client::path`] puts the endpoints' own path before it.
    pub path: PathAndQuery,
    /// The headers. `Host` and `Content-Length` are filled in; an own `Host` is kept (over HTTP/2 as `:authority`).
    pub headers: Headers,
    /// The body.
    pub body: Body,
    /// Those headers of the answer that are to be found in it; all others are read past.
    pub kept_headers: Vec<HeaderName>,
    /// What becomes of the answer's body.
    pub sink: BodySink,
    /// The largest body of its answer, in bytes, in place of the client's limit.
    pub limit: Option<usize>,
}

/// What becomes of the body of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodySink {
    /// It stands in the answer.
    #[default]
    Keep,
    /// Only its SHA-256 does.
    Digest,
    /// It is read, counted and forgotten; the start of one that came with a failure (4xx, 5xx) stands in the answer.
    Discard,
    /// It stands in the answer, and in an unnamed file beside the system's other temporary ones where it is larger than 1 MiB.
    Spill,
}

/// The room for an answer. One that is used again and again costs no allocation for headers and body.
#[derive(Debug, Default)]
pub struct Answer {
    /// The status; of the last answer where redirects were followed.
    pub status: StatusCode,
    /// The version that was spoken.
    pub version: Version,
    /// Those of its headers that the request asked for; over HTTP/2 all of them where it asked for any. Where the body is encoded,
    /// `Content-Encoding` is there in any case.
    pub headers: HeaderMap,
    /// Its trailers over HTTP/2, where the request asked for any header; those of HTTP/1.1 are read past.
    pub trailers: HeaderMap,
    /// The body, at most the response limit; partial after a failure, and empty where the request keeps none. What a server encoded
    /// although the request names no encoding that it takes is decoded.
    pub body: Vec<u8>,
    /// The length of the body in bytes, whatever became of it.
    pub body_length: usize,
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
    /// The address that the exchange turned to last, of several of one server the preferred one; `None` before any was known.
    pub peer: Option<SocketAddr>,
    /// The server cannot have read the request, or by [`crate::Resend`] may be asked twice, and it was sent again: bytes of it left
    /// this machine twice.
    pub resent: bool,
    /// The connection that was to carry the request had been closed before anything of it left, and another one carried it.
    pub redialled: bool,
    /// How many redirects were followed.
    pub redirects: u32,
    /// The digest of the body, where the request asked for it.
    pub digest: BodyDigest,
    /// The body as far as it came, in place of [`Answer::body`], where the request lets a large one go to a file. It is decoded where it was encoded, and not
    /// read back: its place is behind its last byte.
    pub file: Option<File>,
}

/// The SHA-256 of a body, as far as it came; nothing where nobody asked for it.
#[derive(Default)]
pub struct BodyDigest(Option<digest::Context>);

impl BodyDigest {
    /// The digest of what came until now; `None` where nobody asked for it, or nothing came.
    pub fn sha256(&self) -> Option<[u8; 32]> {
        self.0.clone()?.finish().as_ref().try_into().ok()
    }

    fn update(&mut self, data: &[u8]) {
        self.0.get_or_insert_with(|| digest::Context::new(&digest::SHA256)).update(data);
    }
}

impl fmt::Debug for BodyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BodyDigest").field(&self.sha256()).finish()
    }
}

impl Request {
    /// A `GET` of `path` without headers.
    pub fn get(path: PathAndQuery) -> Self {
        Self {
            method: Method::GET,
            path,
            headers: Headers::default(),
            body: Body::empty(),
            kept_headers: Vec::new(),
            sink: BodySink::Keep,
            limit: None,
        }
    }

    /// A `POST` of `body` to `path` without headers.
    pub fn post(path: PathAndQuery, body: impl Into<Body>) -> Self {
        Self { method: Method::POST, body: body.into(), ..Self::get(path) }
    }

    /// The same request, with `name` to be found in its answer.
    #[must_use]
    pub fn keep_header(mut self, name: HeaderName) -> Self {
        if !self.kept_headers.contains(&name) {
            self.kept_headers.push(name);
        }
        self
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
        self.wire = WireTimes::default();
        self.bytes_out = 0;
        self.bytes_in = 0;
        self.endpoint = None;
        self.peer = None;
        self.resent = false;
        self.redialled = false;
        self.redirects = 0;
        self.forget_body();
        self.body.shrink_to(KEPT_BODY);
    }

    /// What follows is another answer's body.
    pub(crate) fn forget_body(&mut self) {
        self.body.clear();
        self.file = None;
        self.trailers.clear();
        self.body_length = 0;
        self.digest = BodyDigest::default();
    }

    /// Takes more of the body.
    pub(crate) fn take(&mut self, sink: BodySink, data: &[u8], limit: usize) -> Result<(), NotTaken> {
        if data.len() > limit.saturating_sub(self.body_length) {
            return Err(NotTaken::TooLarge(limit));
        }
        self.body_length += data.len();
        match sink {
            BodySink::Keep => self.body.extend_from_slice(data),
            BodySink::Digest => self.digest.update(data),
            BodySink::Discard if self.status.as_u16() >= 400 => {
                let room = MOST_SAID.saturating_sub(self.body.len());
                self.body.extend_from_slice(&data[..data.len().min(room)]);
            }
            BodySink::Discard => {}
            BodySink::Spill => self.spill(data)?,
        }
        Ok(())
    }

    /// What is written lies in the system's cache of files: that takes as long as a copy in memory, but where the system has none left.
    pub(crate) fn spill(&mut self, data: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            if self.body.len() + data.len() <= MOST_IN_MEMORY {
                self.body.extend_from_slice(data);
                return Ok(());
            }
            self.file.insert(tempfile::tempfile()?).write_all(&self.body)?;
            self.body = Vec::new();
        }
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(data))
    }
}

/// Why more of a body was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotTaken {
    #[error("it is larger than the limit of {0} bytes")]
    TooLarge(usize),
    #[error("it cannot be kept in a file: {0}")]
    File(#[from] io::Error),
}

impl NotTaken {
    /// The cause by which it is counted.
    pub(crate) const fn kind(&self) -> FailureKind {
        match self {
            Self::TooLarge(_) => FailureKind::TooLarge,
            Self::File(_) => FailureKind::Unkept,
        }
    }
}

/// The most bytes of an answer's heads together; over HTTP/2 as they are before compression (RFC 9113, section 6.5.2).
pub(crate) const MOST_HEAD: usize = 256 << 10;

/// Bytes of what a server says with a failure: more than anybody reads.
const MOST_SAID: usize = 4 << 10;

/// Bytes of a body that stay in memory where it may go to a file.
const MOST_IN_MEMORY: usize = 1 << 20;

/// One huge answer must not be held in memory for the rest of the run.
const KEPT_BODY: usize = 256 << 10;
