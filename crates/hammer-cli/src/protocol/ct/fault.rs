//! What a plan says of logs that cannot be.

use hammer_ct::CtError;
use std::borrow::Cow;

use crate::plan::error::KeyedError;

/// What is wrong with a key about logs.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogFault {
    /// Only one of several logs has a name.
    #[error("only one of several logs has a name")]
    NamedAlone,
    /// A log whose service has another name, or any.
    #[error("the log is named by its service, `{0}`")]
    NamedByService(String),
    /// A log with a token for both of its sides.
    #[error(
        "a log has tokens of its own: submission_token_file, submission_token_env, monitoring_token_file, monitoring_token_env"
    )]
    TokenOfService,
    /// A key that is about logs, where the target has none.
    #[error(
        "it needs a log: give target.log, target.logs, target.services.NAME.log, target.lab.ct or target.lab.logs"
    )]
    NoLog,
    /// A log that the target does not have.
    #[error("the target has no log `{0}`")]
    UnknownLog(String),
    /// More workloads than an auditor can tell apart.
    #[error("256 workloads at most can be audited: give this one `audit: false`")]
    TooManyAudited,
    /// A log that is named twice.
    #[error("`{0}` stands there twice")]
    LogTwice(String),
}

/// Whoever has the key of two logs cannot tell their promises apart.
#[derive(Debug, thiserror::Error)]
#[error(
    "it is the key of {one} as well as of {other}: logs of the same key are one log, which may have several URLs"
)]
pub(super) struct SameKey {
    /// The name of one.
    pub(super) one: String,
    /// The name of the other.
    pub(super) other: String,
}

impl KeyedError for CtError {
    fn key(&self) -> Option<Cow<'_, str>> {
        self.key().map(Cow::from)
    }
}
