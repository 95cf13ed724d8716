use crate::fetch::FetchError;

/// Why a log cannot be followed or audited for now; it can be tried again.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// No answer, or one that cannot be believed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// No answer to the request for a path, for 10 s.
    #[error("read {0}: the log does not answer")]
    Silent(String),
    /// An answer that leads nowhere.
    #[error("{0}")]
    Other(String),
}

impl Trouble {
    /// The kind of promise that is broken by what was served; none where nothing was served, or nothing that can be read.
    pub fn breach_kind(&self) -> Option<&'static str> {
        match self {
            Self::Fetch(why) => why.breach_kind(),
            _ => None,
        }
    }

    /// Whether the log has not what was asked for, and will not have it.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::Fetch(FetchError::Status { status: 400 | 403 | 404 | 405 | 410 | 501, .. }))
    }

    /// What it is, whichever path it befell.
    pub(super) fn cause(&self) -> String {
        match self {
            Self::Fetch(FetchError::Status { status, .. }) => format!("status {status}"),
            Self::Silent(_) => "silence".to_owned(),
            why => why.to_string(),
        }
    }

    /// Whether the log did not even answer.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::Silent(_) | Self::Fetch(FetchError::Failure(_)))
    }
}
