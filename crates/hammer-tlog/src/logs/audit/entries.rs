//! The audit by entries.

use std::collections::{HashMap, VecDeque};

use super::beside::Beside;
use super::bounds::AuditBounds;
use super::earlier_heads::EarlierHeads;
use super::receipt::Receipt;
use super::receipt_clock::{ReceiptClock, deadline_ms};
use super::spill::Spill;
use super::spill_partitions::{PARTITIONS, Seen, SpillPartitions, partition_of};
use super::verdict::{Breach, Finding, Kept, Kind, Published, Verdict};
use crate::hash::Hash;
use crate::logs::follow::{Event, Head};
use crate::logs::merkle::{Frontier, MerkleError, verify_inclusion};

/// Entries to be fetched, as the parameters of get-entries have it (RFC 6962 section 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryRange {
    /// The first entry.
    pub start: u64,
    /// The last entry.
    pub end: u64,
}

/// The audit of a log without tiles, as RFC 6962 has it. It is fed what a [`Follower`](crate::logs::follow::Follower) tells, receipts, and entries
/// in order; their leaf hashes must lead to the root of each head, and only then are receipts held against them.
#[derive(Debug)]
pub struct EntryAudit<S> {
    bounds: AuditBounds,
    /// The edge of the leaves that were read.
    read: Frontier,
    /// The edge of the leaves that led to a head's root.
    verified: Frontier,
    /// The leaves between the two, with what stood beside each.
    leaves: Vec<(Hash, Option<Beside>)>,
    heads: VecDeque<Target>,
    /// Whether the entries did not lead to the root of the last head that they reached.
    astray: bool,
    /// From which entry on they did not, as it was told last.
    told: Option<u64>,
    /// The heads that were followed.
    followed: EarlierHeads,
    clock: Option<ReceiptClock>,
    receipts: HashMap<Hash, Receipt>,
    /// Receipts beyond the first of one leaf.
    twins: HashMap<Hash, Vec<Receipt>>,
    in_memory: usize,
    spilled: SpillPartitions<S>,
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

impl<S: Spill> EntryAudit<S> {
    /// An audit from the first leaf on.
    pub fn new(bounds: AuditBounds, spill: S) -> Self {
        Self::after(bounds, Frontier::new(), spill)
    }

    /// An audit of the leaves that follow these (see [`Frontier::from_last_leaf`]), whose root must have been found to
    /// be the log's.
    pub fn after(bounds: AuditBounds, leaves: Frontier, spill: S) -> Self {
        let (heads, receipts, twins, verdicts, findings) = Default::default();
        Self {
            bounds,
            read: leaves.clone(),
            verified: leaves,
            leaves: Vec::new(),
            heads,
            astray: false,
            told: None,
            followed: EarlierHeads::default(),
            clock: None,
            receipts,
            twins,
            in_memory: 0,
            spilled: SpillPartitions::new(spill),
            recent: Recent::default(),
            verdicts,
            findings,
        }
    }

    /// The same by our clock beside the log's.
    #[must_use]
    pub fn by_clock(mut self, clock: ReceiptClock) -> Self {
        self.spilled.by_clock(clock);
        Self { clock: Some(clock), ..self }
    }

    /// Takes what the follower tells; only heads that it trusts matter here.
    pub fn follow(&mut self, event: &Event) {
        let (head, first) = match event {
            Event::First { head } => (head, true),
            Event::Grew { to, .. } => (to, false),
            Event::Same { head } => return self.followed.met(head, self.clock.as_ref()),
            _ => return,
        };
        let Head { size, root, fetched_ns, timestamp_ms, .. } = *head;
        let earlier = self.followed;
        self.followed.met(head, self.clock.as_ref());
        let published = (!first).then_some(Published { size, fetched_ns, earlier, timestamp_ms });
        let start = self.verified.size();
        if size > start {
            self.heads.push_back(Target { size, root, published });
        } else if size == start && root != self.verified.root() {
            let computed = self.verified.root();
            self.findings.push(Finding::TamperedEntries { start, size, computed, expected: root });
        }
    }

    /// Takes the receipt of an accepted submission.
    pub fn accept(&mut self, receipt: Receipt) {
        if let Some(seen) = self.recent.leaves.get_mut(&receipt.leaf) {
            let mut known = *seen;
            seen.claimed |= !receipt.is_duplicate();
            return self.judge(receipt, &mut known);
        }
        self.hold(receipt);
        self.make_room();
    }

    /// The entries to be fetched next, at most `limit`; none where all that heads cover have been read.
    pub fn needs(&self, limit: u64) -> Option<EntryRange> {
        let (start, size) = (self.read.size(), self.heads.back()?.size);
        let count = limit.max(1).min(size.checked_sub(start)?);
        (count > 0).then(|| EntryRange { start, end: start + count - 1 })
    }

