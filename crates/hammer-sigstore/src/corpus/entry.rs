//! An entry of a log, as somebody who verifies it knows it; and the line of a file that says so.

use std::borrow::Cow;

use hammer_core::sample::Sampled;
use hammer_tlog::encoding::{from_base64, write_base64};
use serde::{Deserialize, Serialize};

use crate::plan::ReadRekor;
use crate::rekor::leaf_of;
use crate::trust::Trust;

/// An entry of Rekor, and what was signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CorpusEntry {
    /// Which log has it.
    pub(crate) log: CorpusLog,
    /// By which Rekor v1 is asked for it: 80 hexadecimal digits, or 64, the last 64 of which are the hash of its leaf. Of an entry of Rekor
    /// v2 that hash alone.
    pub(crate) uuid: String,
    /// Its index; of Rekor v1 over all shards of the log.
    pub(crate) log_index: u64,
    /// When the log had answered with it, milliseconds since 1970.
    pub(crate) logged_unix_ms: u64,
    /// When Rekor v1 said then that it was integrated, in seconds since 1970; none in a corpus that does not say it, and of Rekor v2.
    pub(crate) integrated_time: Option<i64>,
    /// What was signed: what somebody who verifies has at hand.
    pub(crate) artifact: Vec<u8>,
    /// In whose name: what its certificate is for. Empty where a bare key was logged.
    pub(crate) identity: String,
    /// The timestamp over its signature, a whole `TimeStampResp`, since Rekor v2 does not say when something was signed; empty where there
    /// is none, and of Rekor v1.
    pub(crate) timestamp: Vec<u8>,
}

/// The log of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CorpusLog {
    /// Rekor v1.
    #[default]
    #[serde(rename = "rekor-v1")]
    RekorV1,
    /// Rekor v2.
    #[serde(rename = "rekor-v2")]
    RekorV2,
}

impl CorpusLog {
    /// The log that a plan reads.
    pub(crate) const fn of(rekor: ReadRekor) -> Self {
        match rekor {
            ReadRekor::V1 => Self::RekorV1,
            ReadRekor::V2 => Self::RekorV2,
        }
    }

    /// How that log is called by what is trusted.
    pub(crate) fn ids(self, trust: &Trust) -> Vec<String> {
        match self {
            Self::RekorV1 => trust.rekor_ids(),
            Self::RekorV2 => trust.rekor_tiles_ids(),
        }
    }

    /// Its name for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::RekorV1 => "Rekor v1",
            Self::RekorV2 => "Rekor v2",
        }
    }
}

/// An entry as a flow got it logged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedEntry<'a> {
    pub(crate) log: CorpusLog,
    pub(crate) uuid: &'a str,
    pub(crate) log_index: u64,
    pub(crate) logged_unix_ms: u64,
    pub(crate) integrated_time: Option<i64>,
    pub(crate) artifact: &'a [u8],
    pub(crate) identity: &'a str,
    pub(crate) timestamp: &'a [u8],
}

/// The line of an entry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryLine<'a> {
    log: CorpusLog,
    /// Of Rekor v1.
    #[serde(borrow, default)]
    uuid: Cow<'a, str>,
    /// Of Rekor v2.
    #[serde(borrow, default)]
    leaf: Cow<'a, str>,
    index: u64,
    #[serde(borrow)]
    artifact: Cow<'a, str>,
    #[serde(borrow)]
    identity: Cow<'a, str>,
    #[serde(borrow, default)]
    timestamp: Cow<'a, str>,
    at_unix_ms: u64,
    /// Of Rekor v1.
    integrated: Option<i64>,
    flow: u64,
}

impl CorpusEntry {
    /// Takes over what a flow got logged, in the memory of an earlier entry.
    pub(crate) fn rewrite(&mut self, logged: &LoggedEntry<'_>) {
        self.log = logged.log;
        self.uuid.clear();
        self.uuid.push_str(logged.uuid);
        self.log_index = logged.log_index;
        self.logged_unix_ms = logged.logged_unix_ms;
        self.integrated_time = logged.integrated_time;
        self.artifact.clear();
        self.artifact.extend_from_slice(logged.artifact);
        self.identity.clear();
        self.identity.push_str(logged.identity);
        self.timestamp.clear();
        self.timestamp.extend_from_slice(logged.timestamp);
    }

