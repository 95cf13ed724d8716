//! Commands around the runs, and beside them.

use std::io;
use std::process::{Command, ExitStatus};

use hammer_measure::credential::without_any_secret;
use hammer_measure::recorder::start_of;
use hammer_report::summary::HookOutput;
use serde_json::Value;

use crate::plan::HookPlan;
use crate::plan::path::PlanPath;
use crate::plan::source::{PlanPlace, PlanSource};

mod attendant;
mod lines;
mod looks;
pub(crate) mod marks;
pub(crate) mod mid_run;
pub(crate) mod scripted_faults;
mod shell_command;

/// A fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum HookError {
    /// There is no shell to run it.
    #[error("run the hook `{command}` ({name}, {place}): {source}")]
    Unstarted { name: String, command: String, place: Box<PlanPlace>, source: io::Error },
    /// It ended with another status than 0.
    #[error("run the hook `{command}` ({name}, {place}): {}{stderr}", ended(*status))]
    Failed {
        name: String,
        command: String,
        /// Where it is written.
        place: Box<PlanPlace>,
        status: ExitStatus,
        /// What it wrote to standard error, behind a colon; empty where that is nothing.
        stderr: String,
    },
}

/// Runs each command of `list`, which is that key of the plan's `hooks`, by `sh -c`; its output is a number where it reads as one, else its
/// text, trimmed.
///
/// # Errors
/// When one cannot be started or ends with another status than 0.
pub(crate) fn run(list: &str, hooks: &[HookPlan], source: &PlanSource) -> Result<Vec<HookOutput>, HookError> {
    let path = |place| PlanPath::of("hooks").key(list).item(place).key("run");
    let run = |(place, hook)| one(hook, || source.place(&path(place), "this hook"));
    hooks.iter().enumerate().map(run).collect()
}

fn one(hook: &HookPlan, place: impl Fn() -> PlanPlace) -> Result<HookOutput, HookError> {
    let (name, command) = (hook.name.clone(), hook.run.clone());
    tracing::info!(hook = %hook.name, "runs");
    let ended = Command::new("sh").args(["-c", &hook.run]).output();
    let ended = ended.map_err(|source| HookError::Unstarted {
        name: name.clone(),
        command: command.clone(),
        place: Box::new(place()),
        source,
    })?;
    tracing::info!(hook = %hook.name, status = %ended.status, "ended");
    if !ended.status.success() {
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let stderr = match stderr.trim() {
            "" => String::new(),
            said => format!(": {}", told(said)),
        };
        return Err(HookError::Failed {
            name,
            command,
            place: Box::new(place()),
            status: ended.status,
            stderr,
        });
    }
    let text = String::from_utf8_lossy(&ended.stdout);
    Ok(HookOutput { name: hook.name.clone(), output: printed(text.trim()) })
}

/// What a command said, as it may be told.
fn told(said: &str) -> String {
    let start = without_any_secret(start_of(said, MOST_SAID));
    if said.len() > MOST_SAID { format!("{start}... ({} bytes)", said.len()) } else { start }
}

/// Bytes of what a command says that are told.
const MOST_SAID: usize = 64 << 10;

/// How a command ended.
fn ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("it ended with status {code}"),
        None => format!("it was ended by a signal ({status})"),
    }
}

/// What a hook has printed: a number where one says all of it, else the text. Leading zeros are of an id, and of whole numbers beyond
/// 2^53 readers of JSON lose digits.
fn printed(text: &str) -> Value {
    let whole = text.parse::<i64>().ok().filter(|whole| whole.unsigned_abs() <= 1 << 53);
    if let Some(whole) = whole.filter(|whole| whole.to_string() == text) {
        return whole.into();
    }
    let has_fraction = text.contains(['.', 'e', 'E']);
    let digits = text.trim_start_matches('-').as_bytes();
    let is_id = matches!(digits, [b'0', b'0'..=b'9', ..]);
    let number = text.parse::<f64>().ok().filter(|number| has_fraction && !is_id && number.is_finite());
    // Numbers are data of the summary; what else is printed may be a reply with a token in it.
    number.map_or_else(|| Value::String(told(text)), Value::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::printed;

    #[test]
    fn what_a_hook_prints_is_a_number_only_where_nothing_of_it_is_lost() {
        for (text, number) in [
            ("3", json!(3)),
            ("-12", json!(-12)),
            ("0", json!(0)),
            ("12.5", json!(12.5)),
            ("1e3", json!(1000.0)),
        ] {
            assert_eq!(printed(text), number);
        }
        for text in
            ["007", "07.5", "12345678901234567890", "9007199254740993", "inf", "NaN", "", "+3", "a1b2c3"]
        {
            assert_eq!(printed(text), json!(text));
        }
    }
}
