use std::collections::VecDeque;
use std::path::PathBuf;

use hammer_core::background::give_way;
use hammer_tlog::ct::rfc6962::{GetEntryAndProof, GetProofByHash, GetSthConsistency};
use hammer_tlog::encoding::{Base64, base64};
use hammer_tlog::logs::audit::{AuditBounds, EntryAudit, Receipt};
use hammer_tlog::logs::follow::{Event, Head};
use hammer_tlog::logs::merkle::{Frontier, Hash, leaf_hash};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::reader::Reader;
use super::spill::Folder;
use super::trouble::Trouble;
use crate::log::{GET_ENTRIES, GET_STH_CONSISTENCY};

/// The audit of a log of RFC 6962.
pub(super) struct Entries {
    bounds: AuditBounds,
    folder: PathBuf,
    /// The first head, until its edge is known.
    first: Option<Head>,
    /// How the tree grew since.
    grown: Vec<Event>,
    /// None until the edge of the first head is known.
    pub(super) audit: Option<EntryAudit<Folder>>,
    /// Receipts that came before the audit.
    waiting: Vec<Receipt>,
    begun_ms: u64,
    /// Leaves that the first head may have covered, so that the sweep does not meet them.
    early: VecDeque<Hash>,
    newest: Option<Head>,
    /// Whether the last head was of the tree before it.
    is_still: bool,
}

/// The answer of get-entries, of which the chains do not matter here.
#[derive(Deserialize)]
pub(super) struct LeafInputs {
    pub(super) entries: Vec<LeafInput>,
}

#[derive(Deserialize)]
pub(super) struct LeafInput {
    pub(super) leaf_input: Base64,
    #[serde(rename = "extra_data")]
    _extra_data: IgnoredAny,
}

impl Entries {
    pub(super) fn new(bounds: AuditBounds, folder: PathBuf) -> Self {
        Self {
            bounds,
            folder,
            first: None,
            grown: Vec::new(),
            audit: None,
            waiting: Vec::new(),
            begun_ms: 0,
            early: VecDeque::new(),
            newest: None,
            is_still: false,
        }
    }

    pub(super) fn follow(&mut self, event: &Event) {
        match event {
            Event::First { head } | Event::Grew { to: head, .. } => {
                self.is_still = false;
                self.newest = Some(head.clone());
            }
            Event::Same { .. } | Event::Forked { .. } | Event::Shrank { .. } => self.is_still = true,
            _ => return,
        }
        match &mut self.audit {
            Some(audit) => audit.follow(event),
            None => self.keep(event),
        }
    }

    /// Keeps the first head and what followed, for an audit that has not begun.
    fn keep(&mut self, event: &Event) {
        match event {
            Event::First { head } => self.first = Some(head.clone()),
            Event::Grew { .. } => {
                self.grown.truncate(HEADS - 1);
                self.grown.push(event.clone());
            }
            _ => {}
        }
    }

    pub(super) fn accept(&mut self, receipt: Receipt) {
        let Some(audit) = &mut self.audit else { return self.waiting.push(receipt) };
        if receipt.promised_ms <= self.begun_ms {
            self.early.push_back(receipt.leaf);
        }
        audit.accept(receipt);
    }

