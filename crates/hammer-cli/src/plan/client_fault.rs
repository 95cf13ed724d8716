//! What keeps the clients of a target from being made, at the key at fault.

use hammer_net::{ConfigError, TlsError};

use super::error::{PlanError, PlanFault};
use super::path::PlanPath;
use super::target::{ServicePlan, TargetPlan, TlsPlan};

/// Why no client of that service of the target can be made.
pub(crate) fn unusable(target: &TargetPlan, service: Option<&str>, error: ConfigError) -> PlanError {
    let named = service.and_then(|name| Some((name, target.services.get(name)?)));
    let at = PlanPath::of("target");
    let (at, tls) = match named {
        Some((name, ServicePlan { tls: Some(tls), .. })) => (at.key("services").key(name), tls),
        _ => (at, &target.tls),
    };
    let at = match &error {
        ConfigError::Tls(error) => at.key("tls").keys(&key_of(error, tls)),
        ConfigError::Endpoint { .. } if target.unnamed.keys().any(|key| key == "url") => at.key("url"),
        _ => at,
    };
    PlanFault::from(error).at(at)
}

/// The key that an error of TLS is of.
fn key_of(error: &TlsError, tls: &TlsPlan) -> String {
    let key = match error {
        TlsError::File { what: "a key", .. } => "key",
        TlsError::File { path, .. } if tls.certificate.as_ref() == Some(path) => "certificate",
        TlsError::File { path, .. } if tls.key.as_ref() == Some(path) => "key",
        TlsError::File { path, .. } => match tls.roots.iter().position(|root| root == path) {
            Some(place) => return format!("roots[{place}]"),
            None => "roots",
        },
        TlsError::Half { .. } if tls.key.is_some() => "key",
        TlsError::Half { .. } | TlsError::Identity { .. } => "certificate",
        TlsError::ServerName { .. } => "server_name",
        TlsError::Provider { .. } => "roots",
    };
    key.to_owned()
}
