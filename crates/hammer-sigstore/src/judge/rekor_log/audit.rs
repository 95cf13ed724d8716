//! The log of Rekor v1, as an audit has to know it: log information, consistency proofs, and entries that are read back.

use std::sync::Arc;
use std::time::Duration;

use hammer_audit::{
    AnswerBound, AnsweredEntry, AnsweredSource, AuditWords, HeadFault, LogAuditor, LogQuery, LogSource,
    OpenedHead, ReadBack, Shards,
};
use hammer_core::promise::{Fault, PromiseKind};
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::Receipt;
use hammer_tlog::logs::merkle::leaf_hash;
use hammer_values::SampleShare;
use serde::Serialize;

use super::follow_link::{AnswerEvidence, EntryReadBack, FollowLink};
use super::log_info;
use crate::judge::entry::{BelievedNote, INDEX, LogTrust, judge_logged, stored};
use crate::judge::shards::{ShardOffsets, check_stated};
use crate::promise::SigstorePromise;
use crate::rekor::{ENTRIES, LogEntries, LogEntry, leaf_of};
use crate::trust::Trust;

/// A log of Rekor v1.
#[derive(Clone, Debug)]
pub struct RekorLog {
    url: String,
    trust: Arc<Trust>,
    shards: Arc<ShardOffsets>,
    lags_at_most: Duration,
}

/// What the line of a receipt shows.
#[derive(Serialize)]
struct ShownAnswer {
    uuid: String,
    tree_index: u64,
    checkpoint_size: u64,
    checkpoint_root: String,
}

/// `POST /api/v1/log/entries/retrieve`.
#[derive(Serialize)]
struct Retrieval {
    #[serde(rename = "entryUUIDs")]
    entry_uuids: Vec<String>,
}

impl RekorLog {
    /// The log at `url`, which is held to that, and whose information may lag so long behind its answers.
    pub fn new(url: String, trust: Arc<Trust>, lags_at_most: Duration) -> Self {
        Self { url, trust, shards: Arc::new(ShardOffsets::followed()), lags_at_most }
    }

    /// The end of the workload of that name whose entries are followed, and some of them read back.
    pub fn follow_entries(
        &self,
        auditor: &mut LogAuditor,
        workload: &str,
        read_back: EntryReadBack,
    ) -> FollowLink {
        let link = auditor.link_of(workload, SigstorePromise::Entry.into());
        FollowLink::new(link, self.shards.clone(), read_back)
    }

    /// The end of the workload of that name that reads entries.
    pub fn follow_reads(&self, auditor: &mut LogAuditor, workload: &str) -> FollowLink {
        let link = auditor.link_of(workload, SigstorePromise::Artifact.into());
        let none = EntryReadBack { share: SampleShare::NONE, missing_after: Duration::ZERO, seed: 0 };
        FollowLink::new(link, self.shards.clone(), none)
    }

    /// What became of a promise, by the entry under its UUID.
    fn judge(&self, receipt: &Receipt, uuid: &str, entry: &LogEntry<'_>) -> Result<(), Fault> {
        // Of an entry that the log had already nobody knows it.
        let index = receipt.index().unwrap_or(entry.log_index);
        let body = stored(entry)?;
        if leaf_hash(&body) != receipt.leaf {
            let told = "what is read back under its UUID is another entry than the one that was answered";
            return Err(Fault::at(ALTERED, index, told));
        }
        if entry.log_index != index {
            let told = format!("it was answered with {index}, and is read back with {}", entry.log_index);
            return Err(Fault::at(INDEX, index, told));
        }
        let answered = AnswerEvidence::read(receipt);
        let time = answered.integrated_time;
        if answered.answered().head.is_some() && entry.integrated_time != time {
            let told =
                format!("it was integrated at {time}, and is read back with {}", entry.integrated_time);
            return Err(Fault::at(ALTERED, index, told));
        }
        let log = LogTrust { trust: &self.trust, shards: &self.shards };
        judge_logged(log, (uuid, entry), &body, &mut BelievedNote::default()).map(drop)
    }
}