    /// Takes the leaf hashes of entries from `start` on, as many as the log gave. Entries that are not next are passed over.
    pub fn leaves(&mut self, start: u64, leaves: impl IntoIterator<Item = Hash>) {
        self.entries(start, leaves.into_iter().map(|leaf| (leaf, None)));
    }

    /// The same with what each entry has beside its leaf ([`LeafFormat::beside`](super::LeafFormat::beside)).
    pub fn entries(&mut self, start: u64, entries: impl IntoIterator<Item = (Hash, Option<Beside>)>) {
        if start != self.read.size() {
            return;
        }
        for (leaf, beside) in entries {
            let Some(target) = self.heads.front() else { return };
            self.read.append(leaf);
            self.leaves.push((leaf, beside));
            if self.read.size() >= target.size && !self.reach() {
                return;
            }
        }
    }

    /// Whether the entries did not lead to the root of the last head that they reached, so that no receipt can be held against them.
    pub fn is_astray(&self) -> bool {
        self.astray
    }

    /// Whether a receipt of this leaf may be without a verdict; of those in files it is not known.
    pub fn awaits(&self, leaf: &Hash) -> bool {
        self.receipts.contains_key(leaf) || self.spilled.holds(leaf)
    }

    /// Takes a proof that a leaf is in the tree of a trusted head (get-proof-by-hash), for receipts that the sweep cannot
    /// meet: of leaves before the audit, or that it no longer remembers.
    pub fn proof(&mut self, leaf: Hash, index: u64, head: &Head, path: &[Hash]) -> Result<(), MerkleError> {
        verify_inclusion(index, head.size, &leaf, path, &head.root)?;
        if self.spilled.holds(&leaf) {
            self.spilled.note(leaf, Seen { index, published: None, claimed: false, beside: None });
        }
        self.meet(leaf, Seen { index, published: None, claimed: false, beside: None });
        Ok(())
    }

    /// Breaks the promises of all leaves that are not among those of the newest head although their deadline, by our clock where there is
    /// one, had passed when that was last fetched, at `observed_ms` since 1970. Says nothing while entries are still to be read, or did not lead to
    /// that head's root.
    pub fn overdue(&mut self, observed_ms: u64) {
        if self.astray || !self.heads.is_empty() {
            return;
        }
        self.break_due_before(observed_ms);
        for number in self.spilled.due_before(observed_ms) {
            self.match_partition(number);
            self.break_due_before(observed_ms);
            self.make_room();
        }
    }

    /// Whether [`EntryAudit::overdue`] may have any to break.
    pub fn may_be_due(&self, observed_ms: u64) -> bool {
        let is_due = |receipt: &Receipt| deadline_ms(receipt, self.clock.as_ref()) < observed_ms;
        self.receipts.values().any(is_due) || !self.spilled.due_before(observed_ms).is_empty()
    }

    /// Holds all receipts that were spilled against the leaves that were read since, as the end of a run wants it.
    pub fn settle(&mut self) {
        for number in 0..PARTITIONS {
            self.match_partition(number);
            self.make_room();
        }
    }

    /// The receipts in memory that are without a verdict, in no order.
    pub fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.receipts.values().chain(self.twins.values().flatten())
    }

    /// Receipts without a verdict.
    pub fn pending(&self) -> u64 {
        self.in_memory as u64 + self.spilled.receipts()
    }

    /// Receipts that have been spilled and not been taken back.
    pub fn spilled(&self) -> u64 {
        self.spilled.receipts()
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
        self.findings.append(&mut self.spilled.findings);
        std::mem::take(&mut self.findings)
    }

    /// Holds the root of what was read against the head's; says whether they are equal.
    fn reach(&mut self) -> bool {
        let Some(target) = self.heads.pop_front() else { return false };
        let (start, computed) = (self.verified.size(), self.read.root());
        self.astray = computed != target.root;
        if self.astray {
            // One altered entry is in what is read for each head that follows.
            if self.told.replace(start) != Some(start) {
                let (size, expected) = (target.size, target.root);
                self.findings.push(Finding::TamperedEntries { start, size, computed, expected });
            }
            // The entries are read again for the next head: what was altered on the way may then be whole.
            self.read = self.verified.clone();
            self.leaves.clear();
            return false;
        }
        self.verified = self.read.clone();
        for (index, (leaf, beside)) in (start..).zip(std::mem::take(&mut self.leaves)) {
            let seen = Seen { index, published: target.published, claimed: false, beside };
            let seen = Seen { claimed: self.meet(leaf, seen), ..seen };
            if self.spilled.holds(&leaf) {
                self.spilled.note(leaf, seen);
            }
            self.recent.push(leaf, seen, self.bounds.window);
        }
        while let Some(number) = self.spilled.due() {
            self.match_partition(number);
            self.make_room();
        }
        true
    }

