//! Logs that are not as the plan says, found before the first arrival.

use std::fmt;
use std::rc::Rc;

use hammer_audit::LogPlace;
use hammer_core::clock::MonotonicClock;
use hammer_core::runtime::Clock;
use hammer_ct::{Accepted, LogMismatch, Preflight, PreflightFinding, SubmitPlan};

use super::opened::OpenLog;
use crate::before_run;
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::PlanFault;
use crate::plan::path::PlanPath;

/// A log that says it takes no root.
#[derive(Clone)]
pub(super) struct RootlessLog {
    /// Where it is asked again.
    pub(super) place: LogPlace,
    /// Whether it has accepted chains.
    pub(super) accepted: Accepted,
}

/// What a look at the logs of a plan has shown.
pub(super) struct Looked {
    /// Those that take no root, by their own word.
    pub(super) rootless: Vec<Option<RootlessLog>>,
    /// What the reader of the report must be told.
    pub(super) notes: Vec<String>,
}

/// Holds the logs that answer against what the plan says of them, and against the roots that chains submitted to each end in. One that no
/// workload of logs goes to may be anything that requests are sent to.
///
/// # Errors
/// The first log that is not as the plan says.
pub(super) fn look(
    plan: &Plan,
    logs: &[OpenLog],
    (submitted, are_loaded): (&[Vec<&SubmitPlan>], &[bool]),
) -> Result<Looked, CliError> {
    let (mut rootless, mut notes) = (vec![None; logs.len()], Vec::new());
    for (place, (log, submitted)) in logs.iter().zip(submitted).enumerate() {
        if log.is_embedded {
            continue;
        }
        let client = plan.target.client(log.service.as_deref(), log.log.submission.clone(), 1, plan.seed)?;
        let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::starting_now());
        let sent = log.log.submission_client(client.clone()).into();
        let is_loaded = are_loaded.get(place).is_some_and(|is| *is);
        let look = Preflight { log: &log.log, client, roots: roots(plan, submitted), is_loaded, clock };
        let found = before_run::ask(look.look())?;
        let PreflightFinding { mismatches, takes_none, wavered } =
            found.map_err(|error| PlanFault::from(error).at(log.at.clone()))?;
        rootless[place] = takes_none.then(|| RootlessLog { place: sent, accepted: Accepted::default() });
        notes.extend(wavered.map(|said| {
            format!("{}: of the first head before the run, {said}; the next was as it should be", log.name)
        }));
        if let Some(mismatch) = mismatches.into_iter().next() {
            let at = log.at.clone().key(key(&mismatch));
            let mended = MendedMismatch { mismatch, log: log.at.clone(), seed: plan.seed };
            return Err(PlanFault::said(mended).at(at).into());
        }
    }
    Ok(Looked { rootless, notes })
}

/// The roots that these submissions' chains end in, as far as it is known.
fn roots(plan: &Plan, submitted: &[&SubmitPlan]) -> Vec<Vec<u8>> {
    let known = submitted.iter().filter_map(|submit| hammer_ct::roots(submit, plan.seed).ok());
    let mut roots: Vec<_> = known.flat_map(|roots| roots.certificates).collect();
    roots.sort();
    roots.dedup();
    roots
}

/// The key of a log that says something else.
fn key(mismatch: &LogMismatch) -> &'static str {
    match mismatch {
        LogMismatch::Kind { .. } => "kind",
        LogMismatch::Origin { .. } => "origin",
        LogMismatch::Key { .. } | LogMismatch::HeadKey { .. } => "public_key",
        LogMismatch::Roots { .. } => "submission_url",
        LogMismatch::NoLog { .. } | LogMismatch::Folder { .. } => "monitoring_url",
    }
}

/// The argument of a command of one line by which it means that log; none where it would take more than one.
pub(crate) fn in_one_line(mismatch: &LogMismatch) -> Option<String> {
    match mismatch {
        LogMismatch::Kind { is, .. } => Some(format!("--kind {is}")),
        LogMismatch::Origin { signs, is_key_right: true, .. } => Some(format!("--origin {}", typed(signs))),
        LogMismatch::Key { .. } | LogMismatch::HeadKey { .. } => Some("--key KEY".to_owned()),
        LogMismatch::Origin { .. }
        | LogMismatch::NoLog { .. }
        | LogMismatch::Roots { .. }
        | LogMismatch::Folder { .. } => None,
    }
}

/// What is wrong, and the command that mends it: a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{mismatch}: {}, and `--no-preflight` goes on all the same", Mend(self))]
struct MendedMismatch {
    mismatch: LogMismatch,
    log: PlanPath,
    seed: u64,
}

struct Mend<'a>(&'a MendedMismatch);

impl fmt::Display for Mend<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MendedMismatch { mismatch, log, seed } = self.0;
        let log = log.to_string();
        let line = in_one_line(mismatch).unwrap_or_default();
        match mismatch {
            LogMismatch::Kind { is, .. } => {
                write!(f, "`--set {log}.kind={is}` says so, and in one line `{line}`")
            }
            LogMismatch::Origin { signs, is_key_right: true, .. } => {
                let signs = typed(signs);
                write!(f, "`--set {log}.origin={signs}` says so, and in one line `{line}`")
            }
            LogMismatch::Origin { .. } => {
                write!(f, "it is another log, or has another key too (`{log}.origin` and `{log}.public_key`)")
            }
            LogMismatch::Key { .. } | LogMismatch::HeadKey { .. } => {
                write!(
                    f,
                    "`--set {log}.public_key=KEY` (or `public_key_file`) gives its own, and in one line `{line}`"
                )
            }
            LogMismatch::Roots { .. } => {
                write!(
                    f,
                    "`hammer ct roots PLAN --seed {seed} >roots.pem` (without PLAN for a command of one line) prints those that it has to be given"
                )
            }
            LogMismatch::NoLog { .. } => {
                write!(f, "a log's URL ends before `/checkpoint` and `/ct/v1` (`{log}.monitoring_url`)")
            }
            LogMismatch::Folder { .. } => {
                write!(f, "name the folder that holds it, or start its log first")
            }
        }
    }
}

/// An origin as it may be typed into a shell; the log may have chosen it for one.
fn typed(origin: &str) -> &str {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "./:_-~".contains(letter);
    if origin.chars().all(is_plain) { origin } else { "ORIGIN" }
}
