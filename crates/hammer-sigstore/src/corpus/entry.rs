//! An entry of a log, as somebody who verifies it knows it; and the line of a file that says so.

use std::borrow::Cow;

use hammer_core::sample::Sampled;
use hammer_tlog::encoding::{from_base64, write_base64};
use serde::{Deserialize, Serialize};

use crate::rekor::leaf_of;

/// An entry of Rekor, and what was signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CorpusEntry {
    /// Which log has it.
    pub(crate) log: CorpusLog,
    /// By which Rekor v1 is asked for it: 80 hexadecimal digits, or 64. Empty of an entry of Rekor v2.
    pub(crate) uuid: String,
    /// Its index; of Rekor v1 over all shards of the log.
    pub(crate) log_index: u64,
    /// When the log had answered with it, milliseconds since 1970.
    pub(crate) logged_unix_ms: u64,
    /// What was signed: what somebody who verifies has at hand.
    pub(crate) artifact: Vec<u8>,
    /// In whose name: what its certificate is for. Empty where a bare key was logged.
    pub(crate) identity: String,
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

/// An entry as a flow got it logged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedEntry<'a> {
    pub(crate) log: CorpusLog,
    pub(crate) uuid: &'a str,
    pub(crate) log_index: u64,
    pub(crate) logged_unix_ms: u64,
    pub(crate) artifact: &'a [u8],
    pub(crate) identity: &'a str,
}

/// The line of an entry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryLine<'a> {
    log: CorpusLog,
    #[serde(borrow, default)]
    uuid: Cow<'a, str>,
    index: u64,
    #[serde(borrow)]
    artifact: Cow<'a, str>,
    #[serde(borrow)]
    identity: Cow<'a, str>,
    at_unix_ms: u64,
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
        self.artifact.clear();
        self.artifact.extend_from_slice(logged.artifact);
        self.identity.clear();
        self.identity.push_str(logged.identity);
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
        let artifact = from_base64(read.artifact.as_bytes()).map_err(|why| format!("`artifact`: {why}"))?;
        let entry = Self {
            log: read.log,
            uuid: read.uuid.into_owned(),
            log_index: read.index,
            logged_unix_ms: read.at_unix_ms,
            artifact,
            identity: read.identity.into_owned(),
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
            artifact: &self.artifact,
            identity: &self.identity,
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
            CorpusLog::RekorV2 => br#"{"log":"rekor-v2""#,
        };
        out.extend_from_slice(log);
        if self.log == CorpusLog::RekorV1 {
            // A UUID is read as nothing but digits.
            out.extend_from_slice(self.uuid.as_bytes());
            out.push(b'"');
        }
        let number = |out: &mut Vec<u8>, key: &str, value: u64| {
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(value.to_string().as_bytes());
        };
        number(out, r#","index":"#, self.log_index);
        out.extend_from_slice(br#","artifact":""#);
        write_base64(out, self.artifact);
        out.extend_from_slice(br#"","identity":"#);
        // A text is always written to memory.
        let _ = serde_json::to_writer(&mut *out, self.identity);
        number(out, r#","at_unix_ms":"#, self.logged_unix_ms);
        number(out, r#","flow":"#, flow);
        out.extend_from_slice(b"}\n");
    }
}

impl Sampled for CorpusEntry {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.uuid.capacity() + self.artifact.capacity() + self.identity.capacity()
    }
}
