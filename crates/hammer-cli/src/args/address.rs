//! Addresses to listen on.

use std::net::SocketAddr;

/// Reads an address to listen on.
///
/// # Errors
/// A clause that says what is expected, where the text is no address with a port.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| match text.strip_prefix("localhost:") {
        Some(port) => format!("{EXPECTED}; this machine is 127.0.0.1:{port}"),
        None => EXPECTED.to_owned(),
    })
}

/// What stands in the place of what is none.
pub(crate) const EXPECTED: &str =
    "expected an IP address and a port, like 127.0.0.1:9090 or [::1]:9090; port 0 is whichever is free";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_port_that_is_none_are_refused_with_what_is_expected() {
        assert_eq!(listen_address("[::1]:0").unwrap().port(), 0);
        for text in ["localhost:0", "127.0.0.1", "127.0.0.1:99999", ":80", ""] {
            assert!(listen_address(text).unwrap_err().starts_with(EXPECTED), "{text}");
        }
        assert!(listen_address("localhost:80").unwrap_err().ends_with("127.0.0.1:80"));
    }
}
