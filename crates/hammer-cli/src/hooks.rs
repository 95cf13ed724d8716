//! Commands around the runs, and beside them.

use std::io;
use std::process::{Command, ExitStatus};

use hammer_report::summary::HookOutput;
use serde_json::Value;

use crate::plan::HookPlan;

mod attendant;
mod lines;
mod looks;
mod marks;
pub(crate) mod mid_run;
pub(crate) mod scripted_faults;
mod shell_command;

/// A fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum HookError {
    /// There is no shell to run it.
    #[error("run the hook `{command}`: {source}")]
    Unstarted { command: String, source: io::Error },
    /// It ended with another status than 0.
    #[error("run the hook `{command}`: {status}: {stderr}")]
    Failed { command: String, status: ExitStatus, stderr: String },
}

/// Runs each command by `sh -c`; its output is a number where it reads as one, else its text, trimmed.
///
/// # Errors
/// When one cannot be started or ends with another status than 0.
pub(crate) fn run(hooks: &[HookPlan]) -> Result<Vec<HookOutput>, HookError> {
    hooks.iter().map(one).collect()
}

fn one(hook: &HookPlan) -> Result<HookOutput, HookError> {
    let command = || hook.run.clone();
    tracing::info!(hook = %hook.name, "runs");
    let ended = Command::new("sh").args(["-c", &hook.run]).output();
    let ended = ended.map_err(|source| HookError::Unstarted { command: command(), source })?;
    tracing::info!(hook = %hook.name, status = %ended.status, "ended");
    if !ended.status.success() {
        let stderr = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        return Err(HookError::Failed { command: command(), status: ended.status, stderr });
    }
    let text = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let output = number.map_or_else(|| Value::String(text), Value::from);
    Ok(HookOutput { name: hook.name.clone(), output })
}
