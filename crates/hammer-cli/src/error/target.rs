//! Why a target cannot be loaded.

use std::error::Error as StdError;

use hammer_measure::Nanos;
use hammer_net::ConfigError;
use hammer_net::guard::Unauthorized;

/// A fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    /// Nobody allowed it.
    #[error(transparent)]
    Unauthorized(#[from] Unauthorized),
    /// It did not become ready in time.
    #[error("start the load: {endpoint} was not ready within {timeout}; seen last: {said}")]
    NotReady { endpoint: String, said: String, timeout: Nanos },
    /// Something that its protocol says.
    #[error(transparent)]
    OfProtocol(Box<dyn StdError + Send + Sync>),
    /// The connections to it.
    #[error(transparent)]
    Client(#[from] ConfigError),
}

impl TargetError {
    /// What its protocol failed to do: a fragment that completes "failed to ...".
    pub(crate) fn failed(error: impl StdError + Send + Sync + 'static) -> Self {
        Self::OfProtocol(Box::new(error))
    }
}
