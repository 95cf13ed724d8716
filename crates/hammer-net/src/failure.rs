//! How an operation failed below the protocol. A failure is a measurement; it never ends a run.

use std::error::Error;
use std::fs::File;
use std::io;
use std::net::SocketAddr;

use hammer_measure::{Detail, Outcome};

use crate::config::ConfigError;
use crate::request::NotTaken;
use crate::tls_fault::{self, of_tls};

/// Why there is no whole answer.
#[derive(Debug, thiserror::Error)]
#[error("{detail}")]
pub struct Failure {
    /// The cause by which failures are counted.
    pub kind: FailureKind,
    /// Completes "failed to ..." and names host, address or limit.
    pub detail: Box<str>,
    /// The first bytes of what came in place of an answer. They may repeat secrets of the request, and are in no text of the failure.
    pub seen: Option<Box<[u8]>>,
}

/// The causes of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The name could not be looked up.
    Dns,
    /// The guard refused the peer; nothing was dialled.
    Unauthorized,
    /// TCP could not be connected, but by what follows.
    Dial,
    /// Nobody listens there.
    DialRefused,
    /// TCP and TLS handshake took longer than the dial timeout.
    DialTimeout,
    /// This process has no descriptor left: the generator's own fault, which its health looks for by name.
    DescriptorsExhausted,
    /// This machine has no local port left: likewise.
    PortsExhausted,
    /// The TLS handshake failed, or the peer refused it afterwards.
    Tls,
    /// The peer's certificate leads to no root that is trusted.
    UntrustedCertificate,
    /// The peer's certificate is one of another name.
    CertificateOfAnotherName,
    /// The peer's certificate has expired, or is not valid yet.
    CertificateOutOfTime,
    /// What the peer answered the TLS handshake with is none of TLS.
    NoTls,
    /// The peer closed the connection in the TLS handshake without a word, as many do that do not speak it.
    TlsClosed,
    /// The peer reset the connection in the TLS handshake, as one does that closes it with bytes unread.
    TlsReset,
    /// The peer speaks TLS where nobody asked for it.
    SpeaksTls,
    /// The peer reset the connection before any byte of the answer.
    Reset,
    /// The peer reset the stream (RFC 9113, section 6.4) before any byte of the answer; its connection goes on.
    StreamReset,
    /// The peer closed the connection before any byte of the answer.
    Closed,
    /// The connection or the stream ended within an answer.
    Truncated,
    /// The peer refused a stream (RFC 9113, section 8.7) within the number that it allows: it has too much to do.
    RefusedStream,
    /// What the peer sent is no HTTP.
    Protocol,
    /// The answer is larger than the limit.
    TooLarge,
    /// The answer is to go to a file, and there is no room or right for one: the generator's own fault.
    Unkept,
    /// The answer has a content encoding that nobody asked for, and that cannot be decoded.
    Encoding,
    /// A redirect that cannot be followed: no `Location`, one that is no URL or has a user, or too many in a row.
    Redirect,
    /// The request cannot be put into bytes.
    Request,
}

