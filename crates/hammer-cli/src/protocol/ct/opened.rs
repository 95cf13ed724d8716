//! The logs of a run: found where the plan says, or started.

use std::sync::Arc;

use hammer_ct::{CtTargetPlan, LogTarget};
use hammer_lab::{CtLabHandle, CtLabPlan, LabError, LogConfig};
use hammer_tlog::keys::key::{KeyError, LogKey};
use hammer_values::OneOrMany;
use http::Uri;

use super::fault::SameKey;
use super::roots::{minted_roots, roots};
use super::sections::LOG;
use super::written::{ONLY_LOG, WrittenLog, written};
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::target::TargetPlan;
use crate::protocol::lab::{Lab, own_url, unstarted};
use crate::protocol::service::permitted;

/// A log that was found or started.
#[derive(Clone)]
pub(super) struct OpenLog {
    /// By what its series and observations are called; where it is the only one, by nothing.
    pub(super) name: String,
    /// The service of the plan that it is, where it has a name there.
    pub(super) service: Option<String>,
    /// The log.
    pub(super) log: Arc<LogTarget>,
    /// Where it stands in the plan.
    pub(super) at: PlanPath,
    /// Whether it was started with the run.
    pub(super) is_embedded: bool,
}

impl OpenLog {
    /// Where chains are sent, and where the log is read.
    pub(super) fn endpoints(&self) -> Vec<Uri> {
        self.log.submission.iter().chain(&self.log.monitoring).cloned().collect()
    }
}

/// The logs of a run, and those of them that run embedded.
pub(super) type OpenLogs = (Vec<OpenLog>, Vec<Box<dyn Lab>>);

/// Finds the plan's logs, and starts those that are embedded.
///
/// # Errors
/// When what is named cannot be read, an embedded log does not start, or two have the same key.
pub(super) fn opened(plan: &Plan, epoch_unix_ms: u64) -> Result<OpenLogs, CliError> {
    let (mut logs, mut labs) = (Vec::new(), Vec::<Box<dyn Lab>>::new());
    for WrittenLog { at, name, service, mut log, lab } in written(plan)? {
        let is_embedded = lab.is_some();
        if let Some(lab) = lab {
            let lab = embedded(plan, lab, &at)?;
            log = served(log, &lab).map_err(|error| unstarted(error, &at))?;
            labs.push(Box::new(lab));
        }
        let refused = |error| PlanFault::failed(error).at(at.clone());
        let window = log.window(epoch_unix_ms).map_err(refused)?;
        let log = LogTarget { window, ..log.target().map_err(refused)? };
        logs.push(OpenLog { name, service, log: Arc::new(log), at, is_embedded });
    }
    different_keys(&logs)?;
    Ok((logs, labs))
}

fn embedded(plan: &Plan, lab: CtLabPlan, at: &PlanPath) -> Result<CtLabHandle, CliError> {
    let refused = |error| unstarted(error, at);
    let brings_roots = !lab.roots_pem_files.is_empty();
    let mut config = LogConfig::from_plan(lab).map_err(refused)?;
    for roots in if brings_roots { minted_roots(plan)? } else { roots(plan)? } {
        roots.certificates.into_iter().for_each(|root| config.add_root_der(root));
    }
    CtLabHandle::spawn(config).map_err(refused)
}

/// The log of a command line, once it is known that nobody has to allow it, or somebody did.
///
/// # Errors
/// When it is none, or one that nobody allowed.
pub(crate) fn only_log(target: &TargetPlan) -> Result<Arc<LogTarget>, CliError> {
    let at = PlanPath::of("target").key(LOG);
    let refused = |error| PlanFault::failed(error).at(at.clone());
    let log = target.unnamed.get::<CtTargetPlan>(LOG).cloned().unwrap_or_default();
    let log = Arc::new(log.target().map_err(refused)?);
    let log = OpenLog { name: ONLY_LOG.to_owned(), service: None, log, at, is_embedded: false };
    permitted(&log.endpoints(), target.authorized.as_deref())?;
    Ok(log.log)
}

/// The same with where an embedded log is served, and its key.
///
/// # Errors
/// When the log says of itself what no plan can.
pub(crate) fn served(log: CtTargetPlan, lab: &CtLabHandle) -> Result<CtTargetPlan, LabError> {
    let url = own_url(&lab.url)?;
    let unusable = |why: KeyError| LabError::Plan { key: "private_key".into(), reason: why.to_string() };
    let key = LogKey::from_der(lab.log_key_spki()).map_err(unusable)?;
    Ok(CtTargetPlan {
        submission_url: OneOrMany::One(url.clone()),
        monitoring_url: OneOrMany::One(url.into()),
        origin: Some(lab.origin().to_owned()),
        public_key: Some(key.into()),
        ..log
    })
}

fn different_keys(logs: &[OpenLog]) -> Result<(), PlanError> {
    for (place, log) in logs.iter().enumerate() {
        if let Some(other) = logs[..place].iter().find(|other| other.log.key == log.log.key) {
            let same = SameKey { one: other.name.clone(), other: log.name.clone() };
            // The key of an embedded log is another of its settings.
            let at = log.at.clone();
            return Err(PlanFault::said(same).at(if log.is_embedded { at } else { at.key("public_key") }));
        }
    }
    Ok(())
}
