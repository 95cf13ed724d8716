//! Where operations go: what the plan names, or an embedded target that is started.

use std::net::ToSocketAddrs as _;
use std::sync::Arc;

use hammer_ct::{CtTargetPlan, LogKind, LogTarget, Window};
use hammer_lab::ct::Flavour;
use hammer_lab::{CtLabHandle, CtLabPlan, HttpLabHandle, LabError, LogConfig};
use hammer_net::guard;
use hammer_values::{OneOrMany, TimeSpan};
use http::Uri;

use super::roots;
use crate::error::{CliError, TargetError};
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::source::PlanSource;
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
pub(super) fn one_target(plan: &Plan) -> Result<(), PlanError> {
    let given = &plan.target;
    let kinds = [!given.url.is_empty(), given.log.is_some(), !given.logs.is_empty(), given.lab.is_some()];
    match kinds.iter().filter(|kind| **kind).count() {
        1 => user_agent(given),
        _ => Err(PlanFault::NotOne("url, log, logs, lab").at(PlanPath::of("target"))),
    }
}

/// The log of a target, once it is known that nobody has to allow it, or somebody did.
///
/// # Errors
/// When it is none, or one that nobody allowed.
pub(crate) fn log(target: &TargetPlan) -> Result<Arc<LogTarget>, CliError> {
    user_agent(target).map_err(|error| error.placed(&PlanSource::arguments()))?;
    let log = target.log.clone().unwrap_or_default().target().map_err(TargetError::from)?;
    let log = Log { name: ONLY_LOG.to_owned(), log: Arc::new(log) };
    let reached = Target::of_logs(vec![log]);
    permitted(&reached, target.authorized.as_deref())?;
    Ok(reached.logs[0].log.clone())
}

fn user_agent(target: &TargetPlan) -> Result<(), PlanError> {
    let refused = |error| PlanFault::from(error).at(PlanPath::of("target.contact"));
    target.user_agent().map(drop).map_err(refused)
}

/// Holds the plan's logs against each other without reading what they name; their windows.
pub(super) fn check(plan: &Plan, epoch_unix_ms: u64) -> Result<Vec<NamedWindow>, PlanError> {
    let mut windows: Vec<NamedWindow> = Vec::new();
    for WrittenLog { at, name, log, lab } in written(plan)? {
        let refused = |error| PlanFault::from(error).at(at.clone());
        if lab.is_none() {
            log.check(epoch_unix_ms).map_err(refused)?;
        }
        let window = log.window(epoch_unix_ms).map_err(refused)?;
        if windows.iter().any(|other| other.name == name) {
            return Err(PlanFault::Taken(name).at(at.key("name")));
        }
        windows.push(NamedWindow { name, window });
    }
    Ok(windows)
}

/// A log as the plan writes it.
struct WrittenLog {
    at: PlanPath,
    name: String,
    log: CtTargetPlan,
    /// How it is started, where it is embedded; its log says where it is served only then.
    lab: Option<CtLabPlan>,
}

fn written(plan: &Plan) -> Result<Vec<WrittenLog>, PlanError> {
    let (given, target) = (&plan.target, PlanPath::of("target"));
    let mut written = Vec::new();
    if let Some(log) = &given.log {
        let (at, name) = (target.clone().key("log"), ONLY_LOG.to_owned());
        if log.name.is_some() {
            return Err(PlanFault::NamedAlone.at(at.key("name")));
        }
        written.push(WrittenLog { at, name, log: log.clone(), lab: None });
    }
    for (place, log) in given.logs.iter().enumerate() {
        let (at, name) = (target.clone().key("logs").item(place), log.name.clone().unwrap_or_default());
        word(&name, || at.clone().key("name"))?;
        written.push(WrittenLog { at, name, log: log.clone(), lab: None });
    }
    let Some(lab) = &given.lab else { return Ok(written) };
    let target = target.key("lab");
    one_lab(lab)?;
    if let Some(lab) = &lab.ct {
        let (at, name) = (target.clone().key("ct"), ONLY_LOG.to_owned());
        written.push(WrittenLog { at, name, log: log_of(lab), lab: Some(lab.clone()) });
    }
    for (name, lab) in &lab.logs {
        let (at, name) = (target.clone().key("logs").key(name), name.clone());
        word(&name, || at.clone())?;
        written.push(WrittenLog { at, name, log: log_of(lab), lab: Some(lab.clone()) });
    }
    Ok(written)
}

fn word(name: &str, at: impl FnOnce() -> PlanPath) -> Result<(), PlanError> {
    match name.is_empty() || name.contains(['/', '.', ' ']) {
        true => Err(PlanFault::NoWord(name.to_owned()).at(at())),
        false => Ok(()),
    }
}

