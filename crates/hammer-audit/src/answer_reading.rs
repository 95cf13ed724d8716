//! The audit of a log whose answers prove what they promise.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use futures::future::join_all;
use hammer_core::background::give_way;
use hammer_core::promise::Fault;
use hammer_measure::Nanos;
use hammer_tlog::logs::audit::{
    AuditBounds, EarlierHeads, Finding, Kept, Published, Receipt, ReceiptClock, Verdict,
};
use hammer_tlog::logs::follow::{Bundles, Event, Follower, ProofMethod};
use hammer_tlog::logs::tile::Level;

use crate::answered_heads::{AnsweredHeads, JoinedHead};
use crate::messages::{UNJOINED, not_of_the_tree};
use crate::reader::AuditReader;
use crate::source::{AnsweredEntry, AnsweredSource, ReadBack, Shards};
use crate::tree_reading::{AuditRound, TreeReading};
use crate::trouble::Trouble;

/// The audit of a log whose answers prove what they promise: the head that an answer came with has to join the followed chain, and the
/// entries that are to be read back are asked for again once the load is over.
#[derive(Default)]
pub(crate) struct AnswerReading {
    most: usize,
    /// Those whose head was not joined yet.
    unjoined: Vec<Receipt>,
    /// How many of those are of each tree that the log did not name when they were looked at last.
    unnamed: BTreeMap<u64, usize>,
    /// Those that are to be read back.
    unread: VecDeque<Receipt>,
    /// Those that were asked for and not found, and that a server which lags behind may still not have.
    missing: VecDeque<Receipt>,
    verdicts: Vec<Verdict>,
    faults: Vec<(Receipt, Fault)>,
    /// Receipts that there was no room for, or whose head there was no room for.
    lost: u64,
    retrieval: Retrieval,
    cost: ReadCost,
    notes: Vec<String>,
}

/// How entries are asked for.
#[derive(Default, PartialEq)]
enum Retrieval {
    /// Several at once.
    #[default]
    Together,
    /// One by one, since the log does not take several.
    OneByOne,
    /// Not at all, for that reason.
    Refused(String),
}

/// What it took to read entries back.
#[derive(Default)]
struct ReadCost {
    entries: u64,
    requests: u64,
    started: Option<Nanos>,
    is_told: bool,
}

impl<L: AnsweredSource> TreeReading<L> for AnswerReading {
    const GROWS_BY_ANSWERS: bool = true;

    fn follower() -> Follower {
        let bundleless = Bundles { level: Level::Entries, leaf_hashes: |_, _| Vec::new() };
        Follower::new(ProofMethod::Proofs, bundleless)
    }

    fn new(bounds: AuditBounds, _clock: ReceiptClock, _spilled: PathBuf) -> Self {
        Self { most: bounds.receipts, ..Self::default() }
    }

    fn follow(&mut self, _event: &Event) {}

    fn accept(&mut self, receipt: Receipt) {
        match self.unjoined.len() + self.unread.len() + self.missing.len() < self.most {
            true => self.unjoined.push(receipt),
            false => self.lost += 1,
        }
    }

    async fn read(
        &mut self,
        reader: &AuditReader<L>,
        round: &AuditRound<'_>,
        accepted: impl Fn() -> Vec<Receipt>,
    ) -> Result<(), Trouble> {
        accepted().into_iter().for_each(|receipt| TreeReading::<L>::accept(self, receipt));
        self.join(reader.log(), reader.shards(), round.heads);
        if round.is_judging { self.read_back(reader, round).await } else { Ok(()) }
    }

    fn settle(&mut self, reader: &AuditReader<L>, heads: &AnsweredHeads) {
        self.join(reader.log(), reader.shards(), heads);
    }

    fn overdue(&mut self, _observed_ms: u64) {}

    fn may_be_due(&self, _observed_ms: u64) -> bool {
        false
    }

    fn verdicts(&mut self) -> Vec<Verdict> {
        std::mem::take(&mut self.verdicts)
    }

    fn faults(&mut self) -> Vec<(Receipt, Fault)> {
        std::mem::take(&mut self.faults)
    }

