//! Services as a run reaches them.

use std::net::ToSocketAddrs as _;

use hammer_net::guard;
use http::Uri;

use crate::error::TargetError;

/// A service that was found or started, and that any HTTP request may be sent to.
#[derive(Clone, Debug)]
pub(crate) struct OpenService {
    /// Its name in the plan, where it has one.
    pub(crate) name: Option<String>,
    /// Where it is, by one URL or several.
    pub(crate) endpoints: Vec<Uri>,
}

/// Names the service that nobody allowed before anything is dialled; every later connection is held against the same
/// rule. A name that cannot be looked up now is left to the run, which counts it.
///
/// # Errors
/// When a service is neither loopback nor private, and nobody is named who allowed it.
pub(crate) fn permitted<'a>(
    endpoints: impl IntoIterator<Item = &'a Uri>,
    authorized: Option<&str>,
) -> Result<(), TargetError> {
    for endpoint in endpoints {
        let Some(host) = endpoint.host() else { continue };
        let port =
            endpoint.port_u16().unwrap_or(if endpoint.scheme_str() == Some("https") { 443 } else { 80 });
        let Ok(addresses) = (host.trim_matches(['[', ']']), port).to_socket_addrs() else { continue };
        for address in addresses {
            guard::check(host, address, authorized)?;
        }
    }
    Ok(())
}
