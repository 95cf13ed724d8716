use std::collections::{HashMap, VecDeque};

use super::{Breach, Finding, Kept, Kind, Policy, Published, Receipt, Verdict};
use crate::follow::{Event, Head};
use crate::merkle::{Frontier, Hash, MerkleError, leaf_hash, verify_inclusion};

/// Entries to be fetched: the parameters of get-entries (RFC 6962 section 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first entry.
    pub start: u64,
    /// The last entry.
    pub end: u64,
}

/// The audit of a log of RFC 6962. It is fed what a [`Follower`](crate::follow::Follower) tells, receipts, and entries
/// in order; their leaf hashes must lead to the root of each head, and only then are receipts held against them.
#[derive(Debug)]
pub struct EntryAudit {
    policy: Policy,
    /// The edge of the leaves that were read.
    read: Frontier,
    /// The edge of the leaves that led to a head's root.
    verified: Frontier,
    /// Leaf hashes between the two.
    leaves: Vec<Hash>,
    heads: VecDeque<Target>,
    /// Whether the entries did not lead to the root of the last head that they reached.
    astray: bool,
    receipts: HashMap<Hash, Receipt>,
    /// Receipts beyond the first of one leaf.
    twins: HashMap<Hash, Vec<Receipt>>,
    recent: Recent,
    verdicts: Vec<Verdict>,
    findings: Vec<Finding>,
}

/// A head that the entries have to lead to.
#[derive(Debug)]
struct Target {
    size: u64,
    root: Hash,
    /// None for the first head, whose leaves were published at instants that nobody saw.
    published: Option<Published>,
}

impl EntryAudit {
    /// An audit from the first leaf on.
    pub fn new(policy: Policy) -> Self {
        Self::after(policy, Frontier::new())
    }

    /// An audit of the leaves that follow these (see [`Frontier::from_last_leaf`]), whose root must have been found to
    /// be the log's.
    pub fn after(policy: Policy, leaves: Frontier) -> Self {
        let (heads, receipts, twins, verdicts, findings) = Default::default();
        let astray = false;
        let (read, verified, recent) = (leaves.clone(), leaves, Recent::default());
        Self {
            policy,
            read,
            verified,
            leaves: Vec::new(),
            heads,
            astray,
            receipts,
            twins,
            recent,
            verdicts,
            findings,
        }
    }

    /// Takes what the follower tells; only heads that it trusts matter here.
    pub fn follow(&mut self, event: &Event) {
        let (head, first) = match event {
            Event::First { head } => (head, true),
            Event::Grew { to, .. } => (to, false),
            _ => return,
        };
        let Head { size, root, fetched_ns, timestamp_ms, .. } = *head;
        let published = (!first).then_some(Published { size, fetched_ns, timestamp_ms });
        if size > self.verified.size() {
            self.heads.push_back(Target { size, root, published });
        }
    }

    /// Takes the receipt of an accepted submission.
    pub fn accept(&mut self, receipt: Receipt) {
        if let Some(seen) = self.recent.leaves.get_mut(&receipt.leaf) {
            let twice = !receipt.is_duplicate() && std::mem::replace(&mut seen.claimed, true);
            let (index, published) = (seen.index, seen.published);
            let kind = twice.then_some(Kind::PromisedTwice { first: None });
            return self.verdicts.push(verdict(&self.policy, receipt, index, published, kind));
        }
        if let Some(first) = self.receipts.get(&receipt.leaf) {
            if !receipt.is_duplicate() && !first.is_duplicate() {
                let kind = Kind::PromisedTwice { first: Some(first.seq) };
                return self.verdicts.push(Verdict::Broken(Breach { receipt, kind }));
            }
            self.twins.entry(receipt.leaf).or_default().push(receipt);
        } else {
            self.receipts.insert(receipt.leaf, receipt);
        }
    }

    /// The entries to be fetched next, at most `limit`; none where all that heads cover have been read.
    pub fn needs(&self, limit: u64) -> Option<Range> {
        let (start, size) = (self.read.size(), self.heads.back()?.size);
        let count = limit.max(1).min(size.checked_sub(start)?);
        (count > 0).then(|| Range { start, end: start + count - 1 })
    }

    /// Takes the `leaf_input` of entries from `start` on, as many as the log gave. Entries that are not next are passed
    /// over.
    pub fn entries<L: AsRef<[u8]>>(&mut self, start: u64, leaf_inputs: impl IntoIterator<Item = L>) {
        if start != self.read.size() {
            return;
        }
        for leaf_input in leaf_inputs {
            let Some(target) = self.heads.front() else { return };
            let leaf = leaf_hash(leaf_input.as_ref());
            self.read.append(leaf);
            self.leaves.push(leaf);
            if self.read.size() >= target.size && !self.reach() {
                return;
            }
        }
    }