    fn findings(&mut self) -> Vec<Finding> {
        Vec::new()
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn entries_read_back(&self) -> Option<u64> {
        Some(self.cost.entries)
    }

    fn pending(&self) -> u64 {
        (self.unjoined.len() + self.unread.len() + self.missing.len()) as u64 + self.lost
    }

    fn spilled(&self) -> u64 {
        0
    }

    fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.missing.iter()
    }

    fn unlooked(&self) -> impl Iterator<Item = &Receipt> {
        self.unjoined.iter().chain(&self.unread)
    }

    fn gives_up(&self) -> bool {
        let is_all = self.unjoined.is_empty() && self.missing.is_empty();
        is_all && matches!(self.retrieval, Retrieval::Refused(_))
    }

    fn why_unlooked(&self) -> Option<String> {
        let unnamed: usize = self.unnamed.values().sum();
        let counts = [
            (self.unjoined.len().saturating_sub(unnamed), UNJOINED),
            (self.unread.len(), UNREAD),
            (self.lost as usize, NO_ROOM),
        ];
        let told =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let trees = self.unnamed.keys().take(SHOWN_TREES).map(u64::to_string).collect::<Vec<_>>().join(", ");
        let of_unnamed = (unnamed > 0).then(|| format!("{unnamed} {UNNAMED} ({trees})"));
        let told = of_unnamed.into_iter().chain(told).collect::<Vec<_>>().join(", ");
        let refused = match &self.retrieval {
            Retrieval::Refused(why) => format!(" ({why})"),
            _ => String::new(),
        };
        (!told.is_empty()).then(|| format!("{told}{refused}"))
    }
}

impl AnswerReading {
    /// Goes on with the receipts whose heads were held against the chain.
    fn join<L: AnsweredSource>(&mut self, log: &L, shards: &Shards, heads: &AnsweredHeads) {
        self.unnamed.clear();
        for receipt in std::mem::take(&mut self.unjoined) {
            let answered = log.answered(&receipt);
            let Some(head) = answered.head else {
                self.unread.push_back(receipt);
                continue;
            };
            match heads.became(head) {
                JoinedHead::Waiting => {
                    if !shards.may_have(head.tree) {
                        *self.unnamed.entry(head.tree).or_default() += 1;
                    }
                    self.unjoined.push(receipt);
                }
                JoinedHead::Unknown => self.lost += 1,
                JoinedHead::Forked => self.faults.push((receipt, not_of_the_tree(&receipt, &head))),
                JoinedHead::Joined => match log.placed(&receipt, shards) {
                    Err(fault) => self.faults.push((receipt, fault)),
                    Ok(()) if answered.is_read_back => self.unread.push_back(receipt),
                    Ok(()) => self.kept(receipt, answered),
                },
            }
        }
    }

    /// Asks for entries again, as many as a round has time for.
    async fn read_back<L: AnsweredSource>(
        &mut self,
        reader: &AuditReader<L>,
        round: &AuditRound<'_>,
    ) -> Result<(), Trouble> {
        if self.cost.started.is_none() && !self.unread.is_empty() {
            self.cost.started = Some(reader.now());
        }
        let mut again = std::mem::take(&mut self.missing);
        // What was missing is asked for again in the next round, not in this one.
        self.unread.append(&mut again);
        let mut left = self.unread.len().min(ENTRIES);
        while left > 0 {
            let size = if self.retrieval == Retrieval::Together { TOGETHER } else { 1 };
            let batches = left.div_ceil(size).min(AT_ONCE);
            let asked = (batches * size).min(left);
            let receipts: Vec<Receipt> = self.unread.iter().take(asked).copied().collect();
            let is_together = self.retrieval == Retrieval::Together;
            let reads = receipts.chunks(size).map(|batch| read(reader, batch, is_together));
            let answers = join_all(reads).await;
            // Only now, since a round may end at any await.
            self.unread.drain(..asked);
            self.cost.requests += batches as u64;
            left -= asked;
            let mut went = Ok(());
            for (batch, answer) in receipts.chunks(size).zip(answers) {
                match answer {
                    Ok(found) => self.judge(batch, found, reader, round),
                    Err(why) => {
                        self.unread.extend(batch);
                        went = went.and(Err(why));
                    }
                }
                give_way();
            }
            match went {
                Err(why) if why.is_refusal() => {
                    self.refused(&why);
                    break;
                }
                went => went?,
            }
        }
        self.tell_cost(reader.now());
        Ok(())
    }