    /// Reads a line; the entry, and the number of the flow that had it logged.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn of_line(line: &[u8]) -> Result<(Self, u64), String> {
        let read: EntryLine<'_> = serde_json::from_slice(line).map_err(|why| why.to_string())?;
        if read.log == CorpusLog::RekorV1 && leaf_of(&read.uuid).is_none() {
            return Err(format!("`uuid` is {:?}, which is none of an entry of Rekor v1", read.uuid));
        }
        let is_leaf = read.leaf.len() == LEAF_DIGITS && leaf_of(&read.leaf).is_some();
        if read.log == CorpusLog::RekorV2 && !is_leaf {
            return Err(format!(
                "`leaf` is {:?}, which is the hash of none of an entry of Rekor v2",
                read.leaf
            ));
        }
        let bytes = |key: &str, text: &str| from_base64(text).map_err(|why| format!("`{key}`: {why}"));
        let artifact = bytes("artifact", &read.artifact)?;
        let entry = Self {
            log: read.log,
            uuid: if read.log == CorpusLog::RekorV1 { read.uuid } else { read.leaf }.into_owned(),
            log_index: read.index,
            logged_unix_ms: read.at_unix_ms,
            integrated_time: read.integrated,
            artifact,
            identity: read.identity.into_owned(),
            timestamp: bytes("timestamp", &read.timestamp)?,
        };
        Ok((entry, read.flow))
    }

    /// The same, lent.
    pub(crate) fn logged(&self) -> LoggedEntry<'_> {
        LoggedEntry {
            log: self.log,
            uuid: &self.uuid,
            log_index: self.log_index,
            logged_unix_ms: self.logged_unix_ms,
            integrated_time: self.integrated_time,
            artifact: &self.artifact,
            identity: &self.identity,
            timestamp: &self.timestamp,
        }
    }

    /// What somebody who looks for it needs.
    pub(crate) fn words(&self) -> String {
        match self.log {
            CorpusLog::RekorV1 => format!("{} of index {}", self.uuid, self.log_index),
            CorpusLog::RekorV2 => format!("of index {}", self.log_index),
        }
    }
}

impl LoggedEntry<'_> {
    /// Appends its line, which the flow `flow` had logged.
    pub(super) fn write_line(&self, flow: u64, out: &mut Vec<u8>) {
        let log: &[u8] = match self.log {
            CorpusLog::RekorV1 => br#"{"log":"rekor-v1","uuid":""#,
            CorpusLog::RekorV2 => br#"{"log":"rekor-v2","leaf":""#,
        };
        out.extend_from_slice(log);
        // Both are read as nothing but digits.
        out.extend_from_slice(self.uuid.as_bytes());
        out.push(b'"');
        let number = |out: &mut Vec<u8>, key: &str, value: i128| {
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(value.to_string().as_bytes());
        };
        number(out, r#","index":"#, self.log_index.into());
        out.extend_from_slice(br#","artifact":""#);
        write_base64(out, self.artifact);
        out.extend_from_slice(br#"","identity":"#);
        // A text is always written to memory.
        let _ = serde_json::to_writer(&mut *out, self.identity);
        if !self.timestamp.is_empty() {
            out.extend_from_slice(br#","timestamp":""#);
            write_base64(out, self.timestamp);
            out.push(b'"');
        }
        number(out, r#","at_unix_ms":"#, self.logged_unix_ms.into());
        if let Some(integrated) = self.integrated_time {
            number(out, r#","integrated":"#, integrated.into());
        }
        number(out, r#","flow":"#, flow.into());
        out.extend_from_slice(b"}\n");
    }
}

impl Sampled for CorpusEntry {
    fn weight(&self) -> usize {
        let Self { uuid, artifact, identity, timestamp, .. } = self;
        let held = uuid.capacity() + artifact.capacity() + identity.capacity() + timestamp.capacity();
        size_of::<Self>() + held
    }
}

/// Hexadecimal digits of the hash of a leaf.
const LEAF_DIGITS: usize = 64;
