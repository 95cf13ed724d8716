//! The log of a line.

use std::path::PathBuf;
use std::sync::Arc;

use hammer_ct::{CtTargetPlan, LogKind, LogTarget, OneOrMany};
use hammer_net::ClientConfig;

use crate::args::LogArgs;
use crate::assemble;
use crate::error::CliError;
use crate::plan::target::{ConnectionPlan, TargetPlan};
use crate::plan::units::Span;

impl LogArgs {
    /// As a plan would have it.
    pub(super) fn target(&self) -> TargetPlan {
        let (public_key, public_key_file) = match self.key.strip_prefix('@') {
            Some(file) => (None, Some(PathBuf::from(file))),
            None => (Some(self.key.clone()), None),
        };
        let log = CtTargetPlan {
            kind: if self.kind == "rfc6962" { LogKind::Rfc6962 } else { LogKind::StaticCt },
            submission_url: OneOrMany::One(self.url.clone()),
            monitoring_url: OneOrMany::Many(self.monitoring_url.iter().cloned().collect()),
            origin: self.origin.clone(),
            public_key,
            public_key_file,
            ..CtTargetPlan::default()
        };
        TargetPlan {
            log: Some(log),
            authorized: self.authorized.clone(),
            contact: self.contact.clone(),
            connection: ConnectionPlan { max_idle: Some(MAX_IDLE), ..ConnectionPlan::default() },
            ..TargetPlan::default()
        }
    }

    /// The log, and whoever reads it.
    pub(super) fn open(&self) -> Result<(Arc<LogTarget>, ClientConfig), CliError> {
        let target = self.target();
        let log = assemble::log(&target)?;
        let client = target.client(log.monitoring.clone(), 1, 0);
        client.check().map_err(|error| CliError::plan(format!("use the log: failed to {error}")))?;
        Ok((log, client))
    }
}

/// TesseraCT, Sunlight and Skylight close a connection that is silent for 5 s.
const MAX_IDLE: Span = Span::from_secs(4);
