//! Writes the corpus of a fill on a thread of its own. What finds no room on its way there is counted; a shard never waits for it.

use std::fs::{File, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use hammer_measure::Nanos;

use super::entry::{CorpusEntry, CorpusLog, LoggedEntry};
use super::file::{CorpusFile, fill_line, version_line};
use super::probe::CorpusProbe;
use crate::error::SigstoreError;
use crate::plan::ReadRekor;
use crate::trust::Trust;

/// A file to which a fill adds its entries.
#[derive(Debug)]
pub struct CorpusWriter {
    found: CorpusFile,
    /// How many entries were dropped since their log is gone.
    dropped: u64,
    log: CorpusLog,
    probe: Option<CorpusProbe>,
    sink: CorpusSink,
    thread: JoinHandle<io::Result<Option<CorpusEntry>>>,
}

/// What a fill does with the entries that its file has, and whose its own are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusStart {
    /// It drops them, in place of adding to them.
    pub is_anew: bool,
    /// Its log starts empty with the run, and ends with it. Entries all of which are of such logs are dropped as well: nobody can read them any
    /// more.
    pub is_embedded: bool,
    /// That log has served an earlier run of the same command, which may have filled it: nothing of it is gone yet.
    pub is_kept: bool,
}

/// The way to a [`CorpusWriter`].
#[derive(Clone, Debug)]
pub struct CorpusSink {
    buffers: SyncSender<Message>,
    counts: Arc<Counts>,
}

/// What a writer has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusWritten {
    /// Entries that were added.
    pub added: u64,
    /// Entries that found no room on their way, or of which the log did not say where they are.
    pub lost: u64,
    /// Entries that the log had before, and did not say of where as a corpus has it.
    pub known: u64,
    /// The one of the highest index among those that were added, in words.
    pub last: Option<String>,
}

#[derive(Debug, Default)]
struct Counts {
    added: AtomicU64,
    lost: AtomicU64,
    known: AtomicU64,
}

#[derive(Debug)]
enum Message {
    /// So many whole lines.
    Lines(Vec<u8>, u64),
    End,
}

/// A shard's lines that have not been handed over yet.
#[derive(Debug)]
pub(crate) struct CorpusLines {
    sink: CorpusSink,
    buffer: Vec<u8>,
    lines: u64,
    handed_over_at: Nanos,
}

impl CorpusWriter {
    /// Opens a file, and reads what it has; it is made where there is none. What is added are entries of that log, by what is trusted.
    ///
    /// # Errors
    /// When it cannot be written, or is no corpus, or one of another log.
    pub fn open(
        path: &Path,
        start: CorpusStart,
        trust: &Trust,
        rekor: ReadRekor,
    ) -> Result<Self, SigstoreError> {
        let log = CorpusLog::of(rekor);
        Self::open_for(path, start, (log, &log.ids(trust)))
    }

