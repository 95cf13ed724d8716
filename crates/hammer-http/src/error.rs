//! Why a request cannot be built.

use std::path::PathBuf;

use hammer_exchange::token::TokenError;
use hammer_net::ConfigError;

/// A fragment that completes "failed to ...". No variant carries a token.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Not a method.
    #[error("use {method:?} as a method")]
    Method {
        /// The method as given.
        method: String,
    },
    /// Not a header.
    #[error("use {name:?} as a header: {reason}")]
    Header {
        /// The header's name as given; its value may be a secret.
        name: String,
        /// Whether name or value is at fault.
        reason: &'static str,
    },
    /// Not an absolute URL.
    #[error("use {url:?} as a URL: {reason}")]
    Url {
        /// The URL as given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The body's file cannot be read.
    #[error("read a body from {path}: {source}")]
    Body {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Two keys of which only one may be given.
    #[error("use both {one} and {other}: only one may be given")]
    Both {
        /// A key.
        one: &'static str,
        /// The other key.
        other: &'static str,
    },
    /// No such status.
    #[error("expect status {status}: it is not between 100 and 599")]
    Status {
        /// The status as given.
        status: u16,
    },
    /// The token cannot be had.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The client cannot be made, or the path is none.
    #[error(transparent)]
    Client(#[from] ConfigError),
}
