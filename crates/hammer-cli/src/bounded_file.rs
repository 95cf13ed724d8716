//! Files that are read whole, and that may be without end: devices, pipes.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// What is in the file, of no more than `most` bytes.
pub(crate) fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// The same of a text in UTF-8.
pub(crate) fn text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(bytes(path, most)?).map_err(|_| io::Error::other("it is no text in UTF-8"))
}

/// Bytes of a report: days of intervals are some megabytes.
pub(crate) const MOST_REPORT: u64 = 256 << 20;
/// Bytes of a plan.
pub(crate) const MOST_PLAN: u64 = 16 << 20;
