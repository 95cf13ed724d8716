//! Where operations go: what the plan names, or an embedded target that is started.

use std::net::ToSocketAddrs as _;
use std::sync::Arc;

use hammer_ct::{CtTargetPlan, LogKind, LogTarget, OneOrMany, Window};
use hammer_lab::ct::Flavour;
use hammer_lab::{CtLab, CtLabHandle, CtLabPlan, HttpLab, HttpLabHandle, LogConfig};
use hammer_net::guard;
use http::Uri;

use super::roots;
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::target::{LabPlan, TargetPlan};

/// Where operations go.
pub(super) struct Target {
    pub(super) endpoints: Vec<Uri>,
    pub(super) logs: Vec<Log>,
}

/// A log by its name; where it is the only one, that need not be given.
pub(super) struct Log {
    pub(super) name: String,
    pub(super) log: Arc<LogTarget>,
}

/// A log of the plan that nobody has looked at yet.
pub(super) struct NamedWindow {
    pub(super) name: String,
    pub(super) window: Window,
}

/// An embedded target that runs; dropping it stops it.
pub(crate) enum Lab {
    Ct(Vec<CtLabHandle>),
    Http(HttpLabHandle),
}

impl Lab {
    /// Counts the times of scripted faults from now.
    pub(crate) fn restart_faults(&self) {
        match self {
            Self::Ct(labs) => labs.iter().for_each(CtLabHandle::restart_faults),
            Self::Http(lab) => lab.restart_faults(),
        }
    }
}

impl Target {
    /// What an observation of that log is called.
    pub(super) fn observation(&self, log: usize, name: &str) -> String {
        match self.logs.as_slice() {
            [_] => name.to_owned(),
            logs => format!("{}/{name}", logs[log].name),
        }
    }

    fn of_logs(logs: Vec<Log>) -> Self {
        let urls = |log: &Log| log.log.submission.iter().chain(&log.log.monitoring).cloned().collect();
        let endpoints = logs.iter().flat_map(|log| -> Vec<Uri> { urls(log) }).collect();
        Self { endpoints, logs }
    }
}

/// Exactly one kind of target.
pub(super) fn one_target(plan: &Plan) -> Result<(), CliError> {
    let given = &plan.target;
    let kinds = [!given.url.is_empty(), given.log.is_some(), !given.logs.is_empty(), given.lab.is_some()];
    match kinds.iter().filter(|kind| **kind).count() {
        1 => user_agent(given),
        _ => Err(CliError::plan("use the plan: target: give exactly one of url, log, logs, lab")),
    }
}

/// The log of a target, once it is known that nobody has to allow it, or somebody did.
///
/// # Errors
/// When it is none, or one that nobody allowed.
pub(crate) fn log(target: &TargetPlan) -> Result<Arc<LogTarget>, CliError> {
    user_agent(target)?;
    let log = target.log.clone().unwrap_or_default();
    let log = log.target().map_err(|error| CliError::plan(format!("use the log: failed to {error}")))?;
    let log = Log { name: ONLY_LOG.to_owned(), log: Arc::new(log) };
    let reached = Target::of_logs(vec![log]);
    permitted(&reached, target.authorized.as_deref())?;
    Ok(reached.logs[0].log.clone())
}

fn user_agent(target: &TargetPlan) -> Result<(), CliError> {
    let made = target.user_agent().map(|_| ());
    made.map_err(|error| CliError::plan(format!("use the plan: target.contact: {error}")))
}

/// Holds the plan's logs against each other without reading what they name; their windows.
pub(super) fn check(plan: &Plan, epoch_unix_ms: u64) -> Result<Vec<NamedWindow>, CliError> {
    let mut windows: Vec<NamedWindow> = Vec::new();
    for Written { key, name, log, lab } in written(plan)? {
        let refused = |error| CliError::plan(format!("use the plan: {key}: failed to {error}"));
        if lab.is_none() {
            log.check(epoch_unix_ms).map_err(refused)?;
        }
        let window = log.window(epoch_unix_ms).map_err(refused)?;
        if windows.iter().any(|other| other.name == name) {
            return Err(CliError::plan(format!("use the plan: {key}: the name `{name}` is taken")));
        }
        windows.push(NamedWindow { name, window });
    }
    Ok(windows)
}

/// A log as the plan writes it.
struct Written {
    key: String,
    name: String,
    log: CtTargetPlan,
    /// How it is started, where it is embedded; its log says where it is served only then.
    lab: Option<CtLabPlan>,
}

fn written(plan: &Plan) -> Result<Vec<Written>, CliError> {
    let given = &plan.target;
    let mut written = Vec::new();
    if let Some(log) = &given.log {
        if log.name.is_some() {
            return Err(CliError::plan("use the plan: target.log.name: only one of several logs has a name"));
        }
        let (key, name) = ("target.log".to_owned(), ONLY_LOG.to_owned());
        written.push(Written { key, name, log: log.clone(), lab: None });
    }
    for (place, log) in given.logs.iter().enumerate() {
        let (key, name) = (format!("target.logs[{place}]"), log.name.clone().unwrap_or_default());
        word(&format!("{key}.name"), &name)?;
        written.push(Written { key, name, log: log.clone(), lab: None });
    }
    let Some(lab) = &given.lab else { return Ok(written) };
    one_lab(lab)?;
    if let Some(lab) = &lab.ct {
        let (key, name) = ("target.lab.ct".to_owned(), ONLY_LOG.to_owned());
        written.push(Written { key, name, log: log_of(lab), lab: Some(lab.clone()) });
    }
    for (name, lab) in &lab.logs {
        let (key, name) = (format!("target.lab.logs.{name}"), name.clone());
        word(&key, &name)?;
        written.push(Written { key, name, log: log_of(lab), lab: Some(lab.clone()) });
    }
    Ok(written)
}

