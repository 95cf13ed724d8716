//! The file of a corpus: JSON lines. The first says which version they are of; each other is an entry, or where a fill began.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::entry::CorpusEntry;
use crate::error::SigstoreError;

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorpusFile {
    pub(crate) entries: Vec<CorpusEntry>,
    /// The number that an operation of another fill may have: beyond those of all that were begun.
    pub(super) next_seq: u64,
    /// The bytes that can be read; what is behind them was cut off.
    pub(super) readable: u64,
    /// Whether those end with their line.
    pub(super) is_ended: bool,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// From 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionLine {
    hammer_corpus: u64,
}

/// A fill began, whose operations are numbered from `fill` on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FillLine {
    fill: u64,
}

impl CorpusFile {
    /// Reads a file. Its last line may be cut off, as a fill leaves it that was killed.
    ///
    /// # Errors
    /// When it cannot be read, or a line of it is neither an entry nor the beginning of a fill.
    pub fn read(path: &Path) -> Result<Self, SigstoreError> {
        let failed = |source| SigstoreError::CorpusUnread { path: path.to_owned(), source };
        let bytes = std::fs::read(path).map_err(failed)?;
        let bad =
            |BadLine { line, reason }| SigstoreError::CorpusLine { path: path.to_owned(), line, reason };
        Self::parse(&bytes).map_err(bad)
    }

    /// The same of the bytes of a file.
    ///
    /// # Errors
    /// The first line that is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadLine> {
        let mut file = Self { is_ended: true, ..Self::default() };
        let mut rest = bytes;
        let mut number = 0;
        while !rest.is_empty() {
            number += 1;
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (line, behind) = match end {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, &[][..]),
            };
            match file.take(number, line) {
                Ok(()) => {}
                // It was cut off as it was written.
                Err(_) if end.is_none() && (number > 1 || version_line().as_bytes().starts_with(line)) => {
                    break;
                }
                Err(reason) => return Err(BadLine { line: number, reason }),
            }
            file.is_ended = end.is_some();
            file.readable += (rest.len() - behind.len()) as u64;
            rest = behind;
        }
        Ok(file)
    }

    fn take(&mut self, number: u64, line: &[u8]) -> Result<(), String> {
        if number == 1 {
            let read: VersionLine =
                serde_json::from_slice(line).map_err(|why| format!("it is no corpus: {why}"))?;
            return match read.hammer_corpus {
                VERSION => Ok(()),
                other => Err(format!("it is a corpus of version {other}, and version {VERSION} is known")),
            };
        }
        if line.starts_with(FILL_BEGINS) {
            let read: FillLine = serde_json::from_slice(line).map_err(|why| why.to_string())?;
            self.next_seq = self.next_seq.max(read.fill.saturating_add(APART));
            return Ok(());
        }
        let (entry, flow) = CorpusEntry::of_line(line)?;
        self.next_seq = self.next_seq.max(flow.saturating_add(APART));
        self.entries.push(entry);
        Ok(())
    }

    /// How many entries it has.
    pub fn entries(&self) -> u64 {
        self.entries.len() as u64
    }
}

/// The first line of a file.
pub(super) fn version_line() -> String {
    line(&VersionLine { hammer_corpus: VERSION })
}

/// The line of a fill whose operations are numbered from `first` on.
pub(super) fn fill_line(first: u64) -> String {
    line(&FillLine { fill: first })
}

fn line(value: &impl Serialize) -> String {
    // Numbers are always written.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

const VERSION: u64 = 1;
const FILL_BEGINS: &[u8] = b"{\"fill\":";
/// What a fill that was killed had under way, or logged and not written, is no more than that.
const APART: u64 = 1 << 20;
