//! The one memory of heads of a log and run.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hammer_tlog::hash::Hash;
use hammer_tlog::logs::follow::Head;

use crate::source::HeadId;

/// The heads that answers came with: each is kept once, until it was joined to the followed chain, and what became of it is remembered
/// for the receipts that come with it. Both are bounded, and what there is no room for is counted.
#[derive(Debug)]
pub(crate) struct AnsweredHeads {
    inner: Mutex<HeadStock>,
}

#[derive(Debug)]
struct HeadStock {
    waiting: BTreeMap<HeadId, WaitingHead>,
    settled: BTreeMap<HeadId, JoinedHead>,
    /// The settled ones, the oldest first.
    order: VecDeque<HeadId>,
    most_waiting: usize,
    most_settled: usize,
    joined: u64,
    /// Those that there was no room for.
    dropped: u64,
}

#[derive(Debug)]
struct WaitingHead {
    head: Head,
    /// Whether what proves it was asked for.
    is_tried: bool,
    /// Whether the log refused that.
    is_refused: bool,
    /// The larger head to which it refused a proof first, where it did.
    against: Option<HeldAgainst>,
}

/// A head that a smaller one was held against, and when it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldAgainst {
    pub(crate) size: u64,
    pub(crate) root: Hash,
    pub(crate) received_ns: u64,
}

impl HeldAgainst {
    pub(crate) fn of(head: &Head) -> Self {
        Self { size: head.size, root: head.root, received_ns: head.fetched_ns }
    }
}

/// What became of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinedHead {
    /// It is of the followed chain.
    Joined,
    /// It is not.
    Forked,
    /// It was not held against the chain yet.
    Waiting,
    /// There was no room for it, or is none any more.
    Unknown,
}

/// How many heads there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeadCounts {
    pub(crate) joined: u64,
    /// Not held against the chain: those that wait, and those that there was no room for.
    pub(crate) unjoined: u64,
    /// Those of them that nobody came to ask for.
    pub(crate) untried: u64,
}

impl HeadStock {
    fn remember(&mut self, id: HeadId, became: JoinedHead) {
        self.waiting.remove(&id);
        if self.order.len() == self.most_settled
            && let Some(oldest) = self.order.pop_front()
        {
            self.settled.remove(&oldest);
        }
        self.order.push_back(id);
        self.settled.insert(id, became);
    }
}

impl AnsweredHeads {
    pub(crate) fn new() -> Self {
        Self::of(MOST_WAITING, MOST_SETTLED)
    }

    fn of(most_waiting: usize, most_settled: usize) -> Self {
        let (waiting, settled, order) = Default::default();
        let (joined, dropped) = (0, 0);
        let stock = HeadStock { waiting, settled, order, most_waiting, most_settled, joined, dropped };
        Self { inner: Mutex::new(stock) }
    }

    /// Takes the head of an answer that was received then, unless it is known.
    pub(crate) fn offer(&self, id: HeadId, raw: &[u8], received_ns: u64) {
        let HeadId { tree, size, root } = id;
        let (fetched_ns, raw) = (received_ns, raw.into());
        self.offer_head(tree, Head { size, root, timestamp_ms: 0, fetched_ns, asked_ns: 0, raw });
    }

    /// The same of a head that has a time.
    pub(crate) fn offer_head(&self, tree: u64, head: Head) {
        let most = self.lock().most_waiting;
        self.offer_within(most, tree, head);
    }

    /// The same of a head that no promise waits for, while there is room behind it for those that one does.
    pub(crate) fn offer_beside(&self, tree: u64, head: Head) {
        let most = self.lock().most_waiting / BESIDE;
        self.offer_within(most, tree, head);
    }