fn one_lab(lab: &LabPlan) -> Result<(), PlanError> {
    let kinds = [lab.ct.is_some(), !lab.logs.is_empty(), lab.http.is_some()];
    match kinds.iter().filter(|kind| **kind).count() {
        1 => Ok(()),
        _ => Err(PlanFault::NotOne("ct, logs, http").at(PlanPath::of("target.lab"))),
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
            let at = PlanPath::of("target.lab.http");
            let lab = HttpLabHandle::spawn(http.clone()).map_err(|error| unstarted(error, &at))?;
            let endpoints = vec![uri(&lab.url, at)?];
            return Ok((Target { endpoints, logs: Vec::new() }, Some(Lab::Http(lab))));
        }
        None if !given.url.is_empty() => {
            let urls = given.url.as_slice().iter();
            let endpoints = urls.map(|url| uri(url, PlanPath::of("target.url"))).collect::<Result<_, _>>()?;
            return Ok((Target { endpoints, logs: Vec::new() }, None));
        }
        _ => {}
    }
    let (mut logs, mut labs) = (Vec::new(), Vec::new());
    for WrittenLog { at, name, mut log, lab } in written(plan)? {
        if let Some(lab) = lab {
            let lab = ct_lab(plan, lab, &at)?;
            log = served(log, &lab);
            labs.push(lab);
        }
        let refused = |error| PlanFault::from(error).at(at.clone());
        let window = log.window(epoch_unix_ms).map_err(refused)?;
        let log = LogTarget { window, ..log.target().map_err(refused)? };
        logs.push(Log { name, log: Arc::new(log) });
    }
    Ok((Target::of_logs(logs), (!labs.is_empty()).then_some(Lab::Ct(labs))))
}

fn ct_lab(plan: &Plan, lab: CtLabPlan, at: &PlanPath) -> Result<CtLabHandle, CliError> {
    let refused = |error| unstarted(error, at);
    let mut config = LogConfig::from_plan(lab).map_err(refused)?;
    for roots in roots(plan)? {
        roots.certificates.into_iter().for_each(|root| config.add_root_der(root));
    }
    CtLabHandle::spawn(config).map_err(refused)
}

/// What keeps the embedded target of that path from its start: a key of it, a file that it names, or the machine.
pub(crate) fn unstarted(error: LabError, at: &PlanPath) -> CliError {
    match error {
        LabError::Plan { key, reason } => PlanFault::Misfit(reason).at(at.clone().key(key)).into(),
        LabError::File { .. } | LabError::Content { .. } => PlanFault::from(error).at(at.clone()).into(),
        LabError::Listen { .. } => PlanFault::from(error).at(at.clone().keys("serve.listen")).into(),
        LabError::Thread(_) | LabError::Died => error.into(),
    }
}

/// What an embedded log promises, before it is known where it is served.
pub(crate) fn log_of(lab: &CtLabPlan) -> CtTargetPlan {
    let kind = match lab.flavour {
        Flavour::StaticCt => LogKind::StaticCt,
        Flavour::Rfc6962 => LogKind::Rfc6962,
    };
    // A log states it in whole seconds.
    let mmd = TimeSpan::from_secs(lab.max_merge_delay.duration().as_millis().div_ceil(1000) as u64);
    let (not_after_start, not_after_limit) = (lab.not_after_start.clone(), lab.not_after_limit.clone());
    CtTargetPlan { kind, mmd, not_after_start, not_after_limit, ..CtTargetPlan::default() }
}

/// The same with where it is served, and its key.
pub(crate) fn served(log: CtTargetPlan, lab: &CtLabHandle) -> CtTargetPlan {
    CtTargetPlan {
        submission_url: OneOrMany::One(lab.url.clone()),
        monitoring_url: OneOrMany::One(lab.url.clone()),
        origin: Some(lab.origin().to_owned()),
        public_key: Some(hammer_tlog::encoding::base64(lab.log_key_spki())),
        ..log
    }
}

fn uri(url: &str, at: PlanPath) -> Result<Uri, PlanError> {
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    whole.parse().map_err(|source| PlanFault::Url { url: url.to_owned(), source }.at(at))
}

/// Names the target that nobody allowed before anything is dialled; every later connection is held against the same
/// rule. A name that cannot be looked up now is left to the run, which counts it.
fn permitted(target: &Target, authorized: Option<&str>) -> Result<(), TargetError> {
    for endpoint in &target.endpoints {
        let Some(host) = endpoint.host() else { continue };
        let port =
            endpoint.port_u16().unwrap_or(if endpoint.scheme_str() == Some("https") { 443 } else { 80 });
        let Ok(addresses) = (host.trim_matches(['[', ']']), port).to_socket_addrs() else { continue };
        for address in addresses {
            guard::check(host, address, authorized)?;
        }
    }
    Ok(())
}

/// Whoever has the key of two logs cannot tell their promises apart.
fn different_keys(logs: &[Log]) -> Result<(), TargetError> {
    for (place, log) in logs.iter().enumerate() {
        if let Some(other) = logs[..place].iter().find(|other| other.log.key == log.log.key) {
            return Err(TargetError::SameKey { one: other.name.clone(), other: log.name.clone() });
        }
    }
    Ok(())
}

/// The name of a log that has none in the plan.
const ONLY_LOG: &str = "log";
