//! The log in a plan.

use std::path::PathBuf;

use hammer_values::{OneOrMany, RenamedKey, ServiceUrl, TimeSpan, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::CtError;
use crate::log::{DEFAULT_MMD, DEFAULT_SKEW, LogKind, LogTarget};
use crate::window::Window;

use super::date::PlanDate;
use super::monitoring_url::MonitoringUrl;
use super::public_key::PublicKey;
use super::stated_log::StatedLog;

/// A log in a plan file or on a command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CtTargetPlan {
    /// Its name in `logs`, unique there: a word, by which series, observations and broken promises name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Word>,
    /// What the log speaks: `static-ct` or `rfc6962`.
    pub kind: LogKind,
    /// Where chains are sent: one URL, or several of which balancing chooses. What stands before `/ct/v1/add-chain`.
    pub submission_url: OneOrMany<ServiceUrl>,
    /// Where the log is read, when that is another place; `file:///...` is a folder laid out as static-ct-api, which is
    /// read without a server.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub monitoring_url: OneOrMany<MonitoringUrl>,
    /// The file that holds the bearer token of the submission URLs, which itself never stands in a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission_token_file: Option<PathBuf>,
    /// The environment variable that holds it; in place of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission_token_env: Option<String>,
    /// The file that holds the bearer token of the monitoring URLs. Without `monitoring_url` the token of the submission
    /// URLs is sent unless this is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitoring_token_file: Option<PathBuf>,
    /// The environment variable that holds it; in place of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitoring_token_env: Option<String>,
    /// The least NotAfter that the log takes: RFC 3339, a date, or days from the run's epoch (`+30d`). No bound without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_after_start: Option<PlanDate>,
    /// The NotAfter from which on the log takes nothing, likewise; it does not take this one either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_after_limit: Option<PlanDate>,
    /// The first line of its checkpoints; by default host without port and path of the (first) submission URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The log's public key: base64 of its DER, as in log lists, or PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key: Option<PublicKey>,
    /// The file that holds the public key, either way; in place of `public_key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key_file: Option<PathBuf>,
    /// How far an SCT's timestamp may be from this machine's clock when it is received.
    pub skew: TimeSpan,
    /// The log's maximum merge delay: an accepted chain that no tree head covers after that is a broken promise.
    pub mmd: TimeSpan,
}

impl Default for CtTargetPlan {
    fn default() -> Self {
        Self {
            name: None,
            kind: LogKind::default(),
            submission_url: OneOrMany::default(),
            monitoring_url: OneOrMany::default(),
            submission_token_file: None,
            submission_token_env: None,
            monitoring_token_file: None,
            monitoring_token_env: None,
            not_after_start: None,
            not_after_limit: None,
            origin: None,
            public_key: None,
            public_key_file: None,
            skew: DEFAULT_SKEW.into(),
            mmd: DEFAULT_MMD.into(),
        }
    }
}

impl CtTargetPlan {
    /// What its keys were called before.
    pub const RENAMED: &[RenamedKey] = &[
        RenamedKey { old: "skew_seconds", new: "skew", unit: "s" },
        RenamedKey { old: "mmd_seconds", new: "mmd", unit: "s" },
    ];

    /// The leaves that the log takes in a run that starts then.
    ///
    /// # Errors
    /// A limit that is not after its start, and days that lead out of the years that there are.
    pub fn window(&self, epoch_unix_ms: u64) -> Result<Window, CtError> {
        let seconds = |key, date: Option<PlanDate>| {
            date.map(|date| date.unix_seconds(key, epoch_unix_ms / 1000)).transpose()
        };
        let start = seconds("not_after_start", self.not_after_start)?;
        let limit = seconds("not_after_limit", self.not_after_limit)?;
        match (limit, self.not_after_limit) {
            (Some(limit), Some(date)) if limit <= start.unwrap_or(0) => Err(CtError::Value {
                key: "not_after_limit",
                value: date.to_string(),
                expected: "a date after not_after_start",
            }),
            _ => Ok(Window { start, limit }),
        }
    }

    /// The log without the files and variables that it names.
    ///
    /// # Errors
    /// Without submission URL or key, and where two keys contradict each other.
    pub fn stated(&self) -> Result<StatedLog<'_>, CtError> {
        self.try_into()
    }

    /// The log, with the files and variables that it names.
    ///
    /// # Errors
    /// As [`CtTargetPlan::stated`] and [`StatedLog::read`].
    pub fn target(&self) -> Result<LogTarget, CtError> {
        self.stated()?.read()
    }
}
