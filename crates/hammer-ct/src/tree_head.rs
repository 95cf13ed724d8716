//! What a log serves as its tree head, verified.

use hammer_audit::{HeadFault, OpenedHead, Shards};
use hammer_measure::peer_text;
use hammer_tlog::ct::rfc6962::{GetSthResponse, SthError};
use hammer_tlog::logs::note::Verifier;

use crate::log::{LogKind, LogTarget};

/// Reads and verifies what a log of that kind serves as its tree head; `verifier` is that of its checkpoints.
///
/// # Errors
/// When it cannot be read, or is not the log's.
pub(crate) fn open_head(log: &LogTarget, verifier: &Verifier, body: &[u8]) -> Result<OpenedHead, HeadFault> {
    if log.kind == LogKind::StaticCt {
        return OpenedHead::of_checkpoint(body, verifier);
    }
    let unread = |why: serde_json::Error| {
        let why = format!("read get-sth: {}", peer_text(&why.to_string()));
        HeadFault { breach: None, why }
    };
    let sth: GetSthResponse = serde_json::from_slice(body).map_err(unread)?;
    let not_its = |why: SthError| HeadFault { breach: Some("sth-signature"), why: why.to_string() };
    sth.verify(&log.key).map_err(not_its)?;
    let (size, root, timestamp_ms) =
        (sth.tree_size, sth.sha256_root_hash, OpenedHead::stated_ms(sth.timestamp));
    Ok(OpenedHead { size, root, timestamp_ms, cosigners: Vec::new(), shards: Shards::default() })
}
