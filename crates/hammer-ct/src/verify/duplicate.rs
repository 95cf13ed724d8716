//! Whether a log answered a duplicate as it answered the first.

use hammer_core::promise::Fault;
use hammer_tlog::ct::rfc6962::leaf_index;
use hammer_tlog::ct::sct::Sct;

use crate::record::First;

/// Holds the SCT of a duplicate against what was promised first: same timestamp, same leaf index. RFC 6962 section 3: "If
/// the log has previously seen the certificate, it MAY return the same SCT as it returned before", and static-ct-api adds
/// nothing to that; whether a log does is for the plan to say.
pub(super) fn compare(sct: &Sct, first: &First<'_>) -> Result<(), Fault> {
    let told = |kind, what: String| {
        let before = promise(first.timestamp_ms, index(first.extensions));
        Err(Fault::new(kind, format!("{what}, where {before} was promised before")))
    };
    let (found, promised) = (index(&sct.extensions), index(first.extensions));
    if found != promised {
        return told(DUPLICATE_INDEX, promise(sct.timestamp_ms, found));
    }
    if sct.timestamp_ms != first.timestamp_ms {
        return told(DUPLICATE_TIMESTAMP, promise(sct.timestamp_ms, found));
    }
    if sct.extensions != first.extensions {
        return told(DUPLICATE_EXTENSIONS, promise(sct.timestamp_ms, found));
    }
    Ok(())
}

fn promise(timestamp_ms: u64, index: Option<u64>) -> String {
    match index {
        Some(index) => format!("timestamp {timestamp_ms} and index {index}"),
        None => format!("timestamp {timestamp_ms}"),
    }
}

fn index(extensions: &[u8]) -> Option<u64> {
    leaf_index(extensions).ok().flatten()
}

const DUPLICATE_INDEX: &str = "duplicate-new-index";
const DUPLICATE_TIMESTAMP: &str = "duplicate-new-timestamp";
const DUPLICATE_EXTENSIONS: &str = "duplicate-new-extensions";
