//! The log of a line.

use std::path::PathBuf;
use std::sync::Arc;

use hammer_ct::{CtTargetPlan, LogKind, LogTarget};
use hammer_net::ClientConfig;
use hammer_values::{OneOrMany, TimeSpan};

use crate::args::LogArgs;
use crate::command::http::time;
use crate::error::{CliError, TargetError, UsageError};
use crate::plan::section::Sections;
use crate::plan::target::{ConnectionPlan, TargetPlan};
use crate::protocol::ct::opened::only_log;
use crate::protocol::ct::sections::LOG;

impl LogArgs {
    /// As a plan would have it.
    pub(super) fn target(&self) -> Result<TargetPlan, UsageError> {
        let (public_key, public_key_file) = match self.key.strip_prefix('@') {
            Some(file) => (None, Some(PathBuf::from(file))),
            None => (Some(self.key.clone()), None),
        };
        let mmd = time("--mmd", &self.mmd)?;
        let tokens = &self.tokens;
        let is_folder = self.url.starts_with("file:");
        if is_folder && self.monitoring_url.is_some() {
            return Err(UsageError::TwoPlaces);
        }
        if is_folder && self.origin.is_none() {
            return Err(UsageError::NoOrigin(self.url.clone()));
        }
        // Nothing is sent there, since no chain is submitted to a folder.
        let submission_url = if is_folder { NOWHERE } else { &self.url };
        let monitoring_url = if is_folder { Some(&self.url) } else { self.monitoring_url.as_ref() };
        let log = CtTargetPlan {
            kind: if self.kind == "rfc6962" { LogKind::Rfc6962 } else { LogKind::StaticCt },
            submission_url: OneOrMany::One(submission_url.to_owned()),
            monitoring_url: OneOrMany::Many(monitoring_url.into_iter().cloned().collect()),
            submission_token_file: tokens.submission_token_file.clone(),
            submission_token_env: tokens.submission_token_env.clone(),
            monitoring_token_file: tokens.monitoring_token_file.clone(),
            monitoring_token_env: tokens.monitoring_token_env.clone(),
            mmd,
            origin: self.origin.clone(),
            public_key,
            public_key_file,
            ..CtTargetPlan::default()
        };
        Ok(TargetPlan {
            unnamed: Sections::one(LOG, log),
            authorized: self.authorized.clone(),
            contact: self.contact.clone(),
            connection: ConnectionPlan { max_idle: Some(MAX_IDLE), ..ConnectionPlan::default() },
            ..TargetPlan::default()
        })
    }

    /// The log, and whoever reads it.
    pub(super) fn open(&self) -> Result<(Arc<LogTarget>, ClientConfig), CliError> {
        let target = self.target()?;
        let written = target.unnamed.get::<CtTargetPlan>(LOG).cloned().unwrap_or_default();
        let log = only_log(&target, &written)?;
        let client = target.client(None, log.monitoring.clone(), 1, 0)?;
        client.check().map_err(TargetError::from)?;
        Ok((log, client))
    }
}

/// TesseraCT, Sunlight and Skylight close a connection that is silent for 5 s.
const MAX_IDLE: TimeSpan = TimeSpan::from_secs(4);

/// The port of the discard service, where nobody answers.
const NOWHERE: &str = "http://127.0.0.1:9";
