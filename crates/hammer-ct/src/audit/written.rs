//! Receipts as a run wrote them.

use hammer_tlog::ct::sct::{Sct, SctError};
use hammer_tlog::encoding::from_base64;
use hammer_tlog::logs::merkle::Hash;
use serde::Deserialize;

/// A receipt as a run wrote it: one line of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenReceipt {
    /// Why it was written: how the promise was broken, or `pending` or `unchecked`.
    pub reason: String,
    /// The workload that got the promise.
    pub workload: String,
    /// Its operation.
    pub seq: u64,
    /// The hash of the promised leaf; none where the SCT could not be believed.
    pub leaf: Option<Hash>,
    /// The promised index (static-ct-api).
    pub index: Option<u64>,
    /// When the answer was received, milliseconds since 1970.
    pub received_unix_ms: u64,
    /// The SCT; none where it was too long to be kept, or could not be read.
    pub sct: Option<Sct>,
}

/// Why a line is no receipt.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// It is not the JSON that a run writes.
    #[error("read it as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The leaf hash is none.
    #[error("read `leaf_hash`: it is not the base64 of 32 bytes")]
    LeafHash,
    /// The SCT is none.
    #[error(transparent)]
    Sct(#[from] SctError),
}

#[derive(Deserialize)]
struct ReceiptLine {
    reason: String,
    workload: String,
    seq: u64,
    leaf_index: Option<u64>,
    leaf_hash: Option<String>,
    received_unix_ms: u64,
    sct: Option<serde_json::Value>,
}

impl WrittenReceipt {
    /// Reads a line.
    ///
    /// # Errors
    /// When a run has not written it.
    pub fn parse(line: &str) -> Result<Self, ReceiptError> {
        let line: ReceiptLine = serde_json::from_str(line)?;
        let leaf = line.leaf_hash.map(|text| {
            from_base64(&text).ok().and_then(|bytes| Hash::from_slice(&bytes)).ok_or(ReceiptError::LeafHash)
        });
        let sct = line.sct.map(|sct| Sct::from_json(sct.to_string().as_bytes()));
        Ok(Self {
            reason: line.reason,
            workload: line.workload,
            seq: line.seq,
            leaf: leaf.transpose()?,
            index: line.leaf_index,
            received_unix_ms: line.received_unix_ms,
            sct: sct.transpose()?,
        })
    }

    /// The SCT's timestamp, or about what it was.
    pub(super) fn timestamp_ms(&self) -> u64 {
        self.sct.as_ref().map_or(self.received_unix_ms, |sct| sct.timestamp_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_no_run_wrote_is_refused() {
        let line = |leaf: &str, sct: &str| {
            let line = format!(
                r#"{{"reason":"pending","log":"x","workload":"w","seq":3,"leaf_index":7,"leaf_hash":{leaf},
                    "received_unix_ms":5,"sct":{sct}}}"#
            );
            WrittenReceipt::parse(&line).map_err(|why| why.to_string())
        };
        let read = line("null", "null").unwrap();
        assert_eq!((read.seq, read.index, read.leaf, read.timestamp_ms()), (3, Some(7), None, 5));
        assert_eq!(
            line(r#""AAAA""#, "null").unwrap_err(),
            "read `leaf_hash`: it is not the base64 of 32 bytes"
        );
        assert!(line("null", "{}").is_err());
        assert!(WrittenReceipt::parse("{}").unwrap_err().to_string().contains("missing field"));
    }
}