    fn offer_within(&self, most_waiting: usize, tree: u64, head: Head) {
        let id = HeadId { tree, size: head.size, root: head.root };
        let mut stock = self.lock();
        if stock.waiting.contains_key(&id) || stock.settled.contains_key(&id) {
            return;
        }
        if stock.waiting.len() >= most_waiting {
            stock.dropped += 1;
            return;
        }
        stock.waiting.insert(id, WaitingHead { head, is_tried: false, is_refused: false, against: None });
    }

    /// The smallest head of a tree that waits and is not smaller than that.
    pub(crate) fn next(&self, tree: u64, size: u64) -> Option<Head> {
        let from = HeadId { tree, size, root: Hash::default() };
        let stock = self.lock();
        let (_, waiting) = stock.waiting.range(from..).next().filter(|(id, _)| id.tree == tree)?;
        Some(waiting.head.clone())
    }

    /// The largest head of a tree that waits.
    pub(crate) fn largest(&self, tree: u64) -> Option<Head> {
        let until = HeadId { tree, size: u64::MAX, root: Hash([u8::MAX; 32]) };
        let stock = self.lock();
        let (_, waiting) = stock.waiting.range(..=until).next_back().filter(|(id, _)| id.tree == tree)?;
        Some(waiting.head.clone())
    }

    /// Heads of a tree that wait and are no larger than that: of those that were asked for before the smallest, half of `most` at most where there
    /// are others, since who refused them may refuse them for ever; and of those others the largest.
    pub(crate) fn up_to(&self, tree: u64, size: u64, most: usize) -> [Vec<Head>; 2] {
        let of = |size, byte| HeadId { tree, size, root: Hash([byte; 32]) };
        let stock = self.lock();
        let waiting = || stock.waiting.range(of(0, 0)..=of(size, u8::MAX)).map(|(_, waiting)| waiting);
        let others = waiting().filter(|waiting| !waiting.is_tried).count().min(most - most / 2);
        let again = waiting().filter(|waiting| waiting.is_tried).take(most - others);
        let again: Vec<Head> = again.map(|waiting| waiting.head.clone()).collect();
        let first = waiting().rev().filter(|waiting| !waiting.is_tried).take(most - again.len());
        [again, first.map(|waiting| waiting.head.clone()).collect()]
    }

    /// The trees of which heads wait.
    pub(crate) fn trees(&self) -> Vec<u64> {
        let mut trees: Vec<u64> = self.lock().waiting.keys().map(|id| id.tree).collect();
        trees.dedup();
        trees
    }

    /// Remembers that what proves a head was asked for.
    pub(crate) fn tried(&self, id: HeadId) {
        if let Some(waiting) = self.lock().waiting.get_mut(&id) {
            waiting.is_tried = true;
        }
    }

    /// Remembers that what proves a head was asked for, and refused: a proof to that larger one, where there is a larger one. Gives the one to
    /// which it was refused first.
    pub(crate) fn refused(&self, id: HeadId, larger: Option<HeldAgainst>) -> Option<HeldAgainst> {
        let mut stock = self.lock();
        let Some(waiting) = stock.waiting.get_mut(&id) else { return larger };
        (waiting.is_tried, waiting.is_refused) = (true, true);
        larger.map(|larger| *waiting.against.get_or_insert(larger))
    }

    /// Remembers what became of a head that waited; one that did not is none of an answer.
    pub(crate) fn settle(&self, id: HeadId, became: JoinedHead) {
        let mut stock = self.lock();
        if stock.waiting.remove(&id).is_none() {
            return;
        }
        stock.joined += u64::from(became == JoinedHead::Joined);
        stock.remember(id, became);
    }

    /// Remembers that a head is not of the followed tree, which the log showed elsewhere: an answer may come with it still.
    pub(crate) fn contradicted(&self, id: HeadId) {
        let mut stock = self.lock();
        if !stock.settled.contains_key(&id) {
            stock.remember(id, JoinedHead::Forked);
        }
    }

    pub(crate) fn became(&self, id: HeadId) -> JoinedHead {
        let stock = self.lock();
        match stock.settled.get(&id) {
            Some(became) => *became,
            None if stock.waiting.contains_key(&id) => JoinedHead::Waiting,
            None => JoinedHead::Unknown,
        }
    }