    fn judge<L: AnsweredSource>(
        &mut self,
        batch: &[Receipt],
        found: Vec<ReadBack>,
        reader: &AuditReader<L>,
        round: &AuditRound<'_>,
    ) {
        let log = reader.log();
        for (receipt, found) in batch.iter().zip(found) {
            match found {
                ReadBack::Kept => {
                    self.cost.entries += 1;
                    self.kept(*receipt, log.answered(receipt));
                }
                ReadBack::Broken(fault) => {
                    self.cost.entries += 1;
                    self.faults.push((*receipt, fault));
                }
                ReadBack::Missing if round.unix_ms < receipt.deadline_ms => self.missing.push_back(*receipt),
                ReadBack::Missing => {
                    let why = "the log has no such entry any more, which it had answered with".to_owned();
                    self.broken(*receipt, log.lost(), why);
                }
            }
        }
    }

    /// The log does not take what it was asked.
    fn refused(&mut self, why: &Trouble) {
        match self.retrieval {
            Retrieval::Together => {
                self.retrieval = Retrieval::OneByOne;
                self.notes.push(format!("entries are read back one by one: failed to {why}"));
            }
            _ => {
                if !matches!(self.retrieval, Retrieval::Refused(_)) {
                    self.notes.push(format!("entries cannot be read back: failed to {why}"));
                }
                self.retrieval = Retrieval::Refused(format!("failed to {why}"));
            }
        }
    }

    fn tell_cost(&mut self, now: Nanos) {
        let ReadCost { entries, requests, started, is_told } = &mut self.cost;
        let is_done = self.unread.is_empty() && self.missing.is_empty() && self.unjoined.is_empty();
        let Some(started) = started.filter(|_| is_done && !*is_told && *entries > 0) else { return };
        *is_told = true;
        let seconds = now.since(started).as_secs_f64();
        self.notes
            .push(format!("{entries} entries were read back in {seconds:.1} s, by {requests} requests"));
    }

    fn kept(&mut self, receipt: Receipt, answered: AnsweredEntry) {
        // The answer came with the head that covers it, where it is no older than that. What was read was published before, in a head
        // that nobody saw.
        let fetched_ns = receipt.received_ns;
        let head = answered.head.filter(|_| !answered.is_read);
        let published = head.map(|head| Published {
            size: head.size,
            fetched_ns,
            earlier: EarlierHeads::default(),
            timestamp_ms: 0,
        });
        let index = receipt.index().unwrap_or_default();
        self.verdicts.push(Verdict::Kept(Kept { receipt, index, published }));
    }

    fn broken(&mut self, receipt: Receipt, kind: &'static str, detail: String) {
        self.faults.push((receipt, Fault { kind, place: receipt.index(), detail }));
    }
}

/// What became of some entries that are asked for together, or of one.
async fn read<L: AnsweredSource>(
    reader: &AuditReader<L>,
    receipts: &[Receipt],
    is_together: bool,
) -> Result<Vec<ReadBack>, Trouble> {
    let log = reader.log();
    let (path, body) = match receipts {
        [receipt] if !is_together => {
            let path = log.entry_path(receipt);
            let Some(body) = reader.entry(&path).await? else { return Ok(vec![ReadBack::Missing]) };
            (path, body)
        }
        receipts => {
            let (path, asked) = log.retrieval(receipts);
            let body = reader.posted(&path, &asked).await?;
            (path, body)
        }
    };
    log.read_back(receipts, &body).map_err(|why| Trouble::unreadable(&path, &why))
}

const UNNAMED: &str = "whose checkpoint is of a tree that the log does not name";
const UNREAD: &str = "that were not read back in the time to drain";
const NO_ROOM: &str = "that there was no room to remember";
/// Trees that are told by their ids.
const SHOWN_TREES: usize = 4;
/// Entries in one request, requests at once, and entries in one round.
const TOGETHER: usize = 10;
const AT_ONCE: usize = 4;
const ENTRIES: usize = 400;

#[cfg(test)]
mod tests;
