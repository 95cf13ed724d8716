//! The audit of a log without tiles.

use std::collections::{HashSet, VecDeque};
use std::marker::PhantomData;
use std::path::PathBuf;

use futures::future::join_all;
use hammer_core::background::give_way;
use hammer_measure::Nanos;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{
    AuditBounds, Beside, EntryAudit, EntryFault, Finding, LeafFormat, Receipt, ReceiptClock, Verdict, bundles,
};
use hammer_tlog::logs::follow::{Event, Follower, Head, ProofMethod};
use hammer_tlog::logs::merkle::Frontier;

use crate::answer_bound::AnswerBound;
use crate::reader::AuditReader;
use crate::receipt_spill::ReceiptSpill;
use crate::source::EntrySource;
use crate::tree_reading::{AuditRound, TreeReading};
use crate::trouble::Trouble;

/// The audit of a log without tiles, whose entries are in the format `F`.
pub(crate) struct EntryReading<F> {
    format: PhantomData<F>,
    bounds: AuditBounds,
    clock: ReceiptClock,
    spilled: PathBuf,
    /// The first head, until its edge is known.
    first: Option<Head>,
    /// How the tree grew since.
    grown: Vec<Event>,
    /// None until the edge of the first head is known.
    audit: Option<EntryAudit<ReceiptSpill>>,
    /// Receipts that came before the audit.
    waiting: Vec<Receipt>,
    started_ms: u64,
    /// Leaves that the sweep does not meet, since the first head may have covered them, or what is served in the place of entries leads elsewhere,
    /// and when they were promised, in milliseconds since 1970.
    early: VecDeque<(Hash, u64)>,
    newest: Option<Head>,
    /// Whether the last head was of the tree before it.
    is_still: bool,
}

impl<L: EntrySource, F: LeafFormat> TreeReading<L> for EntryReading<F> {
    fn follower() -> Follower {
        Follower::new(ProofMethod::Proofs, bundles::<F>())
    }

    fn new(bounds: AuditBounds, clock: ReceiptClock, spilled: PathBuf) -> Self {
        Self {
            format: PhantomData,
            bounds,
            clock,
            spilled,
            first: None,
            grown: Vec::new(),
            audit: None,
            waiting: Vec::new(),
            started_ms: 0,
            early: VecDeque::new(),
            newest: None,
            is_still: false,
        }
    }

    fn follow(&mut self, event: &Event) {
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

    fn accept(&mut self, receipt: Receipt) {
        let Some(audit) = &mut self.audit else { return self.waiting.push(receipt) };
        if receipt.promised_ms <= self.started_ms {
            self.early.push_back((receipt.leaf, receipt.promised_ms));
        }
        audit.accept(receipt);
    }

    async fn read(
        &mut self,
        reader: &AuditReader<L>,
        _round: &AuditRound<'_>,
        accepted: impl Fn() -> Vec<Receipt>,
    ) -> Result<(), Trouble> {
        self.start(reader).await?;
        loop {
            if self.waiting.len() < self.bounds.receipts {
                accepted().into_iter().for_each(|receipt| TreeReading::<L>::accept(self, receipt));
            }
            let Some(audit) = &mut self.audit else { return Ok(()) };
            let Some(range) = audit.needs(ENTRIES) else { break };
            let path = reader.log().entries(range.start, range.end);
            let body = reader.body(&path, AnswerBound::ENTRIES).await?;
            give_way();
            audit.entries(range.start, entries_of::<F>(&path, &body)?);
            give_way();
        }
        self.strand();
        if let Some(audit) = self.audit.as_mut().filter(|audit| self.is_still && audit.spilled() > 0) {
            // The load is over, as it seems: what was spilled has to be judged now.
            audit.settle();
        }
        self.look_up(reader).await
    }

    fn overdue(&mut self, observed_ms: u64) {
        if let Some(audit) = &mut self.audit {
            audit.overdue(observed_ms);
        }
    }

    fn may_be_due(&self, observed_ms: u64) -> bool {
        self.audit.as_ref().is_some_and(|audit| audit.may_be_due(observed_ms))
    }

    fn verdicts(&mut self) -> Vec<Verdict> {
        self.audit.as_mut().map(EntryAudit::verdicts).unwrap_or_default()
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.audit.as_mut().map(EntryAudit::findings).unwrap_or_default()
    }

    fn pending(&self) -> u64 {
        self.audit.as_ref().map_or(0, EntryAudit::pending) + self.waiting.len() as u64
    }

    fn spilled(&self) -> u64 {
        self.audit.as_ref().map_or(0, EntryAudit::spilled)
    }

    fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.audit.iter().flat_map(EntryAudit::receipts).chain(&self.waiting)
    }
}

