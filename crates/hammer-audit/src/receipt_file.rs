//! Receipts for the log's operator, in a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hammer_tlog::encoding::base64;
use hammer_tlog::logs::audit::Receipt;
use serde::Serialize;

use crate::lane_seq::seq;
use crate::link::RefusedPromise;

/// The receipts of promises that were broken, or are pending or unchecked at the end, one JSON object a line: what the log's
/// operator has to be shown. The file is made for the first of them.
#[derive(Debug)]
pub(crate) struct ReceiptFile {
    log: String,
    epoch_unix_ms: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    folder: PathBuf,
    file: Option<(PathBuf, File)>,
    broken: Count,
    pending: Count,
    unchecked: Count,
    failed: Option<String>,
}

/// Lines of one sort, which are bounded.
#[derive(Debug, Default)]
struct Count {
    written: u64,
    left_out: u64,
}

#[derive(Serialize)]
struct Line<'a, E> {
    reason: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
    log: &'a str,
    workload: &'a str,
    seq: u64,
    leaf_index: Option<u64>,
    leaf_hash: Option<String>,
    intended_ns: u64,
    sent_ns: u64,
    received_ns: u64,
    received_unix_ms: u64,
    /// What shows the promise, as its protocol writes it.
    #[serde(flatten)]
    evidence: E,
}

impl ReceiptFile {
    /// A file of a run that started at `epoch_unix_ms`, of the log at `url`.
    pub(crate) fn new(url: String, epoch_unix_ms: u64, folder: PathBuf) -> Self {
        let (broken, pending, unchecked) = Default::default();
        let state = Mutex::new(State { folder, file: None, broken, pending, unchecked, failed: None });
        Self { log: url, epoch_unix_ms, state }
    }

    pub(crate) fn folder(&self, folder: PathBuf) {
        self.state().folder = folder;
    }

    /// A promise that needed no audit to be found broken; `detail` is as a breach has it.
    pub(crate) fn refused<E: Serialize>(
        &self,
        workload: &str,
        refused: &RefusedPromise<'_>,
        detail: &str,
        evidence: &E,
    ) {
        let [intended, sent, received] = refused.instants;
        let line = Line {
            reason: refused.kind,
            detail,
            log: &self.log,
            workload,
            seq: refused.seq,
            leaf_index: refused.index,
            leaf_hash: None,
            intended_ns: intended.0,
            sent_ns: sent.0,
            received_ns: received.0,
            received_unix_ms: self.epoch_unix_ms + received.0 / 1_000_000,
            evidence,
        };
        self.state().write(self.epoch_unix_ms, &line);
    }

    /// A promise that the audit found broken, or that is [`PENDING`] or [`UNCHECKED`].
    pub(crate) fn receipt<E: Serialize>(
        &self,
        workload: &str,
        (reason, detail): (&str, &str),
        receipt: &Receipt,
        evidence: &E,
    ) {
        let line = Line {
            reason,
            detail,
            log: &self.log,
            workload,
            seq: seq(receipt.seq),
            leaf_index: receipt.index(),
            leaf_hash: Some(base64(&receipt.leaf.0)),
            intended_ns: receipt.intended_ns,
            sent_ns: receipt.sent_ns,
            received_ns: receipt.received_ns,
            received_unix_ms: self.epoch_unix_ms + receipt.received_ns / 1_000_000,
            evidence,
        };
        self.state().write(self.epoch_unix_ms, &line);
    }

    /// So many promises with that reason whose receipts are in no line.
    pub(crate) fn left_out(&self, reason: &str, promises: u64) {
        self.state().count(reason).left_out += promises;
    }