    /// Takes a proof that a leaf is in the tree of a trusted head (get-proof-by-hash), for receipts that the sweep cannot
    /// meet: of leaves before the audit, or that it no longer remembers.
    pub fn proof(&mut self, leaf: Hash, index: u64, head: &Head, path: &[Hash]) -> Result<(), MerkleError> {
        verify_inclusion(index, head.size, &leaf, path, &head.root)?;
        self.meet(leaf, index, None);
        Ok(())
    }

    /// Breaks the promises of all leaves that are not among those of the newest head although their merge delay was over
    /// when that was last fetched, at `observed_ms` since 1970. Says nothing
    /// while entries are still to be read, or did not lead to that head's root.
    pub fn overdue(&mut self, observed_ms: u64) {
        if self.astray || !self.heads.is_empty() {
            return;
        }
        let mmd_ms = self.policy.mmd_ms;
        let late = |receipt: &Receipt| receipt.deadline_ms(mmd_ms) < observed_ms;
        let receipts = self.receipts.extract_if(|_, receipt| late(receipt)).map(|(_, receipt)| receipt);
        let mut receipts: Vec<_> = receipts.collect();
        for receipt in &mut receipts.clone() {
            receipts.extend(self.twins.remove(&receipt.leaf).into_iter().flatten());
        }
        let kind = Kind::Mmd { published: None };
        self.verdicts.extend(receipts.into_iter().map(|receipt| Verdict::Broken(Breach { receipt, kind })));
    }

    /// The receipts without a verdict, in no order.
    pub fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.receipts.values().chain(self.twins.values().flatten())
    }

    /// Receipts without a verdict.
    pub fn pending(&self) -> u64 {
        self.receipts().count() as u64
    }

    /// Leaves of the trusted tree that have not been read.
    pub fn behind(&self) -> u64 {
        self.heads.back().map_or(0, |head| head.size.saturating_sub(self.read.size()))
    }

    /// What became of promises since the last call.
    pub fn verdicts(&mut self) -> Vec<Verdict> {
        std::mem::take(&mut self.verdicts)
    }

    /// What else was found since the last call.
    pub fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// Holds the root of what was read against the head's; says whether they are equal.
    fn reach(&mut self) -> bool {
        let Some(target) = self.heads.pop_front() else { return false };
        let (start, computed) = (self.verified.size(), self.read.root());
        self.astray = computed != target.root;
        if self.astray {
            let finding =
                Finding::TamperedEntries { start, size: target.size, computed, expected: target.root };
            self.findings.push(finding);
            // The entries are read again for the next head: what was altered on the way may then be whole.
            self.read = self.verified.clone();
            self.leaves.clear();
            return false;
        }
        self.verified = self.read.clone();
        for (index, leaf) in (start..).zip(std::mem::take(&mut self.leaves)) {
            let claimed = self.meet(leaf, index, target.published);
            self.recent.push(leaf, Seen { index, published: target.published, claimed }, self.policy.window);
        }
        true
    }

    /// Judges the receipts of a leaf that is in the tree; says whether one of them is other than a duplicate's.
    fn meet(&mut self, leaf: Hash, index: u64, published: Option<Published>) -> bool {
        let Some(first) = self.receipts.remove(&leaf) else { return false };
        let twins = if self.twins.is_empty() { None } else { self.twins.remove(&leaf) };
        let mut claimed = false;
        for receipt in std::iter::once(first).chain(twins.into_iter().flatten()) {
            let twice = !receipt.is_duplicate() && std::mem::replace(&mut claimed, true);
            let kind = twice.then_some(Kind::PromisedTwice { first: None });
            self.verdicts.push(verdict(&self.policy, receipt, index, published, kind));
        }
        claimed
    }
}

fn verdict(
    policy: &Policy,
    receipt: Receipt,
    index: u64,
    published: Option<Published>,
    kind: Option<Kind>,
) -> Verdict {
    let late = |mark: &Published| mark.timestamp_ms > receipt.deadline_ms(policy.mmd_ms);
    match kind {
        Some(kind) => Verdict::Broken(Breach { receipt, kind }),
        None if published.as_ref().is_some_and(late) => {
            Verdict::Broken(Breach { receipt, kind: Kind::Mmd { published } })
        }
        None => Verdict::Kept(Kept { receipt, index, published }),
    }
}

/// The last leaves that were verified, for receipts that come after them.
#[derive(Debug, Default)]
struct Recent {
    order: VecDeque<Hash>,
    leaves: HashMap<Hash, Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    index: u64,
    published: Option<Published>,
    /// Whether a receipt, other than a duplicate's, has found it to be its own.
    claimed: bool,
}

impl Recent {
    fn push(&mut self, leaf: Hash, seen: Seen, window: usize) {
        if self.leaves.insert(leaf, seen).is_none() {
            self.order.push_back(leaf);
        }
        if self.order.len() > window {
            let oldest = self.order.pop_front();
            oldest.map(|leaf| self.leaves.remove(&leaf));
        }
    }
}
