//! Why a target cannot be loaded.

use hammer_ct::CtError;
use hammer_net::ConfigError;
use hammer_net::guard::Unauthorized;

/// A fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    /// Nobody allowed it.
    #[error(transparent)]
    Unauthorized(#[from] Unauthorized),
    /// Whoever has the key of two logs cannot tell their promises apart.
    #[error(
        "tell the logs {one} and {other} apart: they have the same key, so they are one log, which may have several URLs"
    )]
    SameKey { one: String, other: String },
    /// A log that a command line names.
    #[error(transparent)]
    Log(#[from] CtError),
    /// The connections to it.
    #[error(transparent)]
    Client(#[from] ConfigError),
}
