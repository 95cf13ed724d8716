//! The logs as a plan writes them, before anything that they name is read, started or dialled.

use std::collections::BTreeMap;

use hammer_ct::{CtTargetPlan, LogKind, PlanDate, Window};
use hammer_lab::CtLabPlan;
use hammer_lab::ct::Flavour;
use hammer_tlog::keys::key::LogKey;
use hammer_values::{TimeSpan, Word};

use super::fault::{LogFault, SameKey};
use super::sections::{LAB_LOG, LAB_LOGS, LOG, LOGS};
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::target::LabPlan;

/// A log as the plan writes it.
pub(super) struct WrittenLog {
    /// Where it stands.
    pub(super) at: PlanPath,
    /// By what its series and observations are called.
    pub(super) name: String,
    /// The service of `target.services` that it is, and that says how it is reached.
    pub(super) service: Option<String>,
    /// What it promises, and where it is served.
    pub(super) log: CtTargetPlan,
    /// How it is started, where it is embedded; its log says where it is served only then.
    pub(super) lab: Option<CtLabPlan>,
}

/// A log of the plan that nobody has looked at yet.
pub(super) struct NamedWindow {
    pub(super) name: String,
    pub(super) window: Window,
}

/// Whether a plan has a log. Of one that cannot be read, whoever reads it says why.
pub(super) fn has_log(plan: &Plan) -> bool {
    written(plan).map_or(true, |logs| !logs.is_empty())
}

/// All logs of a plan, in their order.
///
/// # Errors
/// When a name is missing, or none that a log can have.
pub(super) fn written(plan: &Plan) -> Result<Vec<WrittenLog>, PlanError> {
    let (given, target) = (&plan.target, PlanPath::of("target"));
    let mut written = Vec::new();
    if let Some(log) = given.unnamed.get::<CtTargetPlan>(LOG) {
        let (at, name) = (target.clone().key(LOG), ONLY_LOG.to_owned());
        if log.name.is_some() {
            return Err(PlanFault::said(LogFault::NamedAlone).at(at.key("name")));
        }
        written.push(WrittenLog { at, name, service: None, log: log.clone(), lab: None });
    }
    for (place, log) in given.unnamed.get::<Vec<CtTargetPlan>>(LOGS).into_iter().flatten().enumerate() {
        let at = target.clone().key(LOGS).item(place);
        let Some(name) = &log.name else { return Err(PlanFault::Missing.at(at.key("name"))) };
        let name = name.to_string();
        written.push(WrittenLog { at, name, service: None, log: log.clone(), lab: None });
    }
    written.extend(of_services(plan)?);
    if let Some(lab) = &given.lab {
        written.extend(of_lab(lab)?);
    }
    Ok(written)
}

fn of_services(plan: &Plan) -> Result<Vec<WrittenLog>, PlanError> {
    let mut written = Vec::new();
    for (name, service) in &plan.target.services {
        let Some(log) = service.kind.get::<CtTargetPlan>(LOG) else { continue };
        let at = PlanPath::of("target.services").key(name.as_str());
        if service.token.is_some() {
            return Err(PlanFault::said(LogFault::TokenOfService).at(at.key("token")));
        }
        let (at, name) = (at.key(LOG), name.to_string());
        if log.name.is_some() {
            return Err(PlanFault::said(LogFault::NamedByService(name)).at(at.key("name")));
        }
        written.push(WrittenLog { at, service: Some(name.clone()), name, log: log.clone(), lab: None });
    }
    Ok(written)
}

fn of_lab(lab: &LabPlan) -> Result<Vec<WrittenLog>, PlanError> {
    let target = PlanPath::of("target.lab");
    let embedded = |at, name, lab: &CtLabPlan| WrittenLog {
        at,
        name,
        service: None,
        log: log_of(lab),
        lab: Some(lab.clone()),
    };
    if let Some(lab) = lab.kind.get::<CtLabPlan>(LAB_LOG) {
        return Ok(vec![embedded(target.key(LAB_LOG), ONLY_LOG.to_owned(), lab)]);
    }
    let mut written = Vec::new();
    for (name, lab) in lab.kind.get::<BTreeMap<Word, CtLabPlan>>(LAB_LOGS).into_iter().flatten() {
        let at = target.clone().key(LAB_LOGS).key(name.as_str());
        written.push(embedded(at, name.to_string(), lab));
    }
    Ok(written)
}

/// Holds the plan's logs against each other without reading what they name; their windows.
///
/// # Errors
/// When a log contradicts itself, or has the name of another.
pub(super) fn windows(plan: &Plan, epoch_unix_ms: u64) -> Result<Vec<NamedWindow>, PlanError> {
    let mut windows: Vec<NamedWindow> = Vec::new();
    let mut keys: Vec<(LogKey, String)> = Vec::new();
    for WrittenLog { at, name, log, lab, .. } in written(plan)? {
        let refused = |error| PlanFault::failed(error).at(at.clone());
        if lab.is_none() {
            log.stated().map_err(refused)?;
        }
        let window = log.window(epoch_unix_ms).map_err(refused)?;
        if windows.iter().any(|other| other.name == name) {
            return Err(PlanFault::Taken(name).at(at.key("name")));
        }
        // Those in files are compared once they are read.
        if let Some(key) = &log.public_key {
            if let Some((_, one)) = keys.iter().find(|(known, _)| known == key.key()) {
                let same = SameKey { one: one.clone(), other: name };
                return Err(PlanFault::said(same).at(at.key("public_key")));
            }
            keys.push((key.key().clone(), name.clone()));
        }
        windows.push(NamedWindow { name, window });
    }
    Ok(windows)
}

/// What an embedded log promises, before it is known where it is served.
pub(crate) fn log_of(lab: &CtLabPlan) -> CtTargetPlan {
    let kind = match lab.flavour {
        Flavour::StaticCt => LogKind::StaticCt,
        Flavour::Rfc6962 => LogKind::Rfc6962,
    };
    // A log states it in whole seconds.
    let mmd = TimeSpan::from_secs(lab.max_merge_delay.duration().as_millis().div_ceil(1000) as u64);
    let (not_after_start, not_after_limit) =
        (lab.not_after_start.map(PlanDate::from), lab.not_after_limit.map(PlanDate::from));
    CtTargetPlan { kind, mmd, not_after_start, not_after_limit, ..CtTargetPlan::default() }
}

/// The name of a log that has none in the plan.
pub(super) const ONLY_LOG: &str = "log";
