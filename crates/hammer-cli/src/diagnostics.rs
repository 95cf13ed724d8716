//! What hammer does beside the load, told line by line to whoever looks for the reason of a failure: dials, look-ups, the audit's
//! requests, hooks, embedded targets. Nothing of it stands between an arrival and its record, and no line holds a secret.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

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
    /// No part of hammer is called so.
    #[error("use --log {given:?}: hammer has no part {part}; its parts are hammer, {}", PARTS.join(", "))]
    Part { given: String, part: String },
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
    if let Some(part) = targets.iter().find_map(|(target, _)| unknown_part(target)) {
        return Err(DiagnosticsError::Part { given: filter.to_owned(), part: part.to_owned() });
    }
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
            let lines_of = LineFile { file, path: path.to_owned() };
            lines.with(fmt::layer().with_ansi(false).with_writer(Mutex::new(lines_of))).init();
        }
    }
    Ok(())
}

/// What became of lines that their file did not take, for the end of the command.
pub(crate) fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// A file of lines, of which the first failure is kept: who writes a line has nobody to tell.
struct LineFile {
    file: File,
    path: PathBuf,
}

impl Write for LineFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.file.write(line).inspect_err(|error| {
            // Who writes all of a line tries again.
            if error.kind() == io::ErrorKind::Interrupted {
                return;
            }
            LOST.get_or_init(|| format!("failed to write diagnostics to {}: {error}", self.path.display()));
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

static LOST: OnceLock<String> = OnceLock::new();

/// The part that a target names, where it is none of hammer's and is called as if it were; libraries have parts of their own.
fn unknown_part(target: &str) -> Option<&str> {
    let part = target.split("::").next()?;
    (part.starts_with("hammer") && part != "hammer" && !PARTS.contains(&part)).then_some(part)
}

/// The crates that tell lines, beside the command itself (`hammer`).
const PARTS: [&str; 5] =
    ["hammer_audit", "hammer_exchange", "hammer_lab", "hammer_lab_sigstore", "hammer_net"];

/// Whether an argument other than `--log-file` names that file.
fn is_named_again(file: &Path, arguments: impl Iterator<Item = OsString>) -> bool {
    let mut is_own = false;
    for argument in arguments {
        let text = argument.to_string_lossy();
        if std::mem::replace(&mut is_own, text == LOG_FILE) || text.starts_with(LOG_FILE) {
            continue;
        }
        let value = text.split_once('=').map_or(&*text, |(_, value)| value);
        // As curl has a file that is sent.
        let value = value.strip_prefix('@').unwrap_or(value);
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
    fn parts_are_the_crates_that_tell_lines() {
        let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let tells = |of: &Path| {
            let manifest = std::fs::read_to_string(of.join("Cargo.toml")).unwrap_or_default();
            manifest.lines().any(|line| line.starts_with("tracing."))
        };
        let folders = std::fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path());
        let named = folders
            .filter(|of| tells(of))
            .map(|of| of.file_name().unwrap().to_string_lossy().replace('-', "_"));
        let mut named: Vec<_> = named.filter(|part| part != "hammer_cli").collect();
        named.sort_unstable();
        assert_eq!(named, PARTS);
        assert_eq!(unknown_part("hammer_nett::dial"), Some("hammer_nett"));
        for known in ["hammer_net::dial", "hammer", "h2", "hyper_util"] {
            assert_eq!(unknown_part(known), None);
        }
    }

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
            &["http", "post", "URL", "-d", "@/tmp/plan.yaml", "--log-file", "/tmp/plan.yaml"],
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