    pub(crate) fn counts(&self) -> HeadCounts {
        let stock = self.lock();
        let tried = stock.waiting.values().filter(|waiting| waiting.is_tried).count();
        let unjoined = stock.waiting.len() as u64 + stock.dropped;
        HeadCounts { joined: stock.joined, unjoined, untried: unjoined - tried as u64 }
    }

    /// How many of a tree wait: those that nobody came to ask for, and those that the log refused to prove. A tile that others lack is waited for by
    /// itself.
    pub(crate) fn waiting(&self, tree: u64) -> [u64; 2] {
        let of = |size, byte| HeadId { tree, size, root: Hash([byte; 32]) };
        let stock = self.lock();
        let mut count = [0, 0];
        for (_, waiting) in stock.waiting.range(of(0, 0)..=of(u64::MAX, u8::MAX)) {
            match (waiting.is_tried, waiting.is_refused) {
                (false, _) => count[0] += 1,
                (true, true) => count[1] += 1,
                (true, false) => {}
            }
        }
        count
    }

    /// How many wait that were received before then, although what proves them was asked for: those that were refused, or where that is said all
    /// others, too.
    pub(crate) fn waiting_since(&self, received_ns: u64, is_any: bool) -> u64 {
        let stock = self.lock();
        let is_old = |waiting: &&WaitingHead| {
            let is_asked_for = if is_any { waiting.is_tried } else { waiting.is_refused };
            is_asked_for && waiting.head.fetched_ns < received_ns
        };
        stock.waiting.values().filter(is_old).count() as u64
    }

    fn lock(&self) -> MutexGuard<'_, HeadStock> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The share of the room that heads have which no promise waits for.
const BESIDE: usize = 4;

/// Heads that wait, of some 400 bytes each.
const MOST_WAITING: usize = 1 << 14;
/// Heads that are remembered, of some 100 bytes each.
const MOST_SETTLED: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn id(tree: u64, size: u64) -> HeadId {
        HeadId { tree, size, root: Hash([size as u8; 32]) }
    }

    #[test]
    fn a_head_waits_once_and_is_remembered_once_it_was_settled() {
        let heads = AnsweredHeads::of(8, 8);
        for size in [5, 3, 5, 9] {
            heads.offer(id(1, size), b"note", 7);
        }
        heads.offer(id(2, 4), b"note", 7);
        assert_eq!((heads.trees(), heads.counts().unjoined), (vec![1, 2], 4));
        let size = |head: Option<Head>| head.map(|head| head.size);
        assert_eq!(
            (size(heads.next(1, 0)), size(heads.next(1, 4)), size(heads.next(1, 10))),
            (Some(3), Some(5), None)
        );
        assert_eq!(
            (size(heads.largest(1)), size(heads.largest(2)), size(heads.largest(3))),
            (Some(9), Some(4), None)
        );
        let sizes = |size, most| {
            heads.up_to(1, size, most).map(|heads| heads.iter().map(|head| head.size).collect::<Vec<_>>())
        };
        let untried = |sizes: &[u64]| [Vec::new(), sizes.to_vec()];
        assert_eq!((sizes(9, 2), sizes(8, 9)), (untried(&[9, 5]), untried(&[5, 3])));
        assert_eq!(sizes(2, 9), untried(&[]));
        heads.settle(id(1, 3), JoinedHead::Joined);
        heads.settle(id(1, 9), JoinedHead::Forked);
        heads.settle(id(1, 77), JoinedHead::Joined);
        heads.offer(id(1, 3), b"note", 8);
        let became = [3, 9, 5, 77].map(|size| heads.became(id(1, size)));
        assert_eq!(
            became,
            [JoinedHead::Joined, JoinedHead::Forked, JoinedHead::Waiting, JoinedHead::Unknown]
        );
        assert_eq!(heads.counts(), HeadCounts { joined: 1, unjoined: 2, untried: 2 });
        assert_eq!(heads.waiting_since(8, true), 0, "nobody asked for what proves them");
        assert_eq!([1, 2, 3].map(|tree| heads.waiting(tree)), [[1, 0], [1, 0], [0, 0]]);
        heads.tried(id(1, 5));
        heads.offer(id(1, 4), b"note", 9);
        heads.offer(id(1, 6), b"note", 9);
        heads.tried(id(1, 6));
        let [some, all] = [2, 9].map(|most| sizes(9, most));
        assert_eq!((some, all), ([vec![5], vec![4]], [vec![5, 6], vec![4]]), "those again, and others");
        assert_eq!(heads.waiting(1), [1, 0]);
        for size in [4, 6] {
            heads.settle(id(1, size), JoinedHead::Forked);
        }
        assert_eq!(heads.counts(), HeadCounts { joined: 1, unjoined: 2, untried: 1 });
        let since = |is_any| [7, 8].map(|before| heads.waiting_since(before, is_any));
        assert_eq!([since(true), since(false)], [[0, 1], [0, 0]]);
        let to = [8, 9].map(|size| HeldAgainst { size, root: Hash([size as u8; 32]), received_ns: size });
        assert_eq!(heads.refused(id(1, 5), None), None);
        assert_eq!(
            to.map(|to| heads.refused(id(1, 5), Some(to))),
            [Some(to[0]); 2],
            "the first that is larger"
        );
        assert_eq!((since(false), heads.waiting(1)), ([0, 1], [0, 1]));
    }