impl FailureKind {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dns => "name not found",
            Self::Unauthorized => "peer not authorized",
            Self::Dial => "dial failed",
            Self::DialRefused => "connection refused",
            Self::DialTimeout => "dial timed out",
            Self::DescriptorsExhausted => "descriptors exhausted",
            Self::PortsExhausted => "local ports exhausted",
            Self::Tls => "tls failed",
            Self::UntrustedCertificate => "server certificate not trusted",
            Self::CertificateOfAnotherName => "server certificate of another name",
            Self::CertificateOutOfTime => "server certificate expired or not yet valid",
            Self::NoTls => "server does not speak tls",
            Self::TlsClosed => "closed in tls handshake",
            Self::TlsReset => "reset in tls handshake",
            Self::SpeaksTls => "server speaks tls",
            Self::Reset => "connection reset",
            Self::StreamReset => "stream reset",
            Self::Closed => "connection closed",
            Self::Truncated => "truncated",
            Self::RefusedStream => "stream refused",
            Self::Protocol => "protocol error",
            Self::TooLarge => "answer too large",
            Self::Unkept => "no room for the answer",
            Self::Encoding => "content encoding not decoded",
            Self::Redirect => "redirect not followed",
            Self::Request => "request not sendable",
        }
    }

    /// Whether there was no connection at all.
    pub const fn is_of_dial(self) -> bool {
        matches!(
            self,
            Self::Unauthorized
                | Self::Dial
                | Self::DialRefused
                | Self::DialTimeout
                | Self::Tls
                | Self::UntrustedCertificate
                | Self::CertificateOfAnotherName
                | Self::CertificateOutOfTime
                | Self::NoTls
                | Self::TlsClosed
                | Self::TlsReset
        )
    }

    /// Malformed where there was an answer that cannot be understood, pushback where the server declined to give one, else
    /// unreachable.
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::RefusedStream => Outcome::Pushback,
            Self::SpeaksTls
            | Self::Truncated
            | Self::Protocol
            | Self::TooLarge
            | Self::Encoding
            | Self::Redirect => Outcome::Malformed,
            _ => Outcome::Unreachable,
        }
    }
}

impl From<FailureKind> for Detail {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::DescriptorsExhausted => Self::DESCRIPTORS_EXHAUSTED,
            FailureKind::PortsExhausted => Self::PORTS_EXHAUSTED,
            FailureKind::Unkept => Self::FILES_EXHAUSTED,
            _ => Self::Failure(kind.name()),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::new(FailureKind::Request, error.to_string())
    }
}

impl Failure {
    /// A failure of that cause, of which nothing was seen.
    pub fn new(kind: FailureKind, detail: impl Into<Box<str>>) -> Self {
        Self { kind, detail: detail.into(), seen: None }
    }

