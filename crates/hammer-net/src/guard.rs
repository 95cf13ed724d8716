//! Load goes to loopback and private addresses only, unless somebody allowed more.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A peer that nobody allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "dial {host} at {addr}: it is neither a loopback nor a private address; \
     target.authorized (--authorized on a command line) must say who allowed load on it"
)]
pub struct Unauthorized {
    /// The name or address that was asked for.
    pub host: String,
    /// What it resolved to.
    pub addr: SocketAddr,
}

/// Lets `addr` pass when it is loopback or private (RFC 1918; RFC 4193, fc00::/7), or when `authorized` names who
/// allowed anything else. Called with the resolved address of every connection, before it is dialled.
pub fn check(host: &str, addr: SocketAddr, authorized: Option<&str>) -> Result<(), Unauthorized> {
    if authorized.is_some_and(|by| !by.trim().is_empty()) || is_near(addr.ip()) {
        return Ok(());
    }
    Err(Unauthorized { host: host.to_owned(), addr })
}

fn is_near(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_near_v4(ip),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local(),
    }
}

fn is_near_v4(ip: Ipv4Addr) -> bool {
    ip.is_loopback() || ip.is_private()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(ip: &str, authorized: Option<&str>) -> bool {
        check("peer", SocketAddr::new(ip.parse().unwrap(), 443), authorized).is_ok()
    }

    #[test]
    fn loopback_and_private_peers_pass() {
        for ip in [
            "127.0.0.1",
            "127.255.255.254",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "::1",
            "fc00::1",
            "fdff::1",
            "::ffff:127.0.0.1",
            "::ffff:10.1.1.1",
        ] {
            assert!(passes(ip, None), "{ip}");
        }
    }

    #[test]
    fn every_other_peer_is_refused() {
        for ip in [
            "8.8.8.8",
            "172.15.255.255",
            "172.32.0.1",
            "192.169.0.1",
            "11.0.0.1",
            "100.64.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "2001:4860:4860::8888",
            "fe80::1",
            "fe00::1",
            "::",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
        ] {
            assert!(!passes(ip, None), "{ip}");
        }
    }

    #[test]
    fn a_named_permission_lets_every_peer_pass_and_an_empty_one_does_not() {
        assert!(passes("8.8.8.8", Some("ops@example.org, ticket 7")));
        assert!(!passes("8.8.8.8", Some(" ")));
    }

    #[test]
    fn a_refusal_names_host_and_address() {
        let refused = check("ct.example.org", "8.8.8.8:443".parse().unwrap(), None).unwrap_err();
        assert!(refused.to_string().starts_with("dial ct.example.org at 8.8.8.8:443: "), "{refused}");
    }
}
