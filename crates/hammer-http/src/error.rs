//! Why a request cannot be built.

use std::borrow::Cow;
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
    /// The password of `basic` cannot be read.
    #[error("{0}")]
    Password(TokenError),
    /// Values that cannot be had.
    #[error("{fault}")]
    Value {
        /// The key at fault, below the values.
        key: &'static str,
        /// Why.
        fault: ValueFault,
    },
    /// Two series of one name.
    #[error("name the series: `{series}`, of hot or cold values, is the name of another one of the workload")]
    SeriesTwice {
        /// The name.
        series: String,
    },
    /// A text whose placeholders cannot be filled.
    #[error("fill `${{{name}}}`: {fault}")]
    Placeholder {
        /// The key of the text, below the request.
        key: &'static str,
        /// The placeholder.
        name: String,
        /// Why.
        fault: ValueFault,
    },
    /// A call of gRPC to a target that is spoken to in HTTP/1.1 alone.
    #[error("call it over HTTP/1.1: gRPC needs HTTP/2, and connection.http allows nothing but 1.1")]
    GrpcOverHttp1,
    /// The message of a call cannot be framed.
    #[error("frame the message: {0}")]
    Message(GrpcFault),
    /// The client cannot be made, or the path is none.
    #[error(transparent)]
    Client(#[from] ConfigError),
    /// One of these, of what stands further below.
    #[error("{error}")]
    Below {
        /// Where, below the block of the plan.
        block: String,
        /// What.
        error: Box<HttpError>,
    },
}

/// Why values cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ValueFault {
    /// A file that cannot be read.
    #[error("read values from {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line that is of no use.
    #[error("read values from {path}:{line}: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that is of no use.
    #[error("read values from {path}: {reason}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No value at all.
    #[error("find values{of}: it has no value")]
    Empty {
        /// In which file, where they are in one.
        of: String,
    },
    /// Only hot ones.
    #[error("find cold values: {hot} of {values} are hot")]
    NothingCold {
        /// The hot ones.
        hot: u64,
        /// All of them.
        values: u64,
    },
    /// More than can be held.
    #[error("draw {values} values by popularity: there can be {most} at most")]
    TooMany {
        /// How many there are.
        values: u64,
        /// How many there can be.
        most: u64,
    },
    /// Another column than there are.
    #[error("there is no column `{column}`: {columns}")]
    NoColumn {
        /// The column.
        column: String,
        /// Those that are there.
        columns: String,
    },
    /// A column of values that have none.
    #[error("its values have no columns, and no `{column}`")]
    NoColumns {
        /// The column.
        column: String,
    },
    /// No column, of values that have several.
    #[error("name one of its columns: {columns}")]
    WhichColumn {
        /// Those that are there.
        columns: String,
    },
}

impl HttpError {
    /// The key at fault, below the block of the plan that the requests are; none where it is not the plan's.
    pub fn key(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Body { .. } | Self::Message(_) => Some("body_file".into()),
            Self::Password(TokenError::File(_)) => Some("basic.password.file".into()),
            Self::Password(TokenError::Env(_)) => Some("basic.password.env".into()),
            Self::Value { key, .. } | Self::Placeholder { key, .. } => Some((*key).into()),
            Self::SeriesTwice { .. } => Some("name".into()),
            Self::GrpcOverHttp1 => Some("grpc".into()),
            Self::Client(ConfigError::Path { .. }) => Some("path".into()),
            Self::Client(_) | Self::Url { .. } => None,
            Self::Below { block, error } => match error.key() {
                Some(key) => Some(format!("{block}.{key}").into()),
                None => Some(block.as_str().into()),
            },
        }
    }

    /// The same of what is the value of `block`.
    pub(crate) fn below(self, block: &str) -> Self {
        if block.is_empty() {
            return self;
        }
        Self::Below { block: block.to_owned(), error: Box::new(self) }
    }
}
