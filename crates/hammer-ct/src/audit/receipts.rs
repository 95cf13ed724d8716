use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hammer_tlog::ct::rfc6962::V1;
use hammer_tlog::encoding::base64;
use hammer_tlog::logs::audit::Receipt;
use hammer_tlog::logs::merkle::Hash;
use serde::Serialize;

use super::lane_seq::seq;
use super::sct_evidence::SctEvidence;
use crate::log::LogTarget;
use crate::record::Record;

/// The receipts of promises that were broken, or are pending or unchecked at the end, one JSON object a line: what the log's
/// operator has to be shown. The file is made for the first of them.
#[derive(Debug)]
pub(super) struct ReceiptFile {
    log: String,
    log_id: Hash,
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
struct Line<'a> {
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
    sct: Option<SctLine>,
}

/// As `add-chain` answers (RFC 6962 section 4.1).
#[derive(Serialize)]
struct SctLine {
    sct_version: u8,
    id: String,
    timestamp: u64,
    extensions: String,
    signature: String,
}

impl ReceiptFile {
    pub(super) fn new(log: &LogTarget, epoch_unix_ms: u64, folder: PathBuf) -> Self {
        let (broken, pending, unchecked) = Default::default();
        let state = Mutex::new(State { folder, file: None, broken, pending, unchecked, failed: None });
        let place = log.submission.first().map_or_else(String::new, ToString::to_string);
        Self { log: place, log_id: log.key.log_id(), epoch_unix_ms, state }
    }

    pub(super) fn folder(&self, folder: PathBuf) {
        self.state().folder = folder;
    }

    /// A promise that an SCT's verifier found broken.
    pub(super) fn refused(&self, workload: &str, seq: u64, reason: &str, detail: &str, record: &Record<'_>) {
        let (at, sct) = (&record.at, &record.sct);
        let line = Line {
            reason,
            detail,
            log: &self.log,
            workload,
            seq,
            leaf_index: sct.leaf_index().ok().flatten(),
            leaf_hash: None,
            intended_ns: at.intended.0,
            sent_ns: at.sent.0,
            received_ns: at.received.0,
            received_unix_ms: self.epoch_unix_ms + at.received.0 / 1_000_000,
            sct: Some(SctLine {
                sct_version: sct.version,
                id: base64(&sct.log_id.0),
                timestamp: sct.timestamp_ms,
                extensions: base64(&sct.extensions),
                signature: base64(&sct.signature),
            }),
        };
        self.state().write(self.epoch_unix_ms, &line);
    }

    /// A promise that the audit found broken, or that is [`PENDING`] or [`UNCHECKED`].
    pub(super) fn receipt(&self, workload: &str, reason: &str, detail: &str, receipt: &Receipt) {
        let sct = SctEvidence::read(&receipt.evidence).map(|sct| SctLine {
            sct_version: V1,
            id: base64(&self.log_id.0),
            timestamp: receipt.promised_ms,
            extensions: base64(sct.extensions),
            signature: base64(sct.signature),
        });
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
            sct,
        };
        self.state().write(self.epoch_unix_ms, &line);
    }

    /// So many promises with that reason whose receipts are in no line.
    pub(super) fn left_out(&self, reason: &str, promises: u64) {
        self.state().count(reason).left_out += promises;
    }

    /// What is in the file, as a sentence; none where there is nothing to say.
    pub(super) fn told(&self) -> Option<String> {
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

    fn write(&mut self, run: u64, line: &Line<'_>) {
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

    fn append(&mut self, run: u64, line: &Line<'_>) -> io::Result<()> {
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
pub(super) const PENDING: &str = "pending";
/// The reason of a receipt that nobody looked for, since the log could not be read.
pub(super) const UNCHECKED: &str = "unchecked";
/// Lines of broken promises, of pending ones, and of unchecked ones.
pub(super) const MOST: u64 = 10_000;
const FILES: u32 = 1_000;
