//! Why a target cannot be loaded.

use std::error::Error as StdError;

use hammer_measure::Nanos;
use hammer_net::ConfigError;
use hammer_net::guard::Unauthorized;
use http::Uri;

/// A fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    /// Nobody allowed it.
    #[error(transparent)]
    Unauthorized(#[from] Unauthorized),
    /// It did not become ready in time.
    #[error("start the load: {endpoint} was not ready within {timeout}; seen last: {said}")]
    NotReady { endpoint: String, said: String, timeout: Nanos },
    /// The link to it was not measured.
    #[error("measure the link by {method} {url}: {why}")]
    Link { method: String, url: String, why: String },
    /// Something that its protocol says.
    #[error(transparent)]
    OfProtocol(Box<dyn StdError + Send + Sync>),
    /// The connections to it.
    #[error(transparent)]
    Client(#[from] ConfigError),
}

impl TargetError {
    /// Why an exchange that the link is measured by says nothing of it; a sentence without its full stop.
    pub(crate) fn link(method: &str, url: &Uri, why: &str) -> Self {
        Self::Link { method: method.to_owned(), url: url.to_string(), why: why.to_owned() }
    }

    /// What its protocol failed to do: a fragment that completes "failed to ...".
    pub(crate) fn failed(error: impl StdError + Send + Sync + 'static) -> Self {
        Self::OfProtocol(Box::new(error))
    }
}
