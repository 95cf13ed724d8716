//! Promises that wait for their heads.

use hammer_core::promise::PromiseKind;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::ReceiptEvidence;
use hammer_tlog::logs::follow::{Bundles, ProofMethod};
use hammer_tlog::logs::tile::Level;

use super::*;
use crate::source::{HeadFault, LogSource, OpenedHead, ReceivedHead};

/// A log whose receipts have the size of their head as evidence, and with a second byte that it is all.
struct Headed;

impl LogSource for Headed {
    fn url(&self) -> String {
        "https://log.test".to_owned()
    }

    fn promise(&self) -> PromiseKind {
        PromiseKind(0)
    }

    fn head_path(&self) -> &str {
        "/checkpoint"
    }

    fn open_head(&self, _body: &[u8]) -> Result<OpenedHead, HeadFault> {
        unreachable!("no head is read")
    }
}

impl HeadedSource for Headed {
    fn came_with(&self, receipt: &Receipt) -> Option<ReceivedHead> {
        let (size, rest) = receipt.evidence.bytes().split_first()?;
        Some(ReceivedHead { head: head(*size), is_alone: !rest.is_empty() })
    }
}

fn head(size: u8) -> HeadId {
    HeadId { tree: 0, size: size.into(), root: Hash([size; 32]) }
}

/// Finds every leaf at once.
#[derive(Default)]
struct FindsAll(Vec<Receipt>);

impl TreeReading<Headed> for FindsAll {
    fn follower() -> Follower {
        Follower::new(ProofMethod::Leaves, Bundles { level: Level::Entries, leaf_hashes: |_, _| Vec::new() })
    }

    fn new(_bounds: AuditBounds, _clock: ReceiptClock, _spilled: PathBuf) -> Self {
        Self::default()
    }

    fn follow(&mut self, _event: &Event) {}

    fn accept(&mut self, receipt: Receipt) {
        self.0.push(receipt);
    }

    async fn read(
        &mut self,
        _reader: &AuditReader<Headed>,
        _round: &AuditRound<'_>,
        accepted: impl Fn() -> Vec<Receipt>,
    ) -> Result<(), Trouble> {
        self.0.extend(accepted());
        Ok(())
    }

    fn overdue(&mut self, _observed_ms: u64) {}

    fn may_be_due(&self, _observed_ms: u64) -> bool {
        false
    }

    fn verdicts(&mut self) -> Vec<Verdict> {
        let found = self.0.drain(..);
        found.map(|receipt| Verdict::Kept(Kept { receipt, index: 4, published: None })).collect()
    }

    fn findings(&mut self) -> Vec<Finding> {
        Vec::new()
    }

    fn pending(&self) -> u64 {
        self.0.len() as u64
    }

    fn spilled(&self) -> u64 {
        0
    }

    fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.0.iter()
    }
}

fn receipt(seq: u64, evidence: &[u8]) -> Receipt {
    let evidence = ReceiptEvidence::of(&[evidence]).unwrap();
    Receipt::new(seq, Hash([2; 32]), Some(4), 7, 8).with_evidence(evidence)
}

type Reading = JoinedReading<FindsAll>;

fn looked(reading: &mut Reading, heads: &AnsweredHeads) {
    reading.place(&Headed, heads);
    reading.join(&Headed, heads);
}

fn kept(reading: &mut Reading) -> Vec<u64> {
    let verdicts = TreeReading::<Headed>::verdicts(reading).into_iter();
    verdicts
        .map(|verdict| match verdict {
            Verdict::Kept(kept) => kept.receipt.seq,
            Verdict::Broken(breach) => panic!("{breach:?}"),
        })
        .collect()
}

fn reading(most: usize) -> Reading {
    let bounds = AuditBounds { receipts: most, ..AuditBounds::default() };
    TreeReading::<Headed>::new(
        bounds,
        ReceiptClock { epoch_unix_ms: 0, skew_ms: 0, is_of_one_server: true },
        PathBuf::new(),
    )
}

#[test]
fn what_a_head_shows_waits_until_that_is_joined_and_is_broken_where_it_is_of_another_tree() {
    let heads = AnsweredHeads::new();
    [5, 6].into_iter().for_each(|size| heads.offer(head(size), b"note", 7));
    let mut reading = reading(9);
    for receipt in [receipt(1, &[5]), receipt(2, &[5, 1]), receipt(3, &[6, 1]), receipt(4, &[])] {
        TreeReading::<Headed>::accept(&mut reading, receipt);
    }
    looked(&mut reading, &heads);
    // What came with no head is kept by its leaf alone.
    assert_eq!((kept(&mut reading), TreeReading::<Headed>::pending(&reading)), (vec![4], 3));
    let unlooked: Vec<_> = TreeReading::<Headed>::unlooked(&reading).map(|receipt| receipt.seq).collect();
    assert_eq!(unlooked, [2, 1, 3]);
    let why = TreeReading::<Headed>::why_unlooked(&reading);
    assert_eq!(why.as_deref(), Some("3 whose checkpoint was not joined to the followed tree"));

    heads.settle(head(5), JoinedHead::Joined);
    heads.settle(head(6), JoinedHead::Forked);
    looked(&mut reading, &heads);
    assert_eq!((kept(&mut reading), TreeReading::<Headed>::pending(&reading)), (vec![2, 1], 0));
    let faults = TreeReading::<Headed>::faults(&mut reading);
    let faults: Vec<_> = faults.iter().map(|(receipt, fault)| (receipt.seq, fault.kind)).collect();
    assert_eq!(faults, [(3, "forked-checkpoint")]);
    assert_eq!(TreeReading::<Headed>::why_unlooked(&reading), None);
}

#[test]
fn what_there_is_no_room_for_and_whose_head_nobody_remembers_is_unlooked_for() {
    let heads = AnsweredHeads::new();
    heads.offer(head(5), b"note", 7);
    let mut reading = reading(1);
    for receipt in [receipt(1, &[5, 1]), receipt(2, &[5, 1])] {
        TreeReading::<Headed>::accept(&mut reading, receipt);
    }
    looked(&mut reading, &heads);
    assert_eq!(TreeReading::<Headed>::pending(&reading), 2);
    heads.settle(head(5), JoinedHead::Joined);
    TreeReading::<Headed>::accept(&mut reading, receipt(3, &[9, 1]));
    looked(&mut reading, &heads);
    looked(&mut reading, &heads);
    assert_eq!((kept(&mut reading), TreeReading::<Headed>::pending(&reading)), (vec![1], 2));
    let why = TreeReading::<Headed>::why_unlooked(&reading);
    assert_eq!(why.as_deref(), Some("2 whose checkpoint was not joined to the followed tree"));
}

#[test]
fn what_came_with_a_joined_head_is_kept_though_others_fill_the_room() {
    let heads = AnsweredHeads::new();
    [5, 6].into_iter().for_each(|size| heads.offer(head(size), b"note", 7));
    heads.settle(head(5), JoinedHead::Joined);
    let mut reading = reading(1);
    for receipt in [receipt(1, &[6, 1]), receipt(2, &[5, 1])] {
        TreeReading::<Headed>::accept(&mut reading, receipt);
    }
    looked(&mut reading, &heads);
    assert_eq!(kept(&mut reading), vec![2]);
}