    #[test]
    fn a_head_that_the_log_contradicted_elsewhere_is_none_of_the_tree_whenever_an_answer_comes_with_it() {
        let heads = AnsweredHeads::of(8, 8);
        heads.offer(id(1, 5), b"note", 7);
        for size in [5, 6] {
            heads.contradicted(id(1, size));
            heads.offer(id(1, size), b"note", 8);
            assert_eq!(heads.became(id(1, size)), JoinedHead::Forked);
        }
        assert_eq!(heads.counts(), HeadCounts::default());
        // What was joined stays so.
        heads.offer(id(1, 7), b"note", 7);
        heads.settle(id(1, 7), JoinedHead::Joined);
        heads.contradicted(id(1, 7));
        assert_eq!(heads.became(id(1, 7)), JoinedHead::Joined);
    }

    #[test]
    fn what_there_is_no_room_for_is_counted_and_what_was_settled_long_ago_is_forgotten() {
        let heads = AnsweredHeads::of(2, 2);
        let beside = AnsweredHeads::of(8, 8);
        for size in 1..=3 {
            heads.offer(id(0, size), b"note", 0);
            let HeadId { tree, size, root } = id(0, size);
            let (timestamp_ms, fetched_ns, asked_ns) = Default::default();
            let raw = b"note".as_slice().into();
            beside.offer_beside(tree, Head { size, root, timestamp_ms, fetched_ns, asked_ns, raw });
        }
        assert_eq!((beside.waiting(0), beside.counts().unjoined), ([2, 0], 3));
        beside.offer(id(0, 4), b"note", 0);
        assert_eq!(beside.waiting(0), [3, 0], "there is room for those that a promise waits for");
        assert_eq!((heads.became(id(0, 3)), heads.counts().unjoined), (JoinedHead::Unknown, 3));
        for size in 1..=3 {
            heads.settle(id(0, size), JoinedHead::Joined);
            heads.offer(id(0, size + 3), b"note", 0);
        }
        assert_eq!(heads.became(id(0, 1)), JoinedHead::Joined);
        heads.settle(id(0, 4), JoinedHead::Joined);
        assert_eq!(
            (heads.became(id(0, 1)), heads.became(id(0, 2))),
            (JoinedHead::Unknown, JoinedHead::Joined)
        );
    }
}
