//! From a URL to the addresses behind it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use http::HeaderValue;
use http::uri::{Authority, Scheme};
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

use crate::config::DialPlace;
use crate::failure::{Failure, FailureKind};
use crate::tls::TlsError;

/// Scheme, host and port (RFC 6454), and what a connection to it needs to know.
pub(crate) struct Origin {
    pub(crate) scheme: Scheme,
    pub(crate) authority: Authority,
    pub(crate) host_header: HeaderValue,
    pub(crate) tls: Option<(TlsConnector, ServerName<'static>)>,
    host: Box<str>,
    port: u16,
    /// Where it is dialled, where that is another place.
    place: Option<DialPlace>,
}

impl Origin {
    pub(crate) fn new(
        scheme: Scheme,
        authority: Authority,
        tls: impl FnOnce(&str) -> Result<(TlsConnector, ServerName<'static>), TlsError>,
    ) -> Result<Self, TlsError> {
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        Ok(Self {
            host: host.into(),
            port: port(&scheme, &authority),
            place: None,
            tls: if scheme == Scheme::HTTPS { Some(tls(host)?) } else { None },
            // An authority is visible ASCII.
            host_header: HeaderValue::from_str(authority.as_str()).unwrap_or(HeaderValue::from_static("")),
            scheme,
            authority,
        })
    }

    /// The same that is dialled there.
    pub(crate) fn dialled_at(self, place: Option<DialPlace>) -> Self {
        Self { place, ..self }
    }

    /// The host whose address is dialled.
    pub(crate) fn host(&self) -> &str {
        match &self.place {
            Some(DialPlace::Host(host, _)) => host,
            _ => &self.host,
        }
    }

    /// The Unix socket that is dialled in place of an address.
    pub(crate) fn unix_socket(&self) -> Option<&Path> {
        match &self.place {
            Some(DialPlace::UnixSocket(path)) => Some(path),
            _ => None,
        }
    }

    pub(crate) fn is(&self, scheme: &Scheme, authority: &Authority) -> bool {
        let is_same_host = || self.authority.host().eq_ignore_ascii_case(authority.host());
        self.scheme == *scheme && self.port == port(scheme, authority) && is_same_host()
    }

    /// The address that is dialled, when it takes no look-up.
    pub(crate) fn literal(&self) -> Option<SocketAddr> {
        let port = match &self.place {
            Some(DialPlace::UnixSocket(_)) => return Some(NO_ADDRESS),
            Some(DialPlace::Host(_, port)) => *port,
            None => self.port,
        };
        self.host().parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, port))
    }

    /// Host and port, and the address or socket where it differs.
    pub(crate) fn name_at(&self, addr: Option<SocketAddr>) -> String {
        if let Some(path) = self.unix_socket() {
            return format!("{} at {}", self.authority, path.display());
        }
        match (self.literal().filter(|_| self.place.is_none()), addr) {
            (None, Some(addr)) => format!("{} at {addr}", self.authority),
            _ => self.authority.to_string(),
        }
    }

    /// The endpoints behind the host, each by its addresses.
    pub(crate) async fn look_up(&self) -> Result<Vec<Vec<SocketAddr>>, Failure> {
        if let Some(addr) = self.literal() {
            return Ok(vec![vec![addr]]);
        }
        let port = if let Some(DialPlace::Host(_, port)) = self.place { port } else { self.port };
        let host = self.host();
        let found = tokio::net::lookup_host((host, port));
        let found = found.await.map_err(|error| Failure::of_look_up(host, &error))?;
        let endpoints = pair(found);
        if endpoints.is_empty() {
            let detail = format!("look up {host}: it has no address");
            return Err(Failure::new(FailureKind::Dns, detail));
        }
        Ok(endpoints)
    }
}

/// The address, where a peer has it: there is none behind a Unix socket.
pub(crate) fn address_of_peer(addr: SocketAddr) -> Option<SocketAddr> {
    (addr != NO_ADDRESS).then_some(addr)
}

/// What stands for the address of a Unix socket in figures of peers: nobody has it.
const NO_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// The port of `authority`, or else that of the scheme (RFC 9110, section 4.2).
fn port(scheme: &Scheme, authority: &Authority) -> u16 {
    authority.port_u16().unwrap_or(if *scheme == Scheme::HTTPS { 443 } else { 80 })
}

/// The n-th IPv4 and the n-th IPv6 address of a name are taken for one endpoint, reached by whichever answers: most
/// names have one of each for the same server (`localhost`), which often listens on one only.
fn pair(addresses: impl Iterator<Item = SocketAddr>) -> Vec<Vec<SocketAddr>> {
    let mut endpoints: Vec<Vec<SocketAddr>> = Vec::new();
    for addr in addresses {
        if endpoints.iter().flatten().any(|known| *known == addr) {
            continue;
        }
        let is_same_family = |known: &SocketAddr| known.is_ipv4() == addr.is_ipv4();
        match endpoints.iter_mut().find(|endpoint| !endpoint.iter().any(is_same_family)) {
            Some(endpoint) => endpoint.push(addr),
            None => endpoints.push(vec![addr]),
        }
    }
    endpoints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(addresses: &[&str]) -> Vec<Vec<SocketAddr>> {
        pair(addresses.iter().map(|text| text.parse().unwrap()))
    }

    fn origin(url: &str) -> Origin {
        let parts = url.parse::<http::Uri>().unwrap().into_parts();
        Origin::new(parts.scheme.unwrap(), parts.authority.unwrap(), |_| unreachable!()).unwrap()
    }

    #[test]
    fn several_addresses_of_a_family_are_several_endpoints() {
        assert_eq!(paired(&["10.0.0.1:80", "10.0.0.2:80", "10.0.0.1:80"]).len(), 2);
    }

    #[test]
    fn the_two_families_of_a_host_are_one_endpoint() {
        let endpoints = paired(&["[::1]:80", "127.0.0.1:80"]);
        assert_eq!(endpoints.len(), 1);
        assert_eq!(endpoints[0].len(), 2);
        assert_eq!(paired(&["[fd00::1]:80", "[fd00::2]:80", "10.0.0.1:80"]).len(), 2);
    }

    #[test]
    fn an_origin_is_told_by_scheme_host_and_port_however_they_are_written() {
        for (written, same) in [
            ("http://Log.example", true),
            ("http://log.example:80", true),
            ("http://log.example:", true),
            ("http://log.example:81", false),
            ("http://other.example", false),
            ("https://log.example:80", false),
        ] {
            let url = written.parse::<http::Uri>().unwrap().into_parts();
            let here = origin("http://log.example");
            assert_eq!(here.is(&url.scheme.unwrap(), &url.authority.unwrap()), same, "{written}");
        }
    }

    #[test]
    fn literal_addresses_need_no_look_up() {
        assert_eq!(origin("http://127.0.0.1:81").literal(), Some("127.0.0.1:81".parse().unwrap()));
        assert_eq!(origin("http://[::1]").literal(), Some("[::1]:80".parse().unwrap()));
        assert_eq!(origin("http://localhost").literal(), None);
    }
}
