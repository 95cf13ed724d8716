//! Whether a checkpoint of Rekor v2 is the log's.

use hammer_audit::{HeadFault, OpenedHead};
use hammer_read::LogHeads;
use hammer_tlog::logs::note::open_checkpoint;

use super::malformed::MALFORMED;
use crate::trust::Trust;

/// The log signed it, and signed no other root for a tree of its size that `heads` were shown. Where each head is to join the followed tree
/// there are none: that says which of two is the log's, and not which was shown first.
pub(crate) fn open_tiles_head(
    trust: &Trust,
    heads: Option<&LogHeads>,
    raw: &[u8],
) -> Result<OpenedHead, HeadFault> {
    let verifier = trust
        .rekor_tiles()
        .ok_or_else(|| HeadFault { breach: None, why: "no key of the log is trusted".to_owned() })?;
    let opened = OpenedHead::of_checkpoint(raw, verifier)
        .map_err(|fault| HeadFault { breach: fault.breach.or(Some(MALFORMED)), ..fault })?;
    let (checkpoint, _) = open_checkpoint(raw, verifier)?;
    let checked = heads.map(|heads| heads.check(&checkpoint.origin, opened.size, opened.root));
    checked.transpose().map_err(|other| HeadFault {
        breach: Some("forked-checkpoint"),
        why: format!("the tree of {} leaves has the root {}, and had {other}", opened.size, opened.root),
    })?;
    Ok(opened)
}