    /// The receipts in memory that are without a verdict.
    pub(super) fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.audit.iter().flat_map(EntryAudit::receipts).chain(&self.waiting)
    }

    pub(super) fn pending(&self) -> u64 {
        self.audit.as_ref().map_or(0, EntryAudit::pending) + self.waiting.len() as u64
    }

    /// Reads what the audit needs, and hands it what was accepted meanwhile.
    pub(super) async fn read(
        &mut self,
        reader: &mut Reader,
        accepted: impl Fn() -> Vec<Receipt>,
    ) -> Result<(), Trouble> {
        self.begin(reader).await?;
        loop {
            if self.waiting.len() < self.bounds.receipts {
                accepted().into_iter().for_each(|receipt| self.accept(receipt));
            }
            let Some(audit) = &mut self.audit else { return Ok(()) };
            let Some(range) = audit.needs(ENTRIES) else { break };
            let path = format!("{GET_ENTRIES}?start={}&end={}", range.start, range.end);
            let LeafInputs { entries } = reader.json(&path).await?;
            if entries.is_empty() {
                return Err(Trouble::Other(format!("read {path}: no entry is in the answer")));
            }
            give_way();
            audit.leaves(range.start, entries.iter().map(|entry| leaf_hash(&entry.leaf_input.0)));
            give_way();
        }
        if let Some(audit) = self.audit.as_mut().filter(|audit| self.is_still && audit.spilled() > 0) {
            // The load is over, as it seems: what was spilled has to be judged now.
            audit.settle();
        }
        self.look_up(reader).await
    }

    /// Begins the audit at the first head, once.
    async fn begin(&mut self, reader: &mut Reader) -> Result<(), Trouble> {
        let Some(head) = self.first.clone() else { return Ok(()) };
        let Some(frontier) = self.edge(reader, &head).await? else { return Ok(()) };
        let mut audit = EntryAudit::after(self.bounds, frontier, Folder::at(self.folder.clone()));
        audit.follow(&Event::First { head: head.clone() });
        self.grown.drain(..).for_each(|event| audit.follow(&event));
        self.begun_ms = if head.size == 0 { 0 } else { head.timestamp_ms };
        self.first = None;
        self.audit = Some(audit);
        std::mem::take(&mut self.waiting).into_iter().for_each(|receipt| self.accept(receipt));
        Ok(())
    }

    /// The right edge of the first head's tree: from its last entry, or the proof that it grew, where that is not served. None
    /// until it grew. One that is small and stays as it is has its entries read from the first one on.
    async fn edge(&mut self, reader: &mut Reader, head: &Head) -> Result<Option<Frontier>, Trouble> {
        let Some(last) = head.size.checked_sub(1) else { return Ok(Some(Frontier::new())) };
        match edge(reader, last, head).await {
            Err(why) if why.is_refusal() => {}
            edge => return edge.map(Some),
        }
        match self.grown.last() {
            Some(Event::Grew { to, .. }) => edge_by_growth(reader, head, to).await.map(Some),
            _ if self.is_still && head.size <= ENTRIES => Ok(Some(Frontier::new())),
            _ => Ok(None),
        }
    }

    /// Looks some of the leaves up that the sweep did not meet; those that the tree does not have yet, again at the next
    /// look.
    async fn look_up(&mut self, reader: &mut Reader) -> Result<(), Trouble> {
        let (Some(audit), Some(head)) = (&mut self.audit, &self.newest) else { return Ok(()) };
        self.early.retain(|leaf| audit.awaits(leaf));
        for _ in 0..self.early.len().min(LOOK_UPS) {
            let Some(leaf) = self.early.front().copied() else { return Ok(()) };
            let proof = proof_by_hash(reader, &leaf, head.size).await;
            // Only now, since a look may end at any await.
            self.early.pop_front();
            let is_proved = match &proof {
                Ok(proof) => audit.proof(leaf, proof.leaf_index, head, &proof.audit_path).is_ok(),
                Err(_) => false,
            };
            if !is_proved {
                self.early.push_back(leaf);
            }
            if let Err(why) = proof
                && !why.is_refusal()
            {
                return Err(why);
            }
        }
        Ok(())
    }
}

async fn proof_by_hash(reader: &Reader, leaf: &Hash, size: u64) -> Result<GetProofByHash, Trouble> {
    let hash = base64(&leaf.0).replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    reader.json(&format!("/ct/v1/get-proof-by-hash?hash={hash}&tree_size={size}")).await
}

/// The right edge of the first head's tree, from its last entry.
async fn edge(reader: &mut Reader, last: u64, head: &Head) -> Result<Frontier, Trouble> {
    let frontier = edge_of(reader, last, head.size).await?;
    match frontier.root() == head.root {
        true => Ok(frontier),
        false => {
            Err(Trouble::Other(format!("read entry {last}: its proof does not lead to the root of {head:?}")))
        }
    }
}

/// The right edge of the first head's tree, from the proof that a later one continues it.
async fn edge_by_growth(reader: &mut Reader, head: &Head, newer: &Head) -> Result<Frontier, Trouble> {
    let path = format!("{GET_STH_CONSISTENCY}?first={}&second={}", head.size, newer.size);
    let proof: GetSthConsistency = reader.json(&path).await?;
    let frontier = Frontier::from_consistency_proof(head.size, newer.size, head.root, &proof.consistency);
    frontier.map_err(|why| Trouble::Other(format!("read {path}: {why}")))
}

/// The right edge of the tree of `size` leaves as the proof of its last entry has it: whether it is the log's, its root
/// tells.
pub(super) async fn edge_of(reader: &mut Reader, last: u64, size: u64) -> Result<Frontier, Trouble> {
    let path = format!("/ct/v1/get-entry-and-proof?leaf_index={last}&tree_size={size}");
    let answer: GetEntryAndProof = reader.json(&path).await?;
    let frontier = Frontier::from_last_leaf(size, leaf_hash(&answer.leaf_input.0), &answer.audit_path);
    frontier.map_err(|why| Trouble::Other(format!("read {path}: {why}")))
}

const ENTRIES: u64 = 1000;
/// Kept before the audit begins; of more, the last stands for those before it.
const HEADS: usize = 64;
/// In one look.
const LOOK_UPS: usize = 64;