    /// A failure of an established connection to `host`, told by the innermost cause that says something.
    #[cold]
    pub(crate) fn of_exchange(host: &str, error: &(dyn Error + 'static), fallback: FailureKind) -> Self {
        let kind = chain(error).find_map(kind_of).unwrap_or(fallback);
        let told = chain(error).map(words).collect::<Vec<_>>().join(": ");
        Self::new(kind, format!("get an answer from {host}: {told}"))
    }

    /// A failed look-up of `host`.
    #[cold]
    pub(crate) fn of_look_up(host: &str, error: &io::Error) -> Self {
        // A resolver that can open no file or socket says that the name is not known.
        let kind = look_up_kind(error, || File::open("/").err());
        let told = error.to_string();
        // Said by the standard library of each, before what the resolver says.
        let told = told.strip_prefix("failed to lookup address information: ").unwrap_or(&told);
        Self::new(kind, format!("look up {host}: {told}"))
    }

    /// A failed `connect` to an address of `host`, which may be that address itself.
    #[cold]
    pub(crate) fn of_dial(host: &str, place: &str, error: &io::Error) -> Self {
        let kind = exhausted(error).unwrap_or(match error.kind() {
            io::ErrorKind::ConnectionRefused => FailureKind::DialRefused,
            _ => FailureKind::Dial,
        });
        let is_the_host = place.parse().is_ok_and(|addr: SocketAddr| host.parse() == Ok(addr.ip()));
        let detail = if is_the_host {
            format!("connect to {place}: {error}")
        } else {
            format!("connect to {host} at {place}: {error}")
        };
        Self::new(kind, detail)
    }
}

#[cold]
pub(crate) fn not_taken(host: &str, why: &NotTaken) -> Failure {
    Failure::new(why.kind(), format!("take the answer from {host}: {why}"))
}

/// The pools' queues are never closed; this stands where the type asks for an error.
#[cold]
pub(crate) fn closed() -> Failure {
    Failure::new(FailureKind::Closed, "use a closed client")
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// What an error says, by the names that standards have for it.
pub(crate) fn words(error: &(dyn Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref::<h2::Error>() {
        return words_of_h2(error);
    }
    let of_tls = error.downcast_ref().and_then(of_tls);
    of_tls.map_or_else(|| words_of_text(error), |fault| tls_fault::words(fault).into_owned())
}

/// What an error says of which only its text is known.
fn words_of_text(error: &(dyn Error + 'static)) -> String {
    let told = error.to_string();
    tls_fault::words_of_text(&told).unwrap_or(told)
}

/// With the name and the number of its code (RFC 9113, section 7), and of the frame that it came in.
fn words_of_h2(error: &h2::Error) -> String {
    let Some(reason) = error.reason() else {
        // It keeps of an I/O error no more than its text.
        return if is_end(error) { CLOSED_BY_SERVER.to_owned() } else { words_of_text(error) };
    };
    let code = h2_code(reason);
    let started = match (error.is_remote(), error.is_go_away()) {
        (true, true) => format!("the server sent GOAWAY with {code}"),
        (true, false) if error.is_reset() => format!("the server sent RST_STREAM with {code}"),
        // What is of HTTP/1.1 there reads as a frame of five megabytes.
        (false, _) if error.is_library() && reason == h2::Reason::FRAME_SIZE_ERROR => {
            format!("what the server sent breaks HTTP/2 with {code}: does it speak it there?")
        }
        (false, _) if is_bound(error) => {
            format!("hammer takes no more of that, and ended the connection with {code}")
        }
        (false, _) if error.is_library() => format!("what the server sent breaks HTTP/2 with {code}"),
        _ => code,
    };
    // Behind what h2 says of the code stands what the server sent along.
    let told = error.to_string();
    started + told.split_once(reason.description()).map_or("", |(_, sent_along)| sent_along)
}

/// Whether h2 ended the connection by a bound of its own: on frames without content, or on those that a head is cut into. The server may have
/// kept to all rules.
fn is_bound(error: &h2::Error) -> bool {
    let is_calm = error.is_library() && error.reason() == Some(h2::Reason::ENHANCE_YOUR_CALM);
    is_calm
        && ["too_many_data_frames", "too_many_continuations"]
            .iter()
            .any(|bound| error.to_string().contains(bound))
}

/// The name of a code with its number; the number alone where that has no name.
fn h2_code(reason: h2::Reason) -> String {
    let (name, number) = (format!("{reason:?}"), u32::from(reason));
    if name.contains('(') {
        format!("the code {number} (0x{number:x}), which has no name")
    } else {
        format!("{name} ({number})")
    }
}

/// Whether it is h2's own word for the end of what the peer sends; a broken pipe of the kernel's has no text beside its kind.
fn is_end(error: &h2::Error) -> bool {
    error.get_io().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe && io.get_ref().is_some())
}

fn kind_of(error: &(dyn Error + 'static)) -> Option<FailureKind> {
    if let Some(io) = error.downcast_ref::<io::Error>() {
        return kind_of_io(io);
    }
    error.downcast_ref::<h2::Error>().and_then(kind_of_h2)
}

fn kind_of_io(error: &io::Error) -> Option<FailureKind> {
    if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<rustls::Error>) {
        return Some(FailureKind::Tls);
    }
    match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted => {
            Some(FailureKind::Reset)
        }
        io::ErrorKind::UnexpectedEof | io::ErrorKind::NotConnected => Some(FailureKind::Closed),
        _ => None,
    }
}

pub(crate) fn kind_of_h2(error: &h2::Error) -> Option<FailureKind> {
    if is_end(error) {
        return Some(FailureKind::Closed);
    }
    if let Some(io) = error.get_io() {
        // h2 keeps kind and text of an I/O error and not its source; this kind is rustls's.
        let is_of_tls = io.kind() == io::ErrorKind::InvalidData;
        // It has no kind for what ends within a frame.
        return kind_of_io(io).or(Some(if is_of_tls { FailureKind::Tls } else { FailureKind::Closed }));
    }
    if error.is_go_away() && error.is_remote() {
        return Some(FailureKind::Closed);
    }
    if error.is_reset() && error.is_remote() {
        let is_refused = error.reason() == Some(h2::Reason::REFUSED_STREAM);
        return Some(if is_refused { FailureKind::RefusedStream } else { FailureKind::StreamReset });
    }
    let is_broken = error.reason().is_some();
    is_broken.then_some(if is_bound(error) { FailureKind::TooLarge } else { FailureKind::Protocol })
}

/// What a look-up failed by, where opening anything at all fails as `probe` says.
fn look_up_kind(error: &io::Error, probe: impl FnOnce() -> Option<io::Error>) -> FailureKind {
    let is_of_descriptors = |kind: &FailureKind| *kind == FailureKind::DescriptorsExhausted;
    let told = exhausted(error).or_else(|| exhausted(&probe()?));
    told.filter(is_of_descriptors).unwrap_or(FailureKind::Dns)
}

fn exhausted(error: &io::Error) -> Option<FailureKind> {
    match error.raw_os_error() {
        Some(ENFILE | EMFILE) => Some(FailureKind::DescriptorsExhausted),
        _ if error.kind() == io::ErrorKind::AddrNotAvailable => Some(FailureKind::PortsExhausted),
        _ => None,
    }
}

const CLOSED_BY_SERVER: &str = "the server closed the connection";
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_out_is_named_as_health_looks_for_it() {
        for (code, detail) in [
            (EMFILE, Detail::DESCRIPTORS_EXHAUSTED),
            (ENFILE, Detail::DESCRIPTORS_EXHAUSTED),
            (EADDRNOTAVAIL, Detail::PORTS_EXHAUSTED),
        ] {
            let failure = Failure::of_dial("peer", PEER, &io::Error::from_raw_os_error(code));
            assert_eq!(Detail::from(failure.kind), detail);
            assert_eq!(detail.to_string(), failure.kind.name());
            assert_eq!(failure.kind.outcome(), Outcome::Unreachable);
        }
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert_eq!(Failure::of_dial("peer", PEER, &refused).kind, FailureKind::DialRefused);
        let unreachable = io::Error::from(io::ErrorKind::HostUnreachable);
        assert_eq!(Failure::of_dial("peer", PEER, &unreachable).kind, FailureKind::Dial);
    }

    #[test]
    fn a_look_up_that_lacked_a_descriptor_is_told_as_that_and_not_as_a_name_that_is_not_known() {
        let unknown = io::Error::other("failed to lookup address information: Name or service not known");
        let kind = |probe: Option<i32>| look_up_kind(&unknown, || probe.map(io::Error::from_raw_os_error));
        assert_eq!(kind(None), FailureKind::Dns);
        assert_eq!(kind(Some(EMFILE)), FailureKind::DescriptorsExhausted);
        assert_eq!(kind(Some(EADDRNOTAVAIL)), FailureKind::Dns);
        let told = io::Error::from_raw_os_error(ENFILE);
        assert_eq!(look_up_kind(&told, || None), FailureKind::DescriptorsExhausted);
        assert_eq!(Failure::of_look_up("nowhere.invalid", &unknown).kind, FailureKind::Dns);
    }

    #[test]
    fn a_code_of_http_2_has_its_name_and_its_number() {
        for (code, told) in [
            (0, "NO_ERROR (0)"),
            (11, "ENHANCE_YOUR_CALM (11)"),
            (0x1234, "the code 4660 (0x1234), which has no name"),
        ] {
            assert_eq!(h2_code(h2::Reason::from(code)), told);
        }
    }

    const EADDRNOTAVAIL: i32 = 99;
    const PEER: &str = "127.0.0.1:1";
}
