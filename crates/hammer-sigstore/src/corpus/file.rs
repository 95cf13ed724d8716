//! The file of a corpus: JSON lines. The first says which version they are of; each other is an entry, or where a fill began.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::entry::{CorpusEntry, CorpusLog};
use super::probe::CorpusProbe;
use crate::error::SigstoreError;

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorpusFile {
    pub(crate) entries: Vec<CorpusEntry>,
    /// Their lines, from 1.
    lines: Vec<u64>,
    /// What fills said of the logs of the entries behind them.
    logs: Vec<FilledLog>,
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

/// The log of the entries that stand behind a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FilledLog {
    line: u64,
    /// How many entries stand before it.
    before: usize,
    /// Its names, one for each key; none where it was not written.
    ids: Vec<String>,
    /// Whether it ended with the run that filled from it.
    is_embedded: bool,
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionLine {
    hammer_corpus: u64,
}

/// A fill began, whose operations are numbered from `fill` on, into a log of these names.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FillLine {
    fill: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    log_ids: Vec<String>,
    /// Whether the log starts empty with the run, and ends with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    embedded: bool,
}

impl BadLine {
    /// The same of a line of that file.
    pub(crate) fn of(self, path: &Path) -> SigstoreError {
        SigstoreError::CorpusLine { path: path.to_owned(), line: self.line, reason: self.reason }
    }
}

impl CorpusFile {
    /// Reads a file. Its last line may be cut off, as a fill leaves it that was killed.
    ///
    /// # Errors
    /// When it cannot be read, or a line of it is neither an entry nor the beginning of a fill.
    pub fn read(path: &Path) -> Result<Self, SigstoreError> {
        let failed = |source| SigstoreError::CorpusUnread { path: path.to_owned(), source };
        let bytes = std::fs::read(path).map_err(failed)?;
        Self::parse(&bytes).map_err(|bad| bad.of(path))
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
            let FillLine { log_ids: ids, embedded: is_embedded, .. } = read;
            self.logs.push(FilledLog { line: number, before: self.entries.len(), ids, is_embedded });
            return Ok(());
        }
        let (entry, flow) = CorpusEntry::of_line(line)?;
        self.next_seq = self.next_seq.max(flow.saturating_add(APART));
        self.entries.push(entry);
        self.lines.push(number);
        Ok(())
    }

    /// Holds what fills said of their log against the names of one.
    ///
    /// # Errors
    /// The first line behind which entries of another log stand.
    fn check(&self, log: CorpusLog, ids: &[String]) -> Result<(), BadLine> {
        for (FilledLog { line, before, ids: said, .. }, end) in self.fills() {
            let is_said = !said.is_empty() && self.entries[*before..end].iter().any(|entry| entry.log == log);
            if is_said && !said.iter().any(|id| ids.contains(id)) {
                let (log, said, ids) = (log.name(), said.join(", "), ids.join(", "));
                let reason = format!(
                    "the entries behind it are of the {log} with log ID {said}, and that of the target is {ids}"
                );
                return Err(BadLine { line: *line, reason });
            }
        }
        Ok(())
    }

    /// What each fill said of its log, and the place behind its last entry.
    fn fills(&self) -> impl Iterator<Item = (&FilledLog, usize)> {
        let ends = self.logs.iter().skip(1).map(|next| next.before).chain([self.entries.len()]);
        self.logs.iter().zip(ends)
    }

    /// Whether it has entries, and a fill said of each that its log ended with that run.
    pub(super) fn is_of_embedded_alone(&self) -> bool {
        // Of those that stand before the first fill's line nothing is known.
        let is_said = self.logs.first().is_some_and(|first| first.before == 0);
        let mut with_entries = self.fills().filter(|(fill, end)| fill.before < *end);
        !self.entries.is_empty() && is_said && with_entries.all(|(fill, _)| fill.is_embedded)
    }

    /// What a log of these names may be asked for, so that it shows whether it is that of the entries; none where there are none of it.
    ///
    /// # Errors
    /// When it is another one.
    pub(crate) fn probe(
        &self,
        path: &Path,
        log: CorpusLog,
        ids: &[String],
    ) -> Result<Option<CorpusProbe>, SigstoreError> {
        self.check(log, ids).map_err(|bad| bad.of(path))?;
        Ok(CorpusProbe::of(path, log, self))
    }

    /// The entries of a log with their lines.
    pub(super) fn of(&self, log: CorpusLog) -> impl Iterator<Item = (u64, &CorpusEntry)> {
        self.lines.iter().copied().zip(&self.entries).filter(move |(_, entry)| entry.log == log)
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

/// The line of a fill whose operations are numbered from `first` on, into a log of these names, and whether that ends with the run.
pub(super) fn fill_line(first: u64, log_ids: &[String], embedded: bool) -> String {
    line(&FillLine { fill: first, log_ids: log_ids.to_vec(), embedded })
}

fn line(value: &impl Serialize) -> String {
    // Numbers are always written.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

const VERSION: u64 = 1;
const FILL_BEGINS: &[u8] = b"{\"fill\":";
/// What a fill that was killed had under way, or logged and not written, is no more than that.
const APART: u64 = 1 << 20;
