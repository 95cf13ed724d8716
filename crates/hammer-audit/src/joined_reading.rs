//! The audit of a log whose answers come with heads.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;

use hammer_core::promise::Fault;
use hammer_tlog::logs::audit::{AuditBounds, Finding, Kept, Receipt, ReceiptClock, Verdict};
use hammer_tlog::logs::follow::{Event, Follower};

use crate::answered_heads::{AnsweredHeads, JoinedHead};
use crate::messages::{UNJOINED, not_of_the_tree};
use crate::reader::AuditReader;
use crate::source::{HeadId, HeadedSource};
use crate::tree_reading::{AuditRound, TreeReading};
use crate::trouble::Trouble;

/// The audit by `T` of a log whose answers come with heads: what `T` finds kept is kept once that head was joined to the followed tree as
/// well. Of an answer that was read, and not promised a place, the head is all that is waited for: `T` is not asked for its leaf.
pub(crate) struct JoinedReading<T> {
    reading: T,
    most: usize,
    /// Receipts that were not looked at yet.
    arrived: RefCell<Vec<Receipt>>,
    /// What was found kept, by the head that was not joined yet.
    waiting: BTreeMap<HeadId, Vec<Kept>>,
    held: usize,
    verdicts: Vec<Verdict>,
    faults: Vec<(Receipt, Fault)>,
    /// What there was no room for, or whose head there was no room for.
    lost: u64,
}

impl<L: HeadedSource, T: TreeReading<L>> TreeReading<L> for JoinedReading<T> {
    const GROWS_BY_ANSWERS: bool = T::GROWS_BY_ANSWERS;

    fn follower() -> Follower {
        T::follower()
    }

    fn new(bounds: AuditBounds, clock: ReceiptClock, spilled: PathBuf) -> Self {
        Self {
            most: bounds.receipts,
            reading: T::new(bounds, clock, spilled),
            arrived: RefCell::default(),
            waiting: BTreeMap::new(),
            held: 0,
            verdicts: Vec::new(),
            faults: Vec::new(),
            lost: 0,
        }
    }

    fn follow(&mut self, event: &Event) {
        self.reading.follow(event);
    }

    fn accept(&mut self, receipt: Receipt) {
        self.arrived.get_mut().push(receipt);
    }

    async fn read(
        &mut self,
        reader: &AuditReader<L>,
        round: &AuditRound<'_>,
        accepted: impl Fn() -> Vec<Receipt>,
    ) -> Result<(), Trouble> {
        let Self { reading, arrived, lost, most, .. } = self;
        let (log, lost) = (reader.log(), Cell::from_mut(lost));
        let of_leaves = || {
            let (heads, leaves): (Vec<_>, Vec<_>) =
                accepted().into_iter().partition(|receipt| is_of_head_alone(log, receipt));
            let mut arrived = arrived.borrow_mut();
            let room = most.saturating_sub(arrived.len()).min(heads.len());
            lost.update(|lost| lost + (heads.len() - room) as u64);
            arrived.extend(&heads[..room]);
            leaves
        };
        let read = reading.read(reader, round, of_leaves).await;
        // A round that is cut off keeps them for the next one.
        self.place(log, round.heads);
        self.join(log, round.heads);
        read
    }

    fn settle(&mut self, reader: &AuditReader<L>, heads: &AnsweredHeads) {
        self.place(reader.log(), heads);
        self.reading.settle(reader, heads);
        self.join(reader.log(), heads);
    }

    fn overdue(&mut self, observed_ms: u64) {
        self.reading.overdue(observed_ms);
    }

    fn may_be_due(&self, observed_ms: u64) -> bool {
        self.reading.may_be_due(observed_ms)
    }

    fn verdicts(&mut self) -> Vec<Verdict> {
        std::mem::take(&mut self.verdicts)
    }

    fn faults(&mut self) -> Vec<(Receipt, Fault)> {
        let mut faults = self.reading.faults();
        faults.append(&mut self.faults);
        faults
    }

    fn notes(&mut self) -> Vec<String> {
        self.reading.notes()
    }

    fn entries_read_back(&self) -> Option<u64> {
        self.reading.entries_read_back()
    }

    fn gives_up(&self) -> bool {
        self.held == 0 && self.reading.gives_up()
    }

    fn why_unlooked(&self) -> Option<String> {
        let waiting = self.held as u64 + self.lost;
        let own = (waiting > 0).then(|| format!("{waiting} {UNJOINED}"));
        let told: Vec<String> = own.into_iter().chain(self.reading.why_unlooked()).collect();
        (!told.is_empty()).then(|| told.join(", "))
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.reading.findings()
    }

    fn pending(&self) -> u64 {
        self.reading.pending() + self.held as u64 + self.arrived.borrow().len() as u64 + self.lost
    }

    fn spilled(&self) -> u64 {
        self.reading.spilled()
    }

    fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.reading.receipts()
    }

    fn unlooked(&self) -> impl Iterator<Item = &Receipt> {
        self.reading.unlooked().chain(self.waiting.values().flatten().map(|kept| &kept.receipt))
    }
}

impl<T> JoinedReading<T> {
    /// Has receipts of heads wait for them, and the others looked for.
    fn place<L: HeadedSource>(&mut self, log: &L, heads: &AnsweredHeads)
    where
        T: TreeReading<L>,
    {
        for receipt in self.arrived.take() {
            match is_of_head_alone(log, &receipt) {
                // Nobody asks for its leaf, and so nothing is known of when that was published.
                true => {
                    let index = receipt.index().unwrap_or_default();
                    self.wait(log, Kept { receipt, index, published: None }, heads);
                }
                false => self.reading.accept(receipt),
            }
        }
    }

    /// Goes on with what waits, as far as its heads were held against the tree.
    fn join<L: HeadedSource>(&mut self, log: &L, heads: &AnsweredHeads)
    where
        T: TreeReading<L>,
    {
        for verdict in self.reading.verdicts() {
            match verdict {
                Verdict::Kept(kept) => self.wait(log, kept, heads),
                broken => self.verdicts.push(broken),
            }
        }
        let Self { waiting, held, verdicts, faults, lost, .. } = self;
        waiting.retain(|head, all| {
            let became = heads.became(*head);
            if became == JoinedHead::Waiting {
                return true;
            }
            *held -= all.len();
            let all = all.drain(..);
            match became {
                JoinedHead::Waiting => {}
                JoinedHead::Joined => verdicts.extend(all.map(Verdict::Kept)),
                JoinedHead::Forked => {
                    faults.extend(all.map(|kept| (kept.receipt, not_of_the_tree(&kept.receipt, head))));
                }
                JoinedHead::Unknown => *lost += all.len() as u64,
            }
            false
        });
    }

    fn wait<L: HeadedSource>(&mut self, log: &L, kept: Kept, heads: &AnsweredHeads) {
        match log.came_with(&kept.receipt) {
            // It came with none: its leaf was all that was to be found.
            None => self.verdicts.push(Verdict::Kept(kept)),
            Some(came) if heads.became(came.head) == JoinedHead::Joined => {
                self.verdicts.push(Verdict::Kept(kept));
            }
            Some(_) if self.held >= self.most => self.lost += 1,
            Some(came) => {
                self.held += 1;
                self.waiting.entry(came.head).or_default().push(kept);
            }
        }
    }
}

fn is_of_head_alone<L: HeadedSource>(log: &L, receipt: &Receipt) -> bool {
    log.came_with(receipt).is_some_and(|came| came.is_alone)
}

#[cfg(test)]
mod tests;
