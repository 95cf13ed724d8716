//! Followers and audits, fed with what they need.

use std::collections::BTreeMap;
use std::io;

use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::audit::{
    AuditBounds, EntryAudit, Finding, NoSpill, Receipt, Spill, TileAudit, Verdict, bundles,
};
use hammer_tlog::logs::follow::{Event, Follower, Head, Need, ProofMethod};
use hammer_tlog::logs::merkle::leaf_hash;

use crate::log::Log;

/// Feeds a follower all that it needs; gives what it found out.
pub(crate) fn follow(follower: &mut Follower, log: &Log, head: Head) -> Vec<Event> {
    follower.head(head);
    proved(follower, log)
}

/// What it says once it was served all that it needs.
pub(crate) fn proved(follower: &mut Follower, log: &Log) -> Vec<Event> {
    for _ in 0..1000 {
        match follower.need() {
            None => return follower.events(),
            Some(Need::Tiles(tiles)) => {
                for tile in tiles {
                    match log.serve(tile) {
                        Some(bytes) => follower.tile(tile, &bytes),
                        None => follower.missing(tile),
                    }
                }
            }
            Some(Need::ConsistencyProof { first, second, .. }) => {
                follower.consistency_proof(first, second, &log.consistency(first, second));
            }
        }
    }
    panic!("the follower goes in circles");
}

/// A follower with its audit of bundles, and all that they said.
pub(crate) struct Watch<S = NoSpill> {
    pub(crate) follower: Follower,
    pub(crate) audit: TileAudit<StaticCtLeaves, S>,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) findings: Vec<Finding>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self::with(AuditBounds::default(), NoSpill)
    }
}

impl<S: Spill> Watch<S> {
    pub(crate) fn with(bounds: AuditBounds, spill: S) -> Self {
        Self {
            follower: Follower::from_empty(ProofMethod::Leaves, bundles::<StaticCtLeaves>()),
            audit: TileAudit::new(bounds, spill),
            verdicts: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Fetches the head, follows it, and audits what it covers.
    pub(crate) fn poll(&mut self, log: &Log) -> Vec<Event> {
        let events = follow(&mut self.follower, log, log.head());
        events.iter().for_each(|event| self.audit.follow(event));
        self.read(log);
        events
    }

    /// Reads all bundles that the audit needs.
    pub(crate) fn read(&mut self, log: &Log) {
        for _ in 0..1000 {
            let needs = self.audit.needs(8, true);
            for tile in &needs {
                match log.serve(*tile) {
                    Some(bytes) => self.audit.tile(*tile, &bytes),
                    None => self.audit.missing(*tile),
                }
            }
            self.verdicts.extend(self.audit.verdicts());
            self.findings.extend(self.audit.findings());
            if needs.is_empty() {
                return;
            }
        }
        panic!("the audit goes in circles");
    }

    pub(crate) fn kept(&self) -> Vec<u64> {
        kept(&self.verdicts)
    }

    pub(crate) fn broken(&self) -> Vec<(u64, Option<u64>, &'static str)> {
        broken(&self.verdicts)
    }
}

pub(crate) fn kept(verdicts: &[Verdict]) -> Vec<u64> {
    let mut seqs: Vec<_> = verdicts
        .iter()
        .filter_map(|verdict| match verdict {
            Verdict::Kept(kept) => Some(kept.receipt.seq),
            Verdict::Broken(_) => None,
        })
        .collect();
    seqs.sort_unstable();
    seqs
}

/// Sequence number, index and kind of each breach.
pub(crate) fn broken(verdicts: &[Verdict]) -> Vec<(u64, Option<u64>, &'static str)> {
    let breach = |verdict: &Verdict| match verdict {
        Verdict::Kept(_) => None,
        Verdict::Broken(breach) => Some((breach.receipt.seq, breach.receipt.index(), breach.kind.as_str())),
    };
    verdicts.iter().filter_map(breach).collect()
}

/// A follower by consistency proofs with its sweep, and all that they said.
pub(crate) struct Sweep<S = NoSpill> {
    pub(crate) follower: Follower,
    pub(crate) audit: EntryAudit<S>,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) findings: Vec<Finding>,
}

impl Sweep {
    pub(crate) fn new() -> Self {
        Self::with(AuditBounds::default(), NoSpill)
    }
}

impl<S: Spill> Sweep<S> {
    pub(crate) fn with(bounds: AuditBounds, spill: S) -> Self {
        let (follower, audit) = (
            Follower::from_empty(ProofMethod::Proofs, bundles::<StaticCtLeaves>()),
            EntryAudit::new(bounds, spill),
        );
        Self { follower, audit, verdicts: Vec::new(), findings: Vec::new() }
    }

    pub(crate) fn poll(&mut self, log: &Log) -> Vec<Event> {
        let events = follow(&mut self.follower, log, log.head());
        events.iter().for_each(|event| self.audit.follow(event));
        while let Some(range) = self.audit.needs(1000) {
            let inputs = log.get_entries(range.start, range.end);
            self.audit.leaves(range.start, inputs.iter().map(|input| leaf_hash(input)));
        }
        self.verdicts.extend(self.audit.verdicts());
        self.findings.extend(self.audit.findings());
        events
    }
}

/// A leaf that was read while receipts were spilled: its hash, and seven numbers.
const LEAF: usize = 32 + 7 * 8 + 16;

/// Spilled receipts in memory.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(crate) partitions: BTreeMap<u64, Vec<u8>>,
    pub(crate) forgets: bool,
}

impl Spill for Shelf {
    fn append(&mut self, partition: u64, bytes: &[u8]) -> io::Result<()> {
        let whole = |length| bytes.len().is_multiple_of(length);
        assert!(whole(Receipt::LENGTH) || whole(LEAF), "{}", bytes.len());
        self.partitions.entry(partition).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn take(&mut self, partition: u64) -> io::Result<Vec<u8>> {
        let held = self.partitions.remove(&partition).filter(|_| !self.forgets);
        held.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
