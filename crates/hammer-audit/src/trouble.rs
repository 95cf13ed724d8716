//! Why a log cannot be read.

use hammer_measure::peer_text;
use hammer_net::{Failure, FailureKind};

use crate::source::HeadFault;

/// Why a log cannot be followed or audited for now; it can be tried again.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// No answer.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// Another status than 200.
    #[error("read {path}: the log answers with status {status}")]
    Status {
        /// The path.
        path: String,
        /// The status.
        status: u16,
    },
    /// An answer that cannot be read.
    #[error("read {path}: {why}")]
    Unreadable {
        /// The path.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// What is served as the log's head is not.
    #[error(transparent)]
    Head(#[from] HeadFault),
    /// No answer to the request for a path, for 10 s.
    #[error("read {0}: the log does not answer")]
    Silent(String),
    /// An answer that leads nowhere.
    #[error("{0}")]
    Other(String),
}

impl Trouble {
    /// An answer that cannot be read; what the log wrote may stand in why that is.
    pub fn unreadable(path: &str, why: &str) -> Self {
        Self::Unreadable { path: path.to_owned(), why: peer_text(why) }
    }

    /// The kind of promise that is broken by what was served; none where nothing was served, or nothing that can be read.
    pub fn breach_kind(&self) -> Option<&'static str> {
        match self {
            Self::Head(fault) => fault.breach,
            _ => None,
        }
    }

    /// Whether the log has not what was asked for, and will not have it.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Status { status: 400 | 403 | 404 | 405 | 410 | 501, .. })
    }

    /// Whether the log has answered, and not with what was asked for.
    pub(crate) fn is_withheld(&self) -> bool {
        self.is_refusal() || matches!(self, Self::Unreadable { .. })
    }

    /// Whether the log has answered with what is of no use, and may go on to: a refusal, a head that is none, or one longer than any.
    pub(crate) fn is_useless(&self) -> bool {
        let is_too_long = matches!(self, Self::Failure(failure) if failure.kind == FailureKind::TooLarge);
        is_too_long || self.is_withheld() || matches!(self, Self::Head(_))
    }

    /// What it is, whichever path it befell.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Status { status, .. } => format!("status {status}"),
            Self::Silent(_) => "silence".to_owned(),
            why => why.to_string(),
        }
    }

    /// Whether the log did not even answer.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::Silent(_) | Self::Failure(_))
    }
}
