//! What a client is told before its first connection.

use std::path::PathBuf;
use std::time::Duration;

use http::uri::Authority;
use http::{HeaderValue, Uri};

use crate::balance::Balancing;
use crate::secret::Secret;
use crate::tls::{self, TlsConfig, TlsError};

/// Whom to talk to and how. Every shard has a client of its own, made from a clone.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// One URL or more, `http` or `https`; all with the same path, which [`crate::Client::path`] puts before every
    /// request's own. Each address of a name is an endpoint (one IPv4 and one IPv6 address of it are one endpoint).
    pub endpoints: Vec<Uri>,
    /// How an operation's endpoint is chosen.
    pub balancing: Balancing,
    /// The seed of random balancing.
    pub seed: u64,
    /// Which HTTP version is spoken.
    pub version: HttpVersion,
    /// Trust and identity over `https`; other origins that redirects lead to learn nothing of the identity.
    pub tls: TlsConfig,
    /// The most connections to an endpoint; whoever needs one more waits in order.
    pub connections: usize,
    /// HTTP/2: so many connections to an endpoint, neither fewer nor more, over which streams are spread; `None`: as few as there are
    /// streams for, and [`Self::connections`] at most.
    pub per_address: Option<usize>,
    /// HTTP/2: the most streams at once on one connection, where the server does not say less; another connection is
    /// dialled only when all have that many.
    pub streams: usize,
    /// An idle connection older than this is closed instead of used.
    pub max_idle: Option<Duration>,
    /// A connection older than this, since it was dialled, is closed instead of used.
    pub max_age: Option<Duration>,
    /// Where the endpoints are dialled, in place of where their URLs lead; `Host`, TLS and what redirects lead to stay as they are.
    pub dial_at: Option<DialPlace>,
    /// The longest that TCP and TLS handshake together may take.
    pub dial_timeout: Duration,
    /// The longest that an answer may lie unread where nothing waits for it (in an open loop with free slots, until the next
    /// arrival); zero: every answer wakes its shard. No figure but read lag differs by it.
    pub read_within: Duration,
    /// What is sent again.
    pub resend: Resend,
    /// The largest body of an answer, in bytes; more is [`crate::FailureKind::TooLarge`].
    pub response_limit: usize,
    /// How often names are looked up again; `None`: once.
    pub resolve_every: Option<Duration>,
    /// Who allowed load on peers that are neither loopback nor private.
    pub authorized: Option<String>,
    /// Sent as `Authorization: Bearer` to these endpoints, and to no other origin.
    pub bearer: Option<Secret>,
    /// `false`: a connection for every operation.
    pub keepalive: bool,
    /// How many redirects in a row are followed; 0: a 3xx is an answer like any other.
    pub redirects: u32,
    /// The `User-Agent` of requests that have none of their own; none is sent without it.
    pub user_agent: Option<HeaderValue>,
}

/// Where endpoints are dialled, whatever their URLs say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialPlace {
    /// At a host, which is an address or a name, and a port.
    Host(String, u16),
    /// At a Unix socket of that path.
    UnixSocket(PathBuf),
}

/// Which HTTP version is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// What ALPN chooses over TLS; HTTP/1.1 without TLS.
    #[default]
    Negotiated,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2 over TLS; a server that chooses anything else is a failed dial. Without TLS as
    /// [`HttpVersion::Http2PriorKnowledge`].
    Http2,
    /// HTTP/2 without asking (RFC 9113, section 3.3), TLS or not.
    Http2PriorKnowledge,
}

impl HttpVersion {
    /// The version in which calls of gRPC are carried out, where that may be: HTTP/2 (gRPC's doc/PROTOCOL-HTTP2.md).
    pub const fn of_calls(self) -> Option<Self> {
        match self {
            Self::Negotiated | Self::Http2 => Some(Self::Http2),
            Self::Http2PriorKnowledge => Some(self),
            Self::Http1 => None,
        }
    }
}

/// What is sent again where a connection is lost, or a stream refused, before any of its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resend {
    /// What the server provably never read: its close was there before the write, a GOAWAY said so, or REFUSED_STREAM came before the
    /// first SETTINGS.
    #[default]
    Unsent,
    /// Also GET, HEAD, PUT and DELETE whose connection had been used before, and was closed within 1 ms of the write.
    Idle,
    /// Nothing.
    Never,
}

