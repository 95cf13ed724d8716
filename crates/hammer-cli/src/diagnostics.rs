//! What hammer does beside the load, told line by line to whoever looks for the reason of a failure: dials, look-ups, the audit's
//! requests, hooks, embedded targets. Nothing of it stands between an arrival and its record, and no line holds a secret.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::plan::named_files::is_same_place;

/// Why no diagnostics can be given: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiagnosticsError {
    /// No such level, or no such list of targets with levels.
    #[error(
        "use --log {given:?}: expected a level (error, warn, info, debug, trace) or levels by part (hammer_net=debug,...)"
    )]
    Filter { given: String },
    /// The file for them cannot be written.
    #[error("write diagnostics to {path}: {source}")]
    File { path: String, source: io::Error },
    /// They would be written into what is read, or written by another.
    #[error("use --log-file: {0} is named by another argument as well")]
    Shared(String),
}

/// Tells diagnostics from now on: those that `filter` names go to `file`, or to standard error where there is none.
///
/// # Errors
/// A filter that is none, or a file that cannot be written or has another part in the command.
pub(crate) fn start(filter: &str, file: Option<&Path>) -> Result<(), DiagnosticsError> {
    let targets = targets(filter).map_err(|_| DiagnosticsError::Filter { given: filter.to_owned() })?;
    let lines = tracing_subscriber::registry().with(targets);
    match file {
        None => lines.with(fmt::layer().with_ansi(false).with_writer(io::stderr)).init(),
        Some(path) => {
            if is_named_again(path, std::env::args_os().skip(1)) {
                return Err(DiagnosticsError::Shared(path.display().to_string()));
            }
            // What a file held stays: a plan may name it too.
            let file = File::options().create(true).append(true).open(path);
            let file =
                file.map_err(|source| DiagnosticsError::File { path: path.display().to_string(), source })?;
            lines.with(fmt::layer().with_ansi(false).with_writer(Mutex::new(file))).init();
        }
    }
    Ok(())
}

/// Whether an argument other than `--log-file` names that file.
fn is_named_again(file: &Path, arguments: impl Iterator<Item = OsString>) -> bool {
    let mut is_own = false;
    for argument in arguments {
        let text = argument.to_string_lossy();
        if std::mem::replace(&mut is_own, text == LOG_FILE) || text.starts_with(LOG_FILE) {
            continue;
        }
        let value = text.split_once('=').map_or(&*text, |(_, value)| value);
        if is_same_place(Path::new(value), file) {
            return true;
        }
    }
    false
}

const LOG_FILE: &str = "--log-file";

/// A level for all parts, or levels by part. A word alone would be a part with every line there is, so it has to be a level.
fn targets(filter: &str) -> Result<Targets, Box<dyn std::error::Error>> {
    match filter.contains('=') {
        true => Ok(filter.parse()?),
        false => Ok(Targets::new().with_default(filter.parse::<LevelFilter>()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_another_argument_names_is_none_for_lines() {
        let named = |arguments: &[&str]| {
            is_named_again(Path::new("/tmp/plan.yaml"), arguments.iter().map(OsString::from))
        };
        for arguments in [
            &["run", "/tmp/plan.yaml", "--log-file", "/tmp/plan.yaml"][..],
            &["--log-file=/tmp/plan.yaml", "run", "/tmp/../tmp/plan.yaml"],
            &["sign", "--out=/tmp/plan.yaml", "--log-file", "x"],
            &["run", "p", "--set", "output.report=/tmp/plan.yaml"],
        ] {
            assert!(named(arguments), "{arguments:?}");
        }
        for arguments in [
            &["run", "plan.yaml", "--log-file", "/tmp/plan.yaml"][..],
            &["--log-file=/tmp/plan.yaml", "run", "other"],
        ] {
            assert!(!named(arguments), "{arguments:?}");
        }
    }
}
