//! A log as a plan states it: its keys agree, and no file or variable was read yet.

use std::fs;
use std::path::{Path, PathBuf};

use hammer_net::Secret;
use hammer_tlog::keys::key::LogKey;
use http::Uri;

use crate::error::CtError;
use crate::log::{LogKind, LogTarget, origin_of};
use crate::window::Window;

use super::monitoring_url::MonitoringUrl;
use super::target::CtTargetPlan;

/// A log whose keys agree.
#[derive(Debug)]
pub struct StatedLog<'a> {
    plan: &'a CtTargetPlan,
    submission: Vec<Uri>,
    monitoring: Monitoring,
    key: KeyPlace<'a>,
    submission_token: Option<TokenPlace<'a>>,
    monitoring_token: Option<TokenPlace<'a>>,
}

/// Where a log is read.
#[derive(Debug)]
enum Monitoring {
    WhereItIsSent,
    Servers(Vec<Uri>),
    Folder(PathBuf),
}

/// Where the public key stands.
#[derive(Debug)]
enum KeyPlace<'a> {
    Plan(&'a LogKey),
    File(&'a Path),
}

/// Where a token stands, with the key that says so.
#[derive(Debug)]
enum TokenPlace<'a> {
    File(&'static str, &'a Path),
    Variable(&'static str, &'a str),
}

impl<'a> TryFrom<&'a CtTargetPlan> for StatedLog<'a> {
    type Error = CtError;

    fn try_from(plan: &'a CtTargetPlan) -> Result<Self, CtError> {
        let submission: Vec<Uri> =
            plan.submission_url.as_slice().iter().map(|url| url.url().clone()).collect();
        if submission.is_empty() {
            return Err(CtError::Missing { key: "submission_url" });
        }
        let submission_token = token_place(
            ["submission_token_file", "submission_token_env"],
            plan.submission_token_file.as_deref(),
            plan.submission_token_env.as_deref(),
        );
        let monitoring_token = token_place(
            ["monitoring_token_file", "monitoring_token_env"],
            plan.monitoring_token_file.as_deref(),
            plan.monitoring_token_env.as_deref(),
        );
        Ok(Self {
            plan,
            submission,
            monitoring: monitoring(plan)?,
            key: key_place(plan)?,
            submission_token: submission_token?,
            monitoring_token: monitoring_token?,
        })
    }
}

impl StatedLog<'_> {
    /// Reads the public key and the tokens, and fills in what was left out. It takes all leaves: a window is of a run
    /// ([`CtTargetPlan::window`]).
    ///
    /// # Errors
    /// A key or a token that is none, and a folder that cannot be read.
    pub fn read(self) -> Result<LogTarget, CtError> {
        let submission_token = self.submission_token.map(TokenPlace::read).transpose()?;
        let monitoring_token = self.monitoring_token.map(TokenPlace::read).transpose()?;
        let is_same_place = matches!(self.monitoring, Monitoring::WhereItIsSent);
        let same_place = submission_token.clone().filter(|_| is_same_place);
        let (monitoring, folder) = match self.monitoring {
            Monitoring::WhereItIsSent => (self.submission.clone(), None),
            Monitoring::Servers(urls) => (urls, None),
            Monitoring::Folder(path) => {
                // One that is not there would be told as a log that lacks all.
                fs::read_dir(&path).map_err(|source| CtError::Folder { path: path.clone(), source })?;
                (self.submission.clone(), Some(path))
            }
        };
        Ok(LogTarget {
            kind: self.plan.kind,
            monitoring,
            folder,
            monitoring_token: monitoring_token.or(same_place),
            submission_token,
            origin: self
                .plan
                .origin
                .clone()
                .unwrap_or_else(|| self.submission.first().map(origin_of).unwrap_or_default()),
            submission: self.submission,
            key: self.key.read()?,
            window: Window::ALL,
            skew: self.plan.skew.duration(),
            mmd: self.plan.mmd.duration(),
        })
    }
}

impl KeyPlace<'_> {
    fn read(self) -> Result<LogKey, CtError> {
        match self {
            Self::Plan(key) => Ok(key.clone()),
            Self::File(path) => {
                let text = fs::read_to_string(path)
                    .map_err(|source| CtError::Read { path: path.to_owned(), source })?;
                text.parse().map_err(|why| CtError::KeyFile { path: path.to_owned(), why })
            }
        }
    }
}

impl TokenPlace<'_> {
    fn read(self) -> Result<Secret, CtError> {
        let (key, token) = match self {
            Self::File(key, path) => (key, Secret::from_file(path)),
            Self::Variable(key, name) => (key, Secret::from_env(name)),
        };
        token.map_err(|source| CtError::Token { key, source })
    }
}

fn monitoring(plan: &CtTargetPlan) -> Result<Monitoring, CtError> {
    let urls = plan.monitoring_url.as_slice();
    let (mut servers, mut folder) = (Vec::new(), None);
    for url in urls {
        match url {
            MonitoringUrl::Server(url) => servers.push(url.url().clone()),
            MonitoringUrl::Folder(path) => folder = Some((url, path)),
        }
    }
    let Some((url, path)) = folder else {
        return Ok(if servers.is_empty() { Monitoring::WhereItIsSent } else { Monitoring::Servers(servers) });
    };
    let refused = |reason| Err(CtError::Url { key: "monitoring_url", url: url.to_string(), reason });
    match plan.kind {
        LogKind::Rfc6962 => refused("only a log of static-ct can be read in a folder"),
        LogKind::StaticCt if urls.len() > 1 => refused("a folder stands alone"),
        LogKind::StaticCt => Ok(Monitoring::Folder(path.clone())),
    }
}

fn key_place(plan: &CtTargetPlan) -> Result<KeyPlace<'_>, CtError> {
    match (&plan.public_key, &plan.public_key_file) {
        (Some(_), Some(_)) => Err(CtError::Both { one: "public_key", other: "public_key_file" }),
        (Some(key), None) => Ok(KeyPlace::Plan(key.key())),
        (None, Some(path)) => Ok(KeyPlace::File(path)),
        (None, None) => Err(CtError::Missing { key: "public_key" }),
    }
}

fn token_place<'a>(
    [one, other]: [&'static str; 2],
    file: Option<&'a Path>,
    variable: Option<&'a str>,
) -> Result<Option<TokenPlace<'a>>, CtError> {
    match (file, variable) {
        (Some(_), Some(_)) => Err(CtError::Both { one, other }),
        (Some(path), None) => Ok(Some(TokenPlace::File(one, path))),
        (None, Some(name)) => Ok(Some(TokenPlace::Variable(other, name))),
        (None, None) => Ok(None),
    }
}
