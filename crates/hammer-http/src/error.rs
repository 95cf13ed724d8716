//! Why a request cannot be built.

use std::path::PathBuf;

use hammer_exchange::token::TokenError;
use hammer_net::ConfigError;
use hammer_net::grpc::GrpcFault;

/// A fragment that completes "failed to ...". No variant carries a token.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
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
    /// A call of gRPC to a target that is spoken to in HTTP/1.1 alone.
    #[error("call it over HTTP/1.1: gRPC needs HTTP/2, and connection.http allows nothing but 1.1")]
    GrpcOverHttp1,
    /// The message of a call cannot be framed.
    #[error("frame the message: {0}")]
    Message(GrpcFault),
    /// The token cannot be had.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The client cannot be made, or the path is none.
    #[error(transparent)]
    Client(#[from] ConfigError),
}

impl HttpError {
    /// The key at fault, below the block of the plan that the request is; none where it is not the plan's.
    pub fn key(&self) -> Option<&'static str> {
        match self {
            Self::Body { .. } | Self::Message(_) => Some("body_file"),
            Self::GrpcOverHttp1 => Some("grpc"),
            Self::Token(TokenError::File(_)) => Some("bearer.file"),
            Self::Token(TokenError::Env(_)) => Some("bearer.env"),
            Self::Client(ConfigError::Path { .. }) => Some("path"),
            Self::Client(_) | Self::Url { .. } => None,
        }
    }
}
