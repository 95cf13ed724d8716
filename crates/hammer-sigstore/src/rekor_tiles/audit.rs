//! The log of Rekor v2, as an audit has to know it (C2SP tlog-tiles).

use std::time::Duration;

use hammer_audit::{
    AnswerBound, AuditWords, HeadFault, HeadedSource, LogAuditor, LogSource, OpenedHead, ReceivedHead,
};
use hammer_core::promise::PromiseKind;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{EntryFault, LeafFormat, Receipt};
use hammer_tlog::logs::merkle::leaf_hash;
use hammer_tlog::logs::note::Verifier;
use hammer_tlog::tls::TlsReader;
use serde::Serialize;

use super::CHECKPOINT;
use crate::judge::tiles_links::{HeadEvidence, TilesReadLink};
use crate::promise::SigstorePromise;

/// The entries of a bundle: each is its stored bytes behind their length in two bytes.
#[derive(Debug)]
pub struct RekorTilesLeaves;

impl LeafFormat for RekorTilesLeaves {
    type Entry<'a> = &'a [u8];

    fn entries(bytes: &[u8]) -> impl Iterator<Item = Result<&[u8], EntryFault>> {
        let mut reader = Some(TlsReader::new(bytes));
        std::iter::from_fn(move || {
            let mut entries = reader.take().filter(|entries| !entries.rest().is_empty())?;
            let entry = entries.vector16("entry").map_err(|why| EntryFault::new(why.to_string()));
            // What follows a broken entry has no beginning.
            reader = entry.is_ok().then_some(entries);
            Some(entry)
        })
    }

    fn leaf_hash(entry: &&[u8]) -> Result<Hash, EntryFault> {
        Ok(leaf_hash(entry))
    }
}

/// A log of Rekor v2.
#[derive(Clone, Debug)]
pub struct RekorTilesLog {
    url: String,
    verifier: Verifier,
    lags_at_most: Duration,
}

impl RekorTilesLog {
    /// The log that is written at `url`, whose checkpoints that verifier believes, and of which a server may lag so long behind another.
    pub fn new(url: String, verifier: Verifier, lags_at_most: Duration) -> Self {
        Self { url, verifier, lags_at_most }
    }

    /// The end of the workload of that name which reads entries, and whose checkpoints are to be of the followed tree.
    pub fn follow_reads(auditor: &mut LogAuditor, workload: &str) -> TilesReadLink {
        let mut link = |promise: SigstorePromise| auditor.link_of(workload, promise.into());
        TilesReadLink::new(link(SigstorePromise::Artifact), link(SigstorePromise::Checkpoint))
    }
}

impl LogSource for RekorTilesLog {
    fn url(&self) -> String {
        self.url.clone()
    }

    fn promise(&self) -> PromiseKind {
        SigstorePromise::Entry.into()
    }

    fn head_path(&self) -> &str {
        CHECKPOINT
    }

    fn bundle_bound(&self) -> AnswerBound {
        LONGEST_BUNDLE
    }

    fn open_head(&self, body: &[u8]) -> Result<OpenedHead, HeadFault> {
        OpenedHead::of_checkpoint(body, &self.verifier)
    }

    fn lags_at_most(&self) -> Option<Duration> {
        Some(self.lags_at_most)
    }

    fn words(&self) -> AuditWords {
        AuditWords { promise: "entry", overdue: OVERDUE, allowance: "publication delay" }
    }

    fn evidence(&self, receipt: &Receipt) -> impl Serialize {
        HeadEvidence::read(receipt).map(|HeadEvidence(ReceivedHead { head, .. })| ShownHead {
            checkpoint_size: head.size,
            checkpoint_root: head.root.to_hex(),
        })
    }
}

impl HeadedSource for RekorTilesLog {
    fn came_with(&self, receipt: &Receipt) -> Option<ReceivedHead> {
        HeadEvidence::read(receipt).map(|HeadEvidence(came)| came)
    }
}

/// What the line of a receipt shows.
#[derive(Serialize)]
struct ShownHead {
    checkpoint_size: u64,
    checkpoint_root: String,
}

/// 256 entries of 65,535 bytes, behind two bytes of their length each.
const LONGEST_BUNDLE: AnswerBound = AnswerBound::of(256 * (2 + 65_535));
/// An accepted entry that no checkpoint covers although the publication delay is over.
const OVERDUE: &str = "entry-overdue";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_are_read_to_their_end_or_to_the_first_entry_that_is_cut_off() {
        let read = |bytes: &[u8]| {
            RekorTilesLeaves::entries(bytes).map(|entry| entry.ok().map(<[u8]>::to_vec)).collect::<Vec<_>>()
        };
        assert_eq!(read(b"\0\x02ab\0\x01c"), [Some(b"ab".to_vec()), Some(b"c".to_vec())]);
        assert_eq!(read(b"\0\x02ab\0\x02c"), [Some(b"ab".to_vec()), None]);
        assert!(read(b"").is_empty());
        assert_eq!(RekorTilesLeaves::leaf_hash(&&b"ab"[..]).unwrap(), leaf_hash(b"ab"));
    }
}
