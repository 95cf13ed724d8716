//! What hammer does beside the load, told line by line to whoever looks for the reason of a failure: dials, look-ups, the audit's
//! requests, hooks, embedded targets. Nothing of it stands between an arrival and its record, and no line holds a secret.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Why no diagnostics can be given: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiagnosticsError {
    /// No such level, or no such list of targets with levels.
    #[error(
        "use --log {given:?}: {why}; expected a level (error, warn, info, debug, trace) or hammer_net=debug,..."
    )]
    Filter { given: String, why: String },
    /// The file for them cannot be written.
    #[error("write diagnostics to {path}: {source}")]
    File { path: String, source: io::Error },
}

/// Tells diagnostics from now on: those that `filter` names go to `file`, or to standard error where there is none.
///
/// # Errors
/// A filter that is none, or a file that cannot be written.
pub(crate) fn start(filter: &str, file: Option<&Path>) -> Result<(), DiagnosticsError> {
    let targets = targets(filter)
        .map_err(|why| DiagnosticsError::Filter { given: filter.to_owned(), why: why.to_string() })?;
    let lines = tracing_subscriber::registry().with(targets);
    match file {
        None => lines.with(fmt::layer().with_ansi(false).with_writer(io::stderr)).init(),
        Some(path) => {
            let file = File::create(path)
                .map_err(|source| DiagnosticsError::File { path: path.display().to_string(), source })?;
            lines.with(fmt::layer().with_ansi(false).with_writer(Mutex::new(file))).init();
        }
    }
    Ok(())
}

/// A level for all parts, or levels by part. A word alone would be a part with every line there is, so it has to be a level.
fn targets(filter: &str) -> Result<Targets, Box<dyn std::error::Error>> {
    match filter.contains('=') {
        true => Ok(filter.parse()?),
        false => Ok(Targets::new().with_default(filter.parse::<LevelFilter>()?)),
    }
}