    /// The same of a log of these names.
    pub(super) fn open_for(
        path: &Path,
        start: CorpusStart,
        (log, ids): (CorpusLog, &[String]),
    ) -> Result<Self, SigstoreError> {
        let failed = |source| SigstoreError::CorpusUnread { path: path.to_owned(), source };
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        // Two that write one file would write into each other's lines. The lock ends with the file; a file system without locks has none.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(failed(io::Error::other("another process fills it")));
        }
        // Nothing is dropped but what is known to be a corpus: a file may be named by mistake.
        let is_embedded = start.is_embedded;
        let mut found = CorpusFile::read(path)?;
        let is_gone = is_embedded && !start.is_kept && found.is_of_embedded_alone();
        let dropped = if is_gone { found.entries() } else { 0 };
        if is_gone || start.is_anew {
            found = CorpusFile::default();
        }
        let probe = found.probe(path, log, ids)?;
        let starts = |file: &mut File| -> io::Result<()> {
            // What was cut off is not continued.
            file.set_len(found.readable)?;
            file.seek(SeekFrom::End(0))?;
            let mut start = String::new();
            if found.readable == 0 {
                start.push_str(&version_line());
            } else if !found.is_ended {
                start.push('\n');
            }
            // It stands there before the first of them is sent.
            start.push_str(&fill_line(found.next_seq.max(FIRST), ids, is_embedded));
            file.write_all(start.as_bytes())
        };
        starts(&mut file).map_err(failed)?;
        let (buffers, received) = mpsc::sync_channel(ROOM);
        let counts = Arc::new(Counts::default());
        let thread = {
            let counts = Arc::clone(&counts);
            thread::Builder::new()
                .name("corpus".to_owned())
                .spawn(move || write(file, &received, &counts))
                .map_err(failed)?
        };
        Ok(Self { found, dropped, log, probe, sink: CorpusSink { buffers, counts }, thread })
    }

    /// What the log may be asked for before anything is added; none where the file had none of its entries.
    pub fn probe(&self) -> Option<CorpusProbe> {
        self.probe.clone()
    }

    /// How many entries the file had of the log that is filled: those of another one are not read beside them.
    pub fn entries(&self) -> u64 {
        self.found.of(self.log).count() as u64
    }

    /// How many entries it dropped since they were of logs that started empty with the run.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The number that the first operation may have.
    pub fn first_seq(&self) -> u64 {
        self.found.next_seq.max(FIRST)
    }

    /// Where entries are handed over.
    pub fn sink(&self) -> CorpusSink {
        self.sink.clone()
    }

    /// Writes what was handed over, and ends.
    ///
    /// # Errors
    /// When something could not be written.
    pub fn finish(self) -> io::Result<CorpusWritten> {
        // A writer that failed does not listen any more, and says why as it is joined.
        let _ = self.sink.buffers.send(Message::End);
        let last = self.thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread panicked")))?;
        let counts = &self.sink.counts;
        Ok(CorpusWritten {
            added: counts.added.load(Ordering::Relaxed),
            lost: counts.lost.load(Ordering::Relaxed),
            known: counts.known.load(Ordering::Relaxed),
            last: last.map(|entry| entry.words()),
        })
    }
}

fn write(mut file: File, received: &Receiver<Message>, counts: &Counts) -> io::Result<Option<CorpusEntry>> {
    let mut last: Option<CorpusEntry> = None;
    while let Ok(Message::Lines(lines, count)) = received.recv() {
        file.write_all(&lines)?;
        counts.added.fetch_add(count, Ordering::Relaxed);
        // Answers of several users come in another order than the log gave places.
        for (entry, _) in
            lines.split(|byte| *byte == b'\n').filter_map(|line| CorpusEntry::of_line(line).ok())
        {
            if last.as_ref().is_none_or(|last| last.log_index < entry.log_index) {
                last = Some(entry);
            }
        }
    }
    file.sync_data()?;
    Ok(last)
}

impl CorpusLines {
    pub(crate) fn new(sink: CorpusSink) -> Self {
        Self { sink, buffer: Vec::with_capacity(WHOLE), lines: 0, handed_over_at: Nanos::ZERO }
    }

    /// Adds what the flow `flow` got logged by `now`.
    pub(crate) fn add(&mut self, now: Nanos, flow: u64, logged: &LoggedEntry<'_>) {
        logged.write_line(flow, &mut self.buffer);
        self.lines += 1;
        if self.buffer.len() >= WHOLE - LONGEST_LINE || now.since(self.handed_over_at) >= AT_LATEST {
            self.handed_over_at = now;
            self.hand_over();
        }
    }

    /// Counts an entry of which the log did not say where it is.
    pub(crate) fn unplaced(&self) {
        self.sink.counts.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an entry that the log had before.
    pub(crate) fn known(&self) {
        self.sink.counts.known.fetch_add(1, Ordering::Relaxed);
    }

    fn hand_over(&mut self) {
        if self.lines == 0 {
            return;
        }
        let (lines, count) = (std::mem::replace(&mut self.buffer, Vec::with_capacity(WHOLE)), self.lines);
        self.lines = 0;
        if self.sink.buffers.try_send(Message::Lines(lines, count)).is_err() {
            self.sink.counts.lost.fetch_add(count, Ordering::Relaxed);
        }
    }
}

impl Drop for CorpusLines {
    fn drop(&mut self) {
        self.hand_over();
    }
}

/// The number of the first operation of the first fill.
const FIRST: u64 = 1 << 40;
/// Buffers on their way, of some 16 KiB each: 16 MiB.
const ROOM: usize = 1_024;
const WHOLE: usize = 16 << 10;
/// Most lines are shorter. What signs an artifact of its own, or none that is large, is all that fills a corpus.
const LONGEST_LINE: usize = 4 << 10;
/// What was logged is written after that time, however few lines it has.
const AT_LATEST: Nanos = Nanos::from_millis(500);