    /// What is in the file, as a sentence; none where there is nothing to say.
    pub(crate) fn told(&self) -> Option<String> {
        let state = self.state();
        let said = |count: &Count, what: &str| match count.left_out {
            0 => format!("{} {what}", count.written),
            more => format!("{} {what} (and {more} left out)", count.written),
        };
        let mut counts = format!("{}, {}", said(&state.broken, "broken"), said(&state.pending, "pending"));
        if state.unchecked.written + state.unchecked.left_out > 0 {
            counts = format!("{counts}, {}", said(&state.unchecked, "unchecked"));
        }
        match (&state.file, &state.failed) {
            (_, Some(why)) => Some(format!("failed to write the receipts of promises ({counts}): {why}")),
            (Some((path, _)), None) => Some(format!("receipts of promises ({counts}): {}", path.display())),
            (None, None) => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count(&mut self, reason: &str) -> &mut Count {
        match reason {
            PENDING => &mut self.pending,
            UNCHECKED => &mut self.unchecked,
            _ => &mut self.broken,
        }
    }

    fn write<E: Serialize>(&mut self, run: u64, line: &Line<'_, E>) {
        let has_failed = self.failed.is_some();
        let count = self.count(line.reason);
        if count.written == MOST || has_failed {
            return count.left_out += 1;
        }
        count.written += 1;
        if let Err(why) = self.append(run, line) {
            self.failed = Some(format!("{}: {why}", self.folder.display()));
        }
    }

    fn append<E: Serialize>(&mut self, run: u64, line: &Line<'_, E>) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(self.create(run)?);
        }
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.file.as_mut().map_or(Ok(()), |(_, file)| file.write_all(&bytes))
    }

    /// A file that was not there: several logs of a run have one each.
    fn create(&self, run: u64) -> io::Result<(PathBuf, File)> {
        let mut number = 1;
        loop {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = self.folder.join(format!("hammer-{run}-receipts{suffix}.jsonl"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists && number < FILES => number += 1,
                file => return Ok((path, file?)),
            }
        }
    }
}

/// The reason of a receipt that the run's end left without a verdict.
pub(crate) const PENDING: &str = "pending";
/// The reason of a receipt that nobody looked for, since the log could not be read.
pub(crate) const UNCHECKED: &str = "unchecked";
/// Lines of broken promises, of pending ones, and of unchecked ones.
pub(crate) const MOST: u64 = 10_000;
const FILES: u32 = 1_000;

#[cfg(test)]
mod tests {
    use hammer_measure::Nanos;
    use hammer_tlog::hash::Hash;

    use super::*;

    #[derive(Serialize)]
    struct Shown {
        pledge: Option<u8>,
    }

    #[test]
    fn a_line_holds_the_receipt_and_then_what_its_protocol_shows() {
        let folder = tempfile::tempdir().unwrap();
        let file = ReceiptFile::new("https://log.test/".to_owned(), 1_000, folder.path().to_owned());
        assert_eq!(file.told(), None);
        let receipt = Receipt::new(5, Hash([0; 32]), Some(7), 3_000_000, 900).sent(1, 2);
        file.receipt("w", (PENDING, ""), &receipt, &());
        let (instants, index) = ([Nanos(1), Nanos(2), Nanos(3_000_000)], None);
        let refused = RefusedPromise { seq: 6, kind: "bad", detail: "it is", index, instants };
        file.refused("w", &refused, "log: it is", &Shown { pledge: None });
        let hash = base64(&[0; 32]);
        let path = folder.path().join("hammer-1000-receipts.jsonl");
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            format!(
                r#"{{"reason":"pending","log":"https://log.test/","workload":"w","seq":5,"leaf_index":7,"leaf_hash":"{hash}","intended_ns":1,"sent_ns":2,"received_ns":3000000,"received_unix_ms":1003}}
{{"reason":"bad","detail":"log: it is","log":"https://log.test/","workload":"w","seq":6,"leaf_index":null,"leaf_hash":null,"intended_ns":1,"sent_ns":2,"received_ns":3000000,"received_unix_ms":1003,"pledge":null}}
"#
            )
        );
        assert_eq!(
            file.told().unwrap(),
            format!("receipts of promises (1 broken, 1 pending): {}", path.display())
        );
    }
}
