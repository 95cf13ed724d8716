//! Plans that are carried out by turns, so that what changes with time changes for each of them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tempfile::TempDir;

use crate::args::CompareArgs;
use crate::error::{CliError, UsageError};

/// The reports of plans, for each plan those of its runs.
pub(super) struct Rounds {
    pub(super) reports: Vec<Vec<PathBuf>>,
    /// Goes with them, where nobody keeps them.
    _folder: Option<TempDir>,
}

impl Rounds {
    /// Carries each plan out in every round, each run in a process of its own, which starts as cold as any other. Every other round is in the reverse order.
    pub(super) fn carried_out(args: &CompareArgs) -> Result<Self, CliError> {
        let (folder, temporary) = folder(args.keep.as_deref())?;
        let mut reports = vec![Vec::new(); args.run.len()];
        for round in 1..=args.rounds {
            let mut places: Vec<usize> = (0..args.run.len()).collect();
            if round % 2 == 0 {
                places.reverse();
            }
            for place in places {
                let report = folder.join(format!("{}-{round}.json", super::letter(place)));
                carry_out(&args.run[place], &report)?;
                reports[place].push(report);
            }
        }
        Ok(Self { reports, _folder: temporary })
    }
}

fn folder(kept: Option<&Path>) -> Result<(PathBuf, Option<TempDir>), UsageError> {
    let Some(kept) = kept else {
        let made = TempDir::new().map_err(|source| UsageError::Folder { path: env::temp_dir(), source })?;
        return Ok((made.path().to_owned(), Some(made)));
    };
    fs::create_dir_all(kept).map_err(|source| UsageError::Folder { path: kept.to_owned(), source })?;
    Ok((kept.to_owned(), None))
}

/// One run, whose text is not shown: what is said against it stands in its report.
fn carry_out(plan: &Path, report: &Path) -> Result<(), CliError> {
    let unstarted = |source| UsageError::Program { source };
    let mut run = Command::new(env::current_exe().map_err(unstarted)?);
    run.arg("run").arg(plan).arg("--out").arg(report).arg("--quiet").stdout(std::process::Stdio::null());
    // Of an earlier comparison: no run may be taken for another.
    let _ = fs::remove_file(report);
    let ended = run.status().map_err(unstarted)?;
    match (ended.code(), report.exists()) {
        (Some(130) | None, _) => Err(CliError::Interrupted),
        (Some(_), true) => Ok(()),
        (Some(code), false) => Err(UsageError::NoReport { plan: plan.to_owned(), code }.into()),
    }
}
