//! The log of a line.

use std::sync::Arc;

use hammer_ct::LogTarget;
use hammer_net::ClientConfig;
use serde_json::{Value, json};

use crate::args::LogArgs;
use crate::error::{CliError, UsageError};
use crate::plan::client_fault::unusable;
use crate::plan::document::TargetAlone;
use crate::plan::read::{SourcedPlan, of_flags};
use crate::protocol::ct::opened::only_log;
use crate::protocol::registry::Registry;

impl LogArgs {
    /// As a plan would have it.
    pub(super) fn target(&self) -> Result<Value, UsageError> {
        if self.is_folder() && self.monitoring_url.is_some() {
            return Err(UsageError::TwoPlaces);
        }
        if self.is_folder() && self.origin.is_none() {
            return Err(UsageError::NoOrigin(self.url.clone()));
        }
        // Nothing is sent there, since no chain is submitted to a folder.
        let submission_url = if self.is_folder() { NOWHERE } else { &self.url };
        let monitoring_url = if self.is_folder() { Some(&self.url) } else { self.monitoring_url.as_ref() };
        let key_file = self.key.strip_prefix('@');
        let tokens = &self.tokens;
        Ok(json!({
            "log": {
                "kind": self.kind,
                "submission_url": submission_url,
                "monitoring_url": monitoring_url.into_iter().collect::<Vec<_>>(),
                "submission_token_file": tokens.submission_token_file,
                "submission_token_env": tokens.submission_token_env,
                "monitoring_token_file": tokens.monitoring_token_file,
                "monitoring_token_env": tokens.monitoring_token_env,
                "mmd": self.mmd,
                "origin": self.origin,
                "public_key": key_file.is_none().then_some(&self.key),
                "public_key_file": key_file,
            },
            "authorized": self.authorized,
            "contact": self.contact,
            "connection": { "max_idle": MAX_IDLE },
        }))
    }

    /// Where it is read: the URL, or that of a folder.
    pub(super) fn place(&self) -> &str {
        self.monitoring_url.as_ref().unwrap_or(&self.url)
    }

    /// Which key each argument stands for.
    pub(super) fn flags(&self) -> Vec<(&'static str, &'static str)> {
        let monitoring = if self.is_folder() { "URL" } else { "--monitoring-url" };
        [FLAGS.as_slice(), &[(monitoring, "target.log.monitoring_url")]].concat()
    }

    /// The log, and whoever reads it.
    pub(super) fn open(&self, registry: &Registry) -> Result<(Arc<LogTarget>, ClientConfig), CliError> {
        let given = of_flags(json!({ "target": self.target()? }), &self.flags(), registry.grammar())?;
        let SourcedPlan { plan: TargetAlone { target }, source } = given;
        let log = only_log(&target).map_err(|error| error.placed(&source))?;
        let client = target.client(None, log.monitoring.clone(), 1, 0);
        let client = client.map_err(|error| error.placed(&source))?;
        client.check().map_err(|error| unusable(&target, None, error).placed(&source))?;
        Ok((log, client))
    }

    fn is_folder(&self) -> bool {
        self.url.starts_with("file:")
    }
}

const FLAGS: [(&str, &str); 12] = [
    ("URL", "target.log.submission_url"),
    ("--key", "target.log.public_key"),
    ("--key", "target.log.public_key_file"),
    ("--kind", "target.log.kind"),
    ("--mmd", "target.log.mmd"),
    ("--submission-token-file", "target.log.submission_token_file"),
    ("--submission-token-env", "target.log.submission_token_env"),
    ("--monitoring-token-file", "target.log.monitoring_token_file"),
    ("--monitoring-token-env", "target.log.monitoring_token_env"),
    ("--origin", "target.log.origin"),
    ("--authorized", "target.authorized"),
    ("--contact", "target.contact"),
];

/// TesseraCT, Sunlight and Skylight close a connection that is silent for 5 s.
const MAX_IDLE: &str = "4s";

/// The port of the discard service, where nobody answers.
const NOWHERE: &str = "http://127.0.0.1:9";
