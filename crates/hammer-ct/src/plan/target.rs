//! The log in a plan.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use hammer_tlog::key::LogKey;
use http::Uri;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::log::{DEFAULT_MMD, DEFAULT_SKEW, origin_of};
use crate::{CtError, LogKind, LogTarget};

/// A log in a plan file or on a command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CtTargetPlan {
    /// What the log speaks: `static-ct` or `rfc6962`.
    pub kind: LogKind,
    /// Where chains are sent: one URL, or several of which balancing chooses. What stands before `/ct/v1/add-chain`.
    pub submission_url: OneOrMany,
    /// Where the log is read, when that is another place.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub monitoring_url: OneOrMany,
    /// The first line of its checkpoints; by default host without port and path of the (first) submission URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The log's public key: base64 of its DER, as in log lists, or PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// The file that holds the public key, either way; in place of `public_key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key_file: Option<PathBuf>,
    /// How far an SCT's timestamp may be from this machine's clock when it is received, in seconds.
    pub skew_seconds: u64,
    /// The log's maximum merge delay, in seconds: an accepted chain that no tree head covers after that is a broken promise.
    pub mmd_seconds: u64,
}

/// One text, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Any number.
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl OneOrMany {
    /// All of them.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }
}

impl Default for CtTargetPlan {
    fn default() -> Self {
        Self {
            kind: LogKind::default(),
            submission_url: OneOrMany::default(),
            monitoring_url: OneOrMany::default(),
            origin: None,
            public_key: None,
            public_key_file: None,
            skew_seconds: DEFAULT_SKEW.as_secs(),
            mmd_seconds: DEFAULT_MMD.as_secs(),
        }
    }
}

impl CtTargetPlan {
    /// Reads the public key, and fills in what was left out.
    ///
    /// # Errors
    /// Without submission URL or key, and where one of them is none.
    pub fn target(&self) -> Result<LogTarget, CtError> {
        let submission = urls("submission_url", &self.submission_url)?;
        let first = submission.first().ok_or(CtError::Missing { key: "submission_url" })?;
        let origin = self.origin.clone().unwrap_or_else(|| origin_of(first));
        let monitoring = match self.monitoring_url.is_empty() {
            true => submission.clone(),
            false => urls("monitoring_url", &self.monitoring_url)?,
        };
        let skew = Duration::from_secs(self.skew_seconds);
        let mmd = Duration::from_secs(self.mmd_seconds);
        Ok(LogTarget { kind: self.kind, submission, monitoring, origin, key: self.key()?, skew, mmd })
    }

    fn key(&self) -> Result<LogKey, CtError> {
        let text = match (&self.public_key, &self.public_key_file) {
            (Some(_), Some(_)) => {
                return Err(CtError::Both { one: "public_key", other: "public_key_file" });
            }
            (Some(text), None) => text.clone(),
            (None, Some(path)) => {
                fs::read_to_string(path).map_err(|source| CtError::Read { path: path.clone(), source })?
            }
            (None, None) => return Err(CtError::Missing { key: "public_key" }),
        };
        text.parse().map_err(|why| match &self.public_key_file {
            Some(path) => CtError::KeyFile { path: path.clone(), why },
            None => CtError::Key(why),
        })
    }
}

fn urls(key: &'static str, texts: &OneOrMany) -> Result<Vec<Uri>, CtError> {
    let url = |text: &String| {
        let refused = |reason: &str| CtError::Url { key, url: text.clone(), reason: reason.to_owned() };
        let url: Uri = text
            .trim_end_matches('/')
            .parse()
            .map_err(|why: http::uri::InvalidUri| refused(&why.to_string()))?;
        match url.scheme_str() {
            Some("http" | "https") => Ok(url),
            _ => Err(refused("it is neither http nor https")),
        }
    };
    texts.as_slice().iter().map(url).collect()
}
