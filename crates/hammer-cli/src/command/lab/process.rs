//! What each embedded target as a process of its own needs: its settings, its address, what it counted.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use hammer_lab::LabError;
use hammer_report::ExitCode;
use serde::Serialize;

use crate::error::CliError;
use crate::output::standard::print;
use crate::plan::document::PlanDocument;
use crate::plan::path::PlanPath;
use crate::plan::read::{self, SourcedPlan};
use crate::plan::source::PlanSource;
use crate::protocol::lab::unstarted;
use crate::protocol::registry::Registry;

/// The URL of a target that listens on every address, by one at which it is reached from here.
pub(super) fn reached(url: &str) -> String {
    url.replacen("//0.0.0.0:", "//127.0.0.1:", 1).replacen("//[::]:", "//[::1]:", 1)
}

/// `listen` is the address of the command line, which then is at fault, and no setting.
pub(super) fn unserved(
    error: LabError,
    listen: Option<SocketAddr>,
    at: &PlanPath,
    source: &PlanSource,
) -> CliError {
    match error {
        LabError::Listen { .. } if listen.is_some() => error.into(),
        error => unstarted(error, at).placed(source),
    }
}

pub(super) fn config<T: PlanDocument>(
    path: Option<&Path>,
    set: &[String],
    registry: &Registry,
) -> Result<SourcedPlan<T>, CliError> {
    Ok(match path {
        Some(path) => read::file(path, set, registry.grammar())?,
        None => read::arguments(set, registry.grammar())?,
    })
}

pub(super) fn told(stats: &impl Serialize) -> Result<ExitCode, CliError> {
    print(io::stdout(), |out| writeln!(out, "{}", serde_json::to_string(stats).map_err(io::Error::other)?))?;
    Ok(ExitCode::Clean)
}

/// A text as one word of a shell.
pub(super) fn quoted(text: &str) -> String {
    let is_plain = |symbol: char| symbol.is_ascii_alphanumeric() || "/._-+:@%".contains(symbol);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, word) in [("/a/b-1.json", "/a/b-1.json"), ("/a b", "'/a b'"), ("/it's", r"'/it'\''s'")] {
            assert_eq!(quoted(path), word);
        }
    }
}