/// Why no client can be made.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Nobody to talk to.
    #[error("find an endpoint: none is given")]
    NoEndpoint,
    /// Not an absolute `http` or `https` URL.
    #[error("use {url} as an endpoint: {reason}")]
    Endpoint {
        /// The URL as given.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The process has no descriptor left for the sockets' epoll.
    #[error("open an epoll: {0}")]
    Epoll(std::io::Error),
    /// A limit of zero connections or streams.
    #[error("work with {what} of zero")]
    Zero {
        /// The key.
        what: &'static str,
    },
    /// A path that cannot be part of a URL.
    #[error("use {path:?} as a path")]
    Path {
        /// The path as given.
        path: String,
    },
    /// Roots, certificate, key or server name.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A token that cannot be a header.
    #[error(transparent)]
    Secret(#[from] crate::secret::SecretError),
}

impl ClientConfig {
    /// A client of `endpoint` with the defaults: negotiated version, round robin, 50 connections, 100 streams, 10 s to
    /// dial, 16 MiB of answer, no redirect, connections kept for as long as the server keeps them.
    pub fn new(endpoint: Uri) -> Self {
        Self {
            endpoints: vec![endpoint],
            balancing: Balancing::RoundRobin,
            seed: 0,
            version: HttpVersion::Negotiated,
            tls: TlsConfig::default(),
            connections: 50,
            per_address: None,
            streams: 100,
            max_idle: None,
            max_age: None,
            dial_at: None,
            dial_timeout: Duration::from_secs(10),
            read_within: Duration::from_millis(10),
            resend: Resend::Unsent,
            response_limit: 16 << 20,
            resolve_every: None,
            authorized: None,
            bearer: None,
            keepalive: true,
            redirects: 0,
            user_agent: None,
        }
    }

    /// Finds what would keep a client from being made, and reads the files of TLS where one is given or `https` is spoken.
    ///
    /// # Errors
    /// As [`crate::Client::new`].
    pub fn check(&self) -> Result<(), ConfigError> {
        self.validate()?;
        let over_tls = self.endpoints.iter().any(|url| url.scheme_str() == Some("https"));
        if over_tls || self.tls != TlsConfig::default() {
            tls::client_config(&self.tls, self.version)?;
        }
        Ok(())
    }

    /// The most connections of HTTP/2 to an endpoint.
    pub(crate) fn http2_connections(&self) -> usize {
        self.per_address.unwrap_or(self.connections)
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if self.connections == 0 {
            return Err(ConfigError::Zero { what: "connections" });
        }
        if self.streams == 0 {
            return Err(ConfigError::Zero { what: "streams" });
        }
        if self.per_address == Some(0) {
            return Err(ConfigError::Zero { what: "per_address" });
        }
        if let Some(name) = &self.tls.server_name {
            tls::server_name(name)?;
        }
        let first = self.endpoints.first().ok_or(ConfigError::NoEndpoint)?;
        let refused = |url: &Uri, reason| Err(ConfigError::Endpoint { url: url.to_string(), reason });
        for url in &self.endpoints {
            if !matches!(url.scheme_str(), Some("http" | "https")) {
                return refused(url, "it is neither http nor https");
            }
            if url.authority().is_none_or(|authority| authority.as_str().contains('@')) {
                return refused(url, "user and password do not belong into it");
            }
            if !url.authority().is_some_and(has_usable_port) {
                return refused(url, "its port is no number from 1 to 65535");
            }
            if url.query().is_some() {
                return refused(url, "an endpoint has no query");
            }
            if url.path().trim_end_matches('/') != first.path().trim_end_matches('/') {
                return refused(url, "its path differs from the first endpoint's");
            }
        }
        Ok(())
    }
}

/// Whether there is a port that can be dialled, or none, for which the scheme has one.
pub(crate) fn has_usable_port(authority: &Authority) -> bool {
    let port = authority.as_str().strip_prefix(authority.host()).unwrap_or_default();
    matches!(port, "" | ":") || authority.port_u16().is_some()
}
