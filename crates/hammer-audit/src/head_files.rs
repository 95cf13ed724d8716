//! Heads as evidence, in files.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hammer_tlog::logs::follow::Head;

/// Writes two heads that contradict each other, as they were served, to files of their own in `folder`, which is made where
/// there is none; `run` stands in their names. No file is written over; one that was saved before is there already.
///
/// # Errors
/// When one cannot be written.
pub fn save_heads(folder: &Path, run: u64, heads: &[Head; 2]) -> io::Result<[PathBuf; 2]> {
    std::fs::create_dir_all(folder)?;
    let [older, newer] = heads;
    Ok([write(folder, run, "older", older)?, write(folder, run, "newer", newer)?])
}

/// The same of one head that contradicts none, and of the one before it, where there is one.
///
/// # Errors
/// When one cannot be written.
pub(crate) fn save_newer(
    folder: &Path,
    run: u64,
    older: Option<&Head>,
    newer: &Head,
) -> io::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder)?;
    let older = older.map(|older| write(folder, run, "older", older));
    older.into_iter().chain([write(folder, run, "newer", newer)]).collect()
}

fn write(folder: &Path, run: u64, which: &str, head: &Head) -> io::Result<PathBuf> {
    let root: String = head.root.to_string().chars().take(8).collect();
    let name = format!("hammer-{run}-{which}-head-{}-{root}-{}", head.size, head.fetched_ns);
    let path = folder.join(name);
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(&head.raw)?,
        // Its name says what it holds.
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists && std::fs::read(&path)? == *head.raw => {}
        Err(why) => return Err(why),
    }
    Ok(path)
}
