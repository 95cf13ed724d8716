//! Commands around the runs.

use std::process::Command;

use hammer_report::summary::HookOutput;
use serde_json::Value;

use crate::error::CliError;
use crate::plan::HookPlan;

/// Runs each command by `sh -c`; its output is a number where it reads as one, else its text, trimmed.
///
/// # Errors
/// When one cannot be started or ends with another status than 0.
pub(crate) fn run(hooks: &[HookPlan]) -> Result<Vec<HookOutput>, CliError> {
    hooks.iter().map(one).collect()
}

fn one(hook: &HookPlan) -> Result<HookOutput, CliError> {
    let refused = |reason: String| CliError::Hook { command: hook.run.clone(), reason };
    let ended =
        Command::new("sh").args(["-c", &hook.run]).output().map_err(|error| refused(error.to_string()))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(refused(format!("{}: {}", ended.status, said.trim())));
    }
    let text = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let output = number.map_or_else(|| Value::String(text), Value::from);
    Ok(HookOutput { name: hook.name.clone(), output })
}