impl LogSource for RekorLog {
    fn url(&self) -> String {
        self.url.clone()
    }

    fn promise(&self) -> PromiseKind {
        SigstorePromise::Entry.into()
    }

    fn head_path(&self) -> &str {
        LOG_INFO
    }

    /// It names each tree that the log had before, with a checkpoint of its own.
    fn head_bound(&self) -> AnswerBound {
        AnswerBound::of(1 << 20)
    }

    fn open_head(&self, body: &[u8]) -> Result<OpenedHead, HeadFault> {
        let opened = log_info::open_head(body, self.trust.rekor_keys())?;
        self.shards.state(&opened.shards);
        Ok(opened)
    }

    fn consistency_in(&self, tree: u64, first: u64, second: u64) -> Option<LogQuery<Vec<Hash>>> {
        let path = format!("{LOG_INFO}/proof?firstSize={first}&lastSize={second}&treeID={tree}");
        Some(LogQuery { path, bound: AnswerBound::PROOF, read: log_info::read_proof })
    }

    fn lags_at_most(&self) -> Option<Duration> {
        Some(self.lags_at_most)
    }

    fn words(&self) -> AuditWords {
        AuditWords { promise: "entry", ..AuditWords::default() }
    }

    fn evidence(&self, receipt: &Receipt) -> impl Serialize {
        let AnswerEvidence { head, tree_index, .. } = AnswerEvidence::read(receipt);
        let (checkpoint_size, checkpoint_root) = (head.size, head.root.to_hex());
        ShownAnswer { uuid: uuid(receipt), tree_index, checkpoint_size, checkpoint_root }
    }
}

impl AnsweredSource for RekorLog {
    fn answered(&self, receipt: &Receipt) -> AnsweredEntry {
        AnswerEvidence::read(receipt).answered()
    }

    fn placed(&self, receipt: &Receipt, shards: &Shards) -> Result<(), Fault> {
        let AnswerEvidence { head, tree_index, .. } = AnswerEvidence::read(receipt);
        let index = receipt.index().unwrap_or_default();
        check_stated(shards, head.tree, (index, tree_index)).map_err(|why| Fault::at(INDEX, tree_index, why))
    }

    fn retrieval(&self, receipts: &[Receipt]) -> (String, Vec<u8>) {
        let asked = Retrieval { entry_uuids: receipts.iter().map(uuid).collect() };
        // Texts are always written.
        (format!("{ENTRIES}/retrieve"), serde_json::to_vec(&asked).unwrap_or_default())
    }

    fn entry_path(&self, receipt: &Receipt) -> String {
        format!("{ENTRIES}/{}", uuid(receipt))
    }

    fn read_back(&self, receipts: &[Receipt], answer: &[u8]) -> Result<Vec<ReadBack>, String> {
        let found = LogEntries::retrieved(answer)?;
        let became = |receipt: &Receipt| {
            let its = found.iter().find(|(uuid, _)| leaf_of(uuid) == Some(receipt.leaf));
            match its.map(|(uuid, entry)| self.judge(receipt, uuid, entry)) {
                None => ReadBack::Missing,
                Some(Ok(())) => ReadBack::Kept,
                Some(Err(fault)) => ReadBack::Broken(fault),
            }
        };
        Ok(receipts.iter().map(became).collect())
    }

    fn lost(&self) -> &'static str {
        LOST
    }
}

/// By which an entry is asked for: its tree, where that is known, and its leaf, in hexadecimal digits.
fn uuid(receipt: &Receipt) -> String {
    match AnswerEvidence::read(receipt).head.tree {
        0 => receipt.leaf.to_hex(),
        tree => format!("{tree:016x}{}", receipt.leaf.to_hex()),
    }
}

const LOG_INFO: &str = "/api/v1/log";
const LOST: &str = "lost-entry";
const ALTERED: &str = "altered-entry";