    fn hold(&mut self, receipt: Receipt) {
        if let Some(first) = self.receipts.get(&receipt.leaf) {
            if !receipt.is_duplicate() && !first.is_duplicate() {
                let kind = Kind::PromisedTwice { first: Some(first.seq) };
                return self.verdicts.push(Verdict::Broken(Breach { receipt, kind }));
            }
            self.twins.entry(receipt.leaf).or_default().push(receipt);
        } else {
            self.receipts.insert(receipt.leaf, receipt);
        }
        self.in_memory += 1;
    }

    /// Judges the receipts of a leaf that is in the tree; says whether one of them is other than a duplicate's.
    fn meet(&mut self, leaf: Hash, mut seen: Seen) -> bool {
        let Some(first) = self.receipts.remove(&leaf) else { return false };
        let twins = if self.twins.is_empty() { None } else { self.twins.remove(&leaf) };
        for receipt in std::iter::once(first).chain(twins.into_iter().flatten()) {
            self.in_memory -= 1;
            self.judge(receipt, &mut seen);
        }
        seen.claimed
    }

    fn judge(&mut self, receipt: Receipt, seen: &mut Seen) {
        let twice = !receipt.is_duplicate() && std::mem::replace(&mut seen.claimed, true);
        let beside = || receipt.beside()?.differs(&seen.beside?);
        let kind = match twice {
            true => Some(Kind::PromisedTwice { first: None }),
            false => beside().map(Kind::AlteredBeside),
        };
        self.verdicts.push(match kind {
            Some(kind) => Verdict::Broken(Breach { receipt, kind }),
            None => self.in_time(receipt, seen.index, seen.published),
        });
    }

    /// What became of the promise of a leaf that is in the tree: whether it came in time.
    fn in_time(&self, receipt: Receipt, index: u64, published: Option<Published>) -> Verdict {
        match published.is_some_and(|head| receipt.is_late(&head, self.clock.as_ref())) {
            true => Verdict::Broken(Breach { receipt, kind: Kind::Overdue { published } }),
            false => Verdict::Kept(Kept { receipt, index, published }),
        }
    }

    fn break_due_before(&mut self, before_ms: u64) {
        let (mut late, clock) = (Vec::new(), self.clock);
        let is_due = |receipt: &Receipt| deadline_ms(receipt, clock.as_ref()) < before_ms;
        for (leaf, receipt) in self.receipts.extract_if(|_, receipt| is_due(receipt)) {
            late.push(receipt);
            late.extend(self.twins.remove(&leaf).into_iter().flatten());
        }
        self.in_memory -= late.len();
        let kind = Kind::Overdue { published: None };
        self.verdicts.extend(late.into_iter().map(|receipt| Verdict::Broken(Breach { receipt, kind })));
    }

    fn make_room(&mut self) {
        if self.in_memory > self.bounds.receipts {
            self.spill();
        }
    }

    /// Spills the partitions with the most receipts, until a quarter of the bound is free.
    fn spill(&mut self) {
        let mut counts = [0_usize; PARTITIONS];
        self.receipts.keys().for_each(|leaf| counts[partition_of(leaf)] += 1);
        let mut order: Vec<_> = (0..PARTITIONS).collect();
        order.sort_unstable_by_key(|number| std::cmp::Reverse(counts[*number]));
        for number in order {
            if self.in_memory <= self.bounds.receipts - self.bounds.receipts / 4 {
                return;
            }
            let mut spilled = Vec::with_capacity(counts[number]);
            for (leaf, receipt) in self.receipts.extract_if(|leaf, _| partition_of(leaf) == number) {
                spilled.push(receipt);
                spilled.extend(self.twins.remove(&leaf).into_iter().flatten());
            }
            self.in_memory -= spilled.len();
            if let Err(receipts) = self.spilled.put(number, spilled) {
                // The receipts are worth more than the bound.
                self.bounds.receipts = self.bounds.receipts.max(1).saturating_mul(2);
                return receipts.into_iter().for_each(|receipt| self.hold(receipt));
            }
        }
    }

    /// Takes a partition back, and holds its receipts against the leaves that were read while it was away.
    fn match_partition(&mut self, number: usize) {
        let (receipts, leaves) = self.spilled.take(number);
        let mut leaves: HashMap<Hash, Seen> = leaves.into_iter().collect();
        for receipt in receipts {
            match leaves.get_mut(&receipt.leaf) {
                Some(seen) => {
                    let mut known = *seen;
                    self.judge(receipt, &mut known);
                    *seen = known;
                }
                None => self.hold(receipt),
            }
        }
    }
}

/// The last leaves that were verified, for receipts that come after them.
#[derive(Debug, Default)]
struct Recent {
    order: VecDeque<Hash>,
    leaves: HashMap<Hash, Seen>,
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
