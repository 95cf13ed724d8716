//! Receipts, heads and entries that are read back.

use hammer_core::promise::PromiseKind;
use hammer_tlog::hash::Hash;

use super::*;
use crate::figures::AuditFigures;
use crate::source::{HeadFault, HeadId, InactiveShard, LogSource, OpenedHead};

/// A log all of whose answers come with one head. What has an even number was read, and what has an odd one was added.
struct OddsAdded;

const HEAD: HeadId = HeadId { tree: 3, size: 9, root: Hash([9; 32]) };

impl LogSource for OddsAdded {
    fn url(&self) -> String {
        "https://log.test".to_owned()
    }

    fn promise(&self) -> PromiseKind {
        PromiseKind(0)
    }

    fn head_path(&self) -> &str {
        "/head"
    }

    fn open_head(&self, _body: &[u8]) -> Result<OpenedHead, HeadFault> {
        unreachable!("no head is read")
    }
}

impl AnsweredSource for OddsAdded {
    fn answered(&self, receipt: &Receipt) -> AnsweredEntry {
        AnsweredEntry { head: Some(HEAD), is_read_back: false, is_read: receipt.seq.is_multiple_of(2) }
    }

    fn placed(&self, _receipt: &Receipt, _shards: &Shards) -> Result<(), Fault> {
        Ok(())
    }

    fn retrieval(&self, _receipts: &[Receipt]) -> (String, Vec<u8>) {
        unreachable!("nothing is read back")
    }

    fn entry_path(&self, _receipt: &Receipt) -> String {
        unreachable!("nothing is read back")
    }

    fn read_back(&self, _receipts: &[Receipt], _answer: &[u8]) -> Result<Vec<ReadBack>, String> {
        unreachable!("nothing is read back")
    }

    fn lost(&self) -> &'static str {
        "lost"
    }
}

/// What became of the answer of that number, which was received at 7 s.
fn joined(seq: u64) -> Verdict {
    let heads = AnsweredHeads::new();
    heads.offer(HEAD, b"head", 7_000_000_000);
    heads.settle(HEAD, JoinedHead::Joined);
    let mut reading = AnswerReading { most: 1, ..AnswerReading::default() };
    let receipt = Receipt::new(seq, Hash([2; 32]), Some(4), 7_000_000_000, 8_000);
    TreeReading::<OddsAdded>::accept(&mut reading, receipt);
    reading.join(&OddsAdded, &Shards::default(), &heads);
    assert_eq!(TreeReading::<OddsAdded>::pending(&reading), 0);
    let mut verdicts = TreeReading::<OddsAdded>::verdicts(&mut reading);
    verdicts.pop().expect("its head was joined")
}

#[test]
fn an_entry_that_was_added_was_published_with_its_answer_and_one_that_was_read_long_before() {
    let published = |seq| match joined(seq) {
        Verdict::Kept(kept) => kept.published.map(|published| (published.size, published.fetched_ns)),
        Verdict::Broken(breach) => panic!("{breach:?}"),
    };
    assert_eq!(published(1), Some((9, 7_000_000_000)));
    assert_eq!(published(2), None);
}

#[test]
fn an_entry_that_was_read_says_nothing_of_when_the_log_answers() {
    let told = |seqs: &[u64]| {
        let mut figures = AuditFigures::default();
        seqs.iter().for_each(|seq| figures.add(&joined(*seq), Nanos::from_secs(8), 0));
        figures.answers()
    };
    assert_eq!(told(&[2, 4]), None);
    let one_added = told(&[1, 2, 4]).expect("an entry was added");
    assert!(one_added.contains("0 answers came before a head covered their leaf, 1 after"), "{one_added}");
}

#[test]
fn an_entry_in_a_tree_that_the_log_does_not_name_is_unchecked_for_that_reason() {
    let inactive =
        |tree| InactiveShard { head: HeadId { tree, ..HEAD }, raw: Vec::new().into(), unverified: None };
    let why = |shards: &Shards| {
        let heads = AnsweredHeads::new();
        heads.offer(HEAD, b"head", 7_000_000_000);
        let mut reading = AnswerReading { most: 2, ..AnswerReading::default() };
        for seq in [1, 2] {
            let receipt = Receipt::new(seq, Hash([2; 32]), Some(4), 7_000_000_000, 8_000);
            TreeReading::<OddsAdded>::accept(&mut reading, receipt);
            reading.join(&OddsAdded, shards, &heads);
        }
        TreeReading::<OddsAdded>::why_unlooked(&reading)
    };
    let of = |active, trees: &[u64]| Shards {
        active,
        inactive: trees.iter().map(|tree| inactive(*tree)).collect(),
    };
    let unnamed = "2 whose checkpoint is of a tree that the log does not name (3)";
    assert_eq!(why(&of(7, &[5, 6])).as_deref(), Some(unnamed));
    let unjoined = "2 whose checkpoint was not joined to the followed tree";
    for named in [of(3, &[5]), of(7, &[3]), of(0, &[])] {
        assert_eq!(why(&named).as_deref(), Some(unjoined), "{named:?}");
    }
}