impl<F: LeafFormat> EntryReading<F> {
    /// Keeps the first head and what followed, for an audit that has not started.
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

    /// Starts the audit at the first head, once.
    async fn start<L: EntrySource>(&mut self, reader: &AuditReader<L>) -> Result<(), Trouble> {
        let Some(head) = self.first.clone() else { return Ok(()) };
        let Some(frontier) = self.edge(reader, &head).await? else { return Ok(()) };
        let spill = ReceiptSpill::at(self.spilled.clone());
        let mut audit = EntryAudit::after(self.bounds, frontier, spill).by_clock(self.clock);
        audit.follow(&Event::First { head: head.clone() });
        self.grown.drain(..).for_each(|event| audit.follow(&event));
        self.started_ms = if head.size == 0 { 0 } else { head.timestamp_ms };
        self.first = None;
        self.audit = Some(audit);
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().for_each(|receipt| TreeReading::<L>::accept(self, receipt));
        Ok(())
    }

    /// The right edge of the first head's tree: from its last entry, or the proof that it grew, where that is not served. None
    /// until it grew. One that is small and stays as it is has its entries read from the first one on.
    async fn edge<L: EntrySource>(
        &self,
        reader: &AuditReader<L>,
        head: &Head,
    ) -> Result<Option<Frontier>, Trouble> {
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

    /// Has receipts looked up one by one that the sweep cannot meet, since the entries do not lead to the root: the tree may have their leaves
    /// all the same.
    fn strand(&mut self) {
        let Some(audit) = self.audit.as_ref().filter(|audit| audit.is_astray()) else { return };
        let known: HashSet<Hash> = self.early.iter().map(|(leaf, _)| *leaf).collect();
        let room = STRANDED.saturating_sub(known.len());
        let stranded = audit.receipts().filter(|receipt| !known.contains(&receipt.leaf)).take(room);
        self.early.extend(stranded.map(|receipt| (receipt.leaf, receipt.promised_ms)));
    }

    /// Looks some of the leaves up that the sweep did not meet, several at once; those that the tree does not have yet, again in a later
    /// round. A leaf is left to the sweep first, which costs a slow log one answer for a thousand of them.
    async fn look_up<L: EntrySource>(&mut self, reader: &AuditReader<L>) -> Result<(), Trouble> {
        let (Some(audit), Some(head)) = (&mut self.audit, &self.newest) else { return Ok(()) };
        self.early.retain(|(leaf, _)| audit.awaits(leaf));
        let (is_still, signed_ms) = (self.is_still, head.timestamp_ms);
        let is_swept = |promised_ms: u64| is_still || signed_ms >= promised_ms.saturating_add(SWEPT_MS);
        let until = reader.now().saturating_add(LOOK_UP_FOR);
        for _ in 0..LOOK_UPS / LOOK_UPS_AT_ONCE {
            let due = self.early.iter().filter(|(_, promised_ms)| is_swept(*promised_ms));
            let due: Vec<(Hash, u64)> = due.take(LOOK_UPS_AT_ONCE).copied().collect();
            if due.is_empty() || reader.now() >= until {
                break;
            }
            let asked = due.iter().map(|(leaf, _)| reader.log().proof_by_hash(leaf, head.size));
            let asked: Vec<_> = asked.collect();
            let proofs = join_all(asked.iter().map(|query| reader.ask(query))).await;
            // Only now, since a round may end at any await.
            self.early.retain(|early| !due.contains(early));
            let mut went = Ok(());
            for (early, proof) in due.into_iter().zip(proofs) {
                let is_proved = match &proof {
                    Ok(proof) => audit.proof(early.0, proof.index, head, &proof.audit_path).is_ok(),
                    Err(_) => false,
                };
                if !is_proved {
                    self.early.push_back(early);
                }
                if let Err(why) = proof
                    && !why.is_refusal()
                {
                    went = Err(why);
                }
            }
            went?;
        }
        Ok(())
    }
}

/// The leaf hashes of the entries in an answer from `path`, up to the first that cannot be read.
///
/// # Errors
/// When no entry can be read.
pub fn leaves_of<F: LeafFormat>(path: &str, body: &[u8]) -> Result<Vec<Hash>, Trouble> {
    read_entries::<F, _>((path, body), |entry| F::leaf_hash(entry))
}

/// The same with what stands beside each leaf.
fn entries_of<F: LeafFormat>(path: &str, body: &[u8]) -> Result<Vec<(Hash, Option<Beside>)>, Trouble> {
    read_entries::<F, _>((path, body), |entry| Ok((F::leaf_hash(entry)?, F::beside(entry))))
}

fn read_entries<F: LeafFormat, T>(
    (path, body): (&str, &[u8]),
    read: impl Fn(&F::Entry<'_>) -> Result<T, EntryFault>,
) -> Result<Vec<T>, Trouble> {
    let mut leaves = Vec::new();
    for entry in F::entries(body) {
        match entry.and_then(|entry| read(&entry)) {
            Ok(leaf) => leaves.push(leaf),
            Err(why) if leaves.is_empty() => {
                return Err(Trouble::unreadable(path, &why.to_string()));
            }
            Err(_) => break,
        }
    }
    match leaves.is_empty() {
        true => Err(Trouble::Other(format!("read {path}: no entry is in the answer"))),
        false => Ok(leaves),
    }
}

/// The right edge of the first head's tree, from its last entry.
async fn edge<L: EntrySource>(reader: &AuditReader<L>, last: u64, head: &Head) -> Result<Frontier, Trouble> {
    let frontier = edge_of(reader, last, head.size).await?;
    match frontier.root() == head.root {
        true => Ok(frontier),
        false => {
            Err(Trouble::Other(format!("read entry {last}: its proof does not lead to the root of {head}")))
        }
    }
}

/// The right edge of the first head's tree, from the proof that a later one continues it.
async fn edge_by_growth<L: EntrySource>(
    reader: &AuditReader<L>,
    head: &Head,
    newer: &Head,
) -> Result<Frontier, Trouble> {
    let Some(query) = reader.log().consistency(head.size, newer.size) else { return Ok(Frontier::new()) };
    let proof = reader.ask(&query).await?;
    let frontier = Frontier::from_consistency_proof(head.size, newer.size, head.root, &proof);
    frontier.map_err(|why| Trouble::Unreadable { path: query.path, why: why.to_string() })
}

/// The right edge of the tree of `size` leaves as the proof of its last entry has it: whether it is the log's, its root
/// tells.
///
/// # Errors
/// When the log does not give it.
pub async fn edge_of<L: EntrySource>(
    reader: &AuditReader<L>,
    last: u64,
    size: u64,
) -> Result<Frontier, Trouble> {
    let query = reader.log().entry_and_proof(last, size);
    let proof = reader.ask(&query).await?;
    let frontier = Frontier::from_last_leaf(size, proof.leaf, &proof.audit_path);
    frontier.map_err(|why| Trouble::Unreadable { path: query.path, why: why.to_string() })
}

const ENTRIES: u64 = 1000;
/// Kept before the audit starts; of more, the last stands for those before it.
const HEADS: usize = 64;
/// Leaves that are looked up of a log whose entries lead elsewhere, at a time.
const STRANDED: usize = 4096;
/// In one round.
const LOOK_UPS: usize = 64;
const LOOK_UPS_AT_ONCE: usize = 8;
/// No further ones are started in a round after that.
const LOOK_UP_FOR: Nanos = Nanos::from_secs(1);
/// A leaf that was not swept by a head that is so much later than its promise may be from before the sweep.
const SWEPT_MS: u64 = 5_000;
