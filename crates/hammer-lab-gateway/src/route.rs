//! Which part of the gateway a path leads to.

/// A way through the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hop {
    /// To the backend alone.
    Backend,
    /// Through the validation of the token.
    Authenticated,
    /// Through validation and authorization.
    Authorized,
}

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// To the backend by a hop: the prefix that names the hop, and the path behind it.
    Hop { hop: Hop, prefix: &'a str, path: &'a str },
    /// To the token endpoint.
    Token,
    /// To the document that names it.
    Discovery,
    /// To its key.
    Jwks,
    /// To the counts.
    Stats,
}

impl<'a> Route<'a> {
    pub(crate) fn of(path: &'a str) -> Self {
        match path {
            TOKEN_PATH => return Self::Token,
            "/.well-known/openid-configuration" => return Self::Discovery,
            JWKS_PATH => return Self::Jwks,
            "/stats" => return Self::Stats,
            _ => {}
        }
        for (hop, prefix) in [(Hop::Backend, "/hops/backend"), (Hop::Authenticated, "/hops/authenticated")] {
            match path.strip_prefix(prefix) {
                Some("") => return Self::Hop { hop, prefix, path: "/" },
                Some(behind) if behind.starts_with('/') => return Self::Hop { hop, prefix, path: behind },
                _ => {}
            }
        }
        Self::Hop { hop: Hop::Authorized, prefix: "", path }
    }

    /// The name under which it is counted and meets faults: one of [`ENDPOINTS`].
    pub(crate) fn endpoint(self) -> &'static str {
        match self {
            Self::Hop { hop: Hop::Backend, .. } => "backend",
            Self::Hop { hop: Hop::Authenticated, .. } => "authenticated",
            Self::Hop { hop: Hop::Authorized, .. } => "authorized",
            Self::Token => "token",
            Self::Discovery => "discovery",
            Self::Jwks => "jwks",
            Self::Stats => "stats",
        }
    }
}

/// Every name that [`Route::endpoint`] gives.
pub(crate) const ENDPOINTS: &[&str] =
    &["backend", "authenticated", "authorized", "token", "discovery", "jwks", "stats"];
/// The path of the token endpoint.
pub const TOKEN_PATH: &str = "/oauth/token";
pub(crate) const JWKS_PATH: &str = "/jwks";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_is_reached_by_its_prefix_and_the_whole_way_by_all_else() {
        let of = |path| match Route::of(path) {
            Route::Hop { hop, prefix, path } => (hop, prefix, path),
            other => panic!("{other:?}"),
        };
        assert_eq!(of("/hops/backend/echo/a"), (Hop::Backend, "/hops/backend", "/echo/a"));
        assert_eq!(of("/hops/backend"), (Hop::Backend, "/hops/backend", "/"));
        assert_eq!(of("/hops/authenticated/"), (Hop::Authenticated, "/hops/authenticated", "/"));
        for path in ["/", "/hops/backends", "/oauth/tokens", "/jwks/", "/stats/a"] {
            assert_eq!(of(path), (Hop::Authorized, "", path));
        }
    }

    #[test]
    fn every_route_has_a_name_that_is_listed() {
        let paths = ["/hops/backend/", "/hops/authenticated/", "/", "/oauth/token"];
        let others = ["/.well-known/openid-configuration", "/jwks", "/stats"];
        let named: Vec<_> = paths.into_iter().chain(others).map(|path| Route::of(path).endpoint()).collect();
        assert_eq!(named, ENDPOINTS);
    }
}
