//! The log in a plan.

use std::fs;
use std::path::{Path, PathBuf};

use hammer_net::Secret;
use hammer_tlog::keys::key::LogKey;
use hammer_values::{OneOrMany, RenamedKey, TimeSpan};
use http::Uri;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::CtError;
use crate::log::{DEFAULT_MMD, DEFAULT_SKEW, LogKind, LogTarget, origin_of};
use crate::window::Window;

use super::dates::unix_seconds;

/// A log in a plan file or on a command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CtTargetPlan {
    /// Its name in `logs`, unique there: a word, by which series, observations and broken promises name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the log speaks: `static-ct` or `rfc6962`.
    pub kind: LogKind,
    /// Where chains are sent: one URL, or several of which balancing chooses. What stands before `/ct/v1/add-chain`.
    pub submission_url: OneOrMany,
    /// Where the log is read, when that is another place; `file:///...` is a folder laid out as static-ct-api, which is
    /// read without a server.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub monitoring_url: OneOrMany,
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
    pub not_after_start: Option<String>,
    /// The NotAfter from which on the log takes nothing, likewise; it does not take this one either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_after_limit: Option<String>,
    /// The first line of its checkpoints; by default host without port and path of the (first) submission URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The log's public key: base64 of its DER, as in log lists, or PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
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

    /// Finds what is wrong without reading any file or variable.
    ///
    /// # Errors
    /// As [`CtTargetPlan::target`] and [`CtTargetPlan::window`].
    pub fn check(&self, epoch_unix_ms: u64) -> Result<(), CtError> {
        urls("submission_url", &self.submission_url)?
            .first()
            .ok_or(CtError::Missing { key: "submission_url" })?;
        if self.folder()?.is_none() {
            urls("monitoring_url", &self.monitoring_url)?;
        }
        match (&self.public_key, &self.public_key_file) {
            (Some(_), None) => self.key().map(drop)?,
            (None, Some(_)) => {}
            (Some(_), Some(_)) => {
                return Err(CtError::Both { one: "public_key", other: "public_key_file" });
            }
            (None, None) => return Err(CtError::Missing { key: "public_key" }),
        }
        for (file, env, keys) in self.tokens() {
            one_place(file, env, keys)?;
        }
        self.window(epoch_unix_ms).map(drop)
    }

    /// The leaves that the log takes in a run that begins then.
    ///
    /// # Errors
    /// An unreadable date, or a limit that is not after its start.
    pub fn window(&self, epoch_unix_ms: u64) -> Result<Window, CtError> {
        let seconds = |key, text: &Option<String>| {
            text.as_ref().map(|text| unix_seconds(key, text, epoch_unix_ms / 1000)).transpose()
        };
        let start = seconds("not_after_start", &self.not_after_start)?;
        let limit = seconds("not_after_limit", &self.not_after_limit)?;
        match (limit, &self.not_after_limit) {
            (Some(limit), Some(text)) if limit <= start.unwrap_or(0) => Err(CtError::Value {
                key: "not_after_limit",
                value: text.clone(),
                expected: "a date after not_after_start",
            }),
            _ => Ok(Window { start, limit }),
        }
    }

    /// Reads the public key and the tokens, and fills in what was left out. It takes all leaves: a window is of a run
    /// ([`CtTargetPlan::window`]).
    ///
    /// # Errors
    /// Without submission URL or key, and where one of them or a token is none.
    pub fn target(&self) -> Result<LogTarget, CtError> {
        let submission = urls("submission_url", &self.submission_url)?;
        let first = submission.first().ok_or(CtError::Missing { key: "submission_url" })?;
        let origin = self.origin.clone().unwrap_or_else(|| origin_of(first));
        let folder = self.folder()?;
        let monitoring = match self.monitoring_url.is_empty() || folder.is_some() {
            true => submission.clone(),
            false => urls("monitoring_url", &self.monitoring_url)?,
        };
        let [submission_token, monitoring_token] =
            self.tokens().map(|(file, env, keys)| token(file, env, keys));
        let submission_token = submission_token?;
        let same_place = self.monitoring_url.is_empty().then(|| submission_token.clone()).flatten();
        Ok(LogTarget {
            kind: self.kind,
            submission,
            monitoring,
            folder,
            monitoring_token: monitoring_token?.or(same_place),
            submission_token,
            origin,
            key: self.key()?,
            window: Window::ALL,
            skew: self.skew.duration(),
            mmd: self.mmd.duration(),
        })
    }

    /// Where the tokens of both sides come from, with the keys that say so.
    fn tokens(&self) -> [(Option<&Path>, Option<&str>, Keys); 2] {
        [
            (
                self.submission_token_file.as_deref(),
                self.submission_token_env.as_deref(),
                ["submission_token_file", "submission_token_env"],
            ),
            (
                self.monitoring_token_file.as_deref(),
                self.monitoring_token_env.as_deref(),
                ["monitoring_token_file", "monitoring_token_env"],
            ),
        ]
    }

    /// The folder where the log is read, if it is one.
    fn folder(&self) -> Result<Option<PathBuf>, CtError> {
        let urls = self.monitoring_url.as_slice();
        let Some(url) = urls.iter().find(|url| url.starts_with("file:")) else { return Ok(None) };
        let refused = |reason: &str| {
            Err(CtError::Url { key: "monitoring_url", url: url.clone(), reason: reason.to_owned() })
        };
        match url.strip_prefix("file://") {
            _ if self.kind != LogKind::StaticCt => refused("only a log of static-ct can be read in a folder"),
            _ if urls.len() > 1 => refused("a folder stands alone"),
            Some(path) if path.starts_with('/') => Ok(Some(PathBuf::from(path))),
            _ => refused("a folder is written as file:///path"),
        }
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

/// The keys of a token's file and environment variable.
type Keys = [&'static str; 2];

fn one_place(file: Option<&Path>, env: Option<&str>, [one, other]: Keys) -> Result<(), CtError> {
    match (file, env) {
        (Some(_), Some(_)) => Err(CtError::Both { one, other }),
        _ => Ok(()),
    }
}

fn token(file: Option<&Path>, env: Option<&str>, keys: Keys) -> Result<Option<Secret>, CtError> {
    one_place(file, env, keys)?;
    let token = file.map(Secret::from_file).or_else(|| env.map(Secret::from_env));
    Ok(token.transpose()?)
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