fn word(key: &str, name: &str) -> Result<(), CliError> {
    match name.is_empty() || name.contains(['/', '.', ' ']) {
        true => Err(CliError::plan(format!("use the plan: {key}: `{name}` must be a word"))),
        false => Ok(()),
    }
}

fn one_lab(lab: &LabPlan) -> Result<(), CliError> {
    let kinds = [lab.ct.is_some(), !lab.logs.is_empty(), lab.http.is_some()];
    match kinds.iter().filter(|kind| **kind).count() {
        1 => Ok(()),
        _ => Err(CliError::plan("use the plan: target.lab: give exactly one of ct, logs, http")),
    }
}

/// Finds the target, or starts it.
pub(super) fn of(plan: &Plan, epoch_unix_ms: u64) -> Result<(Target, Option<Lab>), CliError> {
    one_target(plan)?;
    let (target, lab) = found(plan, epoch_unix_ms)?;
    different_keys(&target.logs)?;
    permitted(&target, plan.target.authorized.as_deref())?;
    Ok((target, lab))
}

fn found(plan: &Plan, epoch_unix_ms: u64) -> Result<(Target, Option<Lab>), CliError> {
    let given = &plan.target;
    match &given.lab {
        Some(LabPlan { http: Some(http), .. }) => {
            let lab = HttpLab::spawn_thread(http).map_err(CliError::plan)?;
            let endpoints = vec![uri("target.lab.http", &lab.url)?];
            return Ok((Target { endpoints, logs: Vec::new() }, Some(Lab::Http(lab))));
        }
        None if !given.url.is_empty() => {
            let urls = given.url.as_slice().iter().map(|url| uri("target.url", url));
            return Ok((Target { endpoints: urls.collect::<Result<_, _>>()?, logs: Vec::new() }, None));
        }
        _ => {}
    }
    let (mut logs, mut labs) = (Vec::new(), Vec::new());
    for Written { key, name, mut log, lab } in written(plan)? {
        if let Some(lab) = lab {
            let lab = ct_lab(plan, lab)?;
            log = served(log, &lab);
            labs.push(lab);
        }
        let refused = |error| CliError::plan(format!("use the plan: {key}: failed to {error}"));
        let window = log.window(epoch_unix_ms).map_err(refused)?;
        let log = LogTarget { window, ..log.target().map_err(refused)? };
        logs.push(Log { name, log: Arc::new(log) });
    }
    Ok((Target::of_logs(logs), (!labs.is_empty()).then_some(Lab::Ct(labs))))
}

fn ct_lab(plan: &Plan, lab: CtLabPlan) -> Result<CtLabHandle, CliError> {
    let mut config = LogConfig::from_plan(lab).map_err(CliError::plan)?;
    for roots in roots(plan)? {
        roots.certificates.into_iter().for_each(|root| config.add_root_der(root));
    }
    CtLab::spawn_thread(config).map_err(CliError::plan)
}

/// What an embedded log promises, before it is known where it is served.
pub(crate) fn log_of(lab: &CtLabPlan) -> CtTargetPlan {
    let kind = match lab.flavour {
        Flavour::StaticCt => LogKind::StaticCt,
        Flavour::Rfc6962 => LogKind::Rfc6962,
    };
    let mmd_seconds = lab.max_merge_delay.0.as_millis().div_ceil(1000) as u64;
    let (not_after_start, not_after_limit) = (lab.not_after_start.clone(), lab.not_after_limit.clone());
    CtTargetPlan { kind, mmd_seconds, not_after_start, not_after_limit, ..CtTargetPlan::default() }
}

/// The same with where it is served, and its key.
pub(crate) fn served(log: CtTargetPlan, lab: &CtLabHandle) -> CtTargetPlan {
    CtTargetPlan {
        submission_url: OneOrMany::One(lab.submission_url.clone()),
        monitoring_url: OneOrMany::One(lab.monitoring_url.clone()),
        origin: Some(lab.origin.clone()),
        public_key: Some(hammer_tlog::encoding::base64(&lab.log_key_spki)),
        ..log
    }
}

fn uri(key: &str, text: &str) -> Result<Uri, CliError> {
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    whole.parse().map_err(|error| CliError::plan(format!("use the plan: {key}: {text}: {error}")))
}

/// Names the target that nobody allowed before anything is dialled; every later connection is held against the same
/// rule. A name that cannot be looked up now is left to the run, which counts it.
fn permitted(target: &Target, authorized: Option<&str>) -> Result<(), CliError> {
    for endpoint in &target.endpoints {
        let Some(host) = endpoint.host() else { continue };
        let port =
            endpoint.port_u16().unwrap_or(if endpoint.scheme_str() == Some("https") { 443 } else { 80 });
        let Ok(addresses) = (host.trim_matches(['[', ']']), port).to_socket_addrs() else { continue };
        for address in addresses {
            guard::check(host, address, authorized).map_err(CliError::plan)?;
        }
    }
    Ok(())
}

/// Whoever has the key of two logs cannot tell their promises apart.
fn different_keys(logs: &[Log]) -> Result<(), CliError> {
    for (place, log) in logs.iter().enumerate() {
        if let Some(other) = logs[..place].iter().find(|other| other.log.key == log.log.key) {
            return Err(CliError::plan(format!(
                "use the plan: target: {} and {} have the same key: they are one log, which may have several URLs",
                other.name, log.name
            )));
        }
    }
    Ok(())
}

/// The name of a log that has none in the plan.
const ONLY_LOG: &str = "log";
