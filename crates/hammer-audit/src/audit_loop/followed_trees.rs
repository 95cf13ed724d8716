//! The trees of a log, each with the follower that proves its heads.

use hammer_tlog::logs::follow::{Follower, Head};

use super::tree_turn::TreeTurn;
use crate::answered_heads::AnsweredHeads;
use crate::source::{HeadId, Shards};

/// A tree of a log, and what is trusted of it.
pub(super) struct FollowedTree {
    pub(super) tree: u64,
    pub(super) follower: Follower,
}

/// The trees of a log: the one that entries are added to, and those before it. A log of one tree has one.
pub(super) struct FollowedTrees {
    make: fn() -> Follower,
    /// The active one is the last.
    trees: Vec<FollowedTree>,
    is_known: bool,
}

impl FollowedTrees {
    pub(super) fn new(make: fn() -> Follower) -> Self {
        Self { make, trees: vec![FollowedTree { tree: 0, follower: make() }], is_known: false }
    }

    /// The tree that entries are added to.
    pub(super) fn active(&mut self) -> &mut FollowedTree {
        let last = self.trees.len() - 1;
        &mut self.trees[last]
    }

    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut FollowedTree> {
        self.trees.iter_mut()
    }

    /// That tree, where the log has it.
    pub(super) fn of(&mut self, tree: u64, shards: &Shards) -> Option<&mut FollowedTree> {
        let place = self.trees.iter().position(|followed| followed.tree == tree);
        let place = match place {
            Some(place) => place,
            None => {
                let shard = shards.inactive.iter().find(|shard| shard.head.tree == tree)?;
                if shard.unverified.is_some() {
                    return None;
                }
                let mut follower = (self.make)();
                follower.head(ended(shard.head, &shard.raw));
                self.trees.insert(0, FollowedTree { tree, follower });
                0
            }
        };
        Some(&mut self.trees[place])
    }

    /// A head that came with these shards, where the tree that they call active is followed and does not know it. A server that lags
    /// behind calls a tree active which has ended: its heads are that tree's, and none of the newer one's.
    pub(super) fn unproved(&mut self, head: &Head, shards: &Shards) -> Option<HeadId> {
        let FollowedTree { tree, follower } = self.of(shards.active, shards)?;
        let id = HeadId { tree: *tree, size: head.size, root: head.root };
        (!follower.knows(head)).then_some(id)
    }

    /// How many heads of these trees wait among those that answers came with: those that nobody came to ask for, and those that the log refused to prove.
    pub(super) fn waiting(&mut self, answered: &AnsweredHeads, shards: &Shards) -> [u64; 2] {
        let mut waiting = [0, 0];
        for tree in answered.trees() {
            if self.of(tree, shards).is_some() {
                let [untried, refused] = answered.waiting(tree);
                waiting = [waiting[0] + untried, waiting[1] + refused];
            }
        }
        waiting
    }

    /// Takes the shards that a head came with: another active tree is followed from then on, and the one before is held against its
    /// last head.
    pub(super) fn turn(&mut self, shards: &Shards) -> Option<TreeTurn> {
        // A log of one tree.
        if shards.active == 0 {
            return None;
        }
        if !self.is_known {
            self.is_known = true;
            self.active().tree = shards.active;
            return Some(TreeTurn::Known {
                inactive: shards.inactive.iter().map(|shard| shard.head).collect(),
            });
        }
        let (tree, next) = (self.active().tree, shards.active);
        if tree == next {
            return None;
        }
        if self.trees.iter().any(|followed| followed.tree == next) {
            return Some(TreeTurn::Behind);
        }
        let FollowedTree { follower, .. } = self.active();
        let trusted = follower.trusted().cloned();
        let turn = match shards.inactive.iter().find(|shard| shard.head.tree == tree) {
            Some(shard) => {
                if shard.unverified.is_none() {
                    follower.head(ended(shard.head, &shard.raw));
                }
                Some(TreeTurn::Ended { tree, next, size: shard.head.size })
            }
            // A tree without leaves promised nothing.
            None => {
                let trusted = trusted.filter(|trusted| trusted.size > 0);
                trusted.map(|trusted| TreeTurn::Gone { tree, next, trusted })
            }
        };
        self.trees.push(FollowedTree { tree: next, follower: (self.make)() });
        if self.trees.len() > MOST_TREES {
            self.trees.remove(0);
        }
        turn
    }
}

fn ended(id: HeadId, raw: &std::sync::Arc<[u8]>) -> Head {
    Head { size: id.size, root: id.root, timestamp_ms: 0, fetched_ns: 0, asked_ns: 0, raw: raw.clone() }
}

/// Trees that are followed; of more, the oldest is forgotten.
const MOST_TREES: usize = 64;

#[cfg(test)]
mod tests {
    use hammer_tlog::hash::Hash;
    use hammer_tlog::logs::follow::{Bundles, ProofMethod};
    use hammer_tlog::logs::tile::Level;

    use super::*;
    use crate::source::InactiveShard;

    fn follower() -> Follower {
        let bundles = Bundles { level: Level::Entries, leaf_hashes: |_, _| Vec::new() };
        Follower::new(ProofMethod::Proofs, bundles).in_any_order()
    }

    fn shards(active: u64, inactive: &[(u64, u64)]) -> Shards {
        let head = |(tree, size): &(u64, u64)| HeadId { tree: *tree, size: *size, root: Hash([7; 32]) };
        let (raw, unverified) = (|| Vec::new().into(), None);
        let inactive = inactive.iter().map(|shard| InactiveShard {
            head: head(shard),
            raw: raw(),
            unverified: unverified.clone(),
        });
        Shards { active, inactive: inactive.collect() }
    }

    fn seen(trees: &mut FollowedTrees, size: u64) {
        let head = HeadId { tree: 0, size, root: Hash([7; 32]) };
        trees.active().follower.head(ended(head, &Vec::new().into()));
    }

    #[test]
    fn a_new_tree_is_followed_once_the_one_before_has_ended_and_a_lagging_replica_changes_nothing() {
        let mut trees = FollowedTrees::new(follower);
        let first = trees.turn(&shards(3, &[(2, 9)]));
        assert!(matches!(first, Some(TreeTurn::Known { inactive }) if inactive.len() == 1));
        seen(&mut trees, 5);
        assert_eq!(trees.turn(&shards(3, &[(2, 9)])), None);
        let turn = trees.turn(&shards(4, &[(2, 9), (3, 5)]));
        assert_eq!(turn, Some(TreeTurn::Ended { tree: 3, next: 4, size: 5 }));
        assert_eq!(trees.turn(&shards(3, &[(2, 9)])), Some(TreeTurn::Behind));
        assert_eq!(trees.active().tree, 4);
        let known = shards(4, &[(2, 9), (3, 5)]);
        let trusted =
            |trees: &mut FollowedTrees, tree| Some(trees.of(tree, &known)?.follower.trusted()?.size);
        assert_eq!((trusted(&mut trees, 2), trusted(&mut trees, 3)), (Some(9), Some(5)));
        assert_eq!(trusted(&mut trees, 8), None);
    }

    #[test]
    fn a_head_of_a_lagging_replica_is_of_the_tree_that_it_still_calls_active() {
        let mut trees = FollowedTrees::new(follower);
        let before = shards(3, &[]);
        trees.turn(&before);
        seen(&mut trees, 5);
        trees.turn(&shards(4, &[(3, 5)]));
        seen(&mut trees, 1);
        assert_eq!(trees.turn(&before), Some(TreeTurn::Behind));
        let head = |size| {
            let id = HeadId { tree: 0, size, root: Hash([7; 32]) };
            ended(id, &Vec::new().into())
        };
        let tree = |id: Option<HeadId>| id.map(|id| id.tree);
        let unproved = [4, 5].map(|size| tree(trees.unproved(&head(size), &before)));
        assert_eq!(unproved, [Some(3), None], "what the tree ended with is known");
        let now = shards(4, &[(3, 5)]);
        assert_eq!([1, 5].map(|size| tree(trees.unproved(&head(size), &now))), [None, Some(4)]);
        assert_eq!(trees.unproved(&head(4), &shards(9, &[])), None, "a tree that nobody knows");
    }

    #[test]
    fn nothing_is_held_against_a_shard_that_is_signed_by_an_unknown_key() {
        let mut trees = FollowedTrees::new(follower);
        let mut known = shards(4, &[(2, 9), (3, 5)]);
        known.inactive[0].unverified = Some("no key".into());
        trees.turn(&known);
        assert!(trees.of(2, &known).is_none() && trees.of(3, &known).is_some());
        assert_eq!([2, 3, 4].map(|tree| known.offset(tree)), [Some(0), None, None]);
        known.inactive[0].unverified = None;
        assert_eq!([2, 3, 4, 5].map(|tree| known.offset(tree)), [Some(0), Some(9), Some(14), None]);
    }

    #[test]
    fn a_tree_with_leaves_that_is_not_listed_any_more_is_gone() {
        let mut trees = FollowedTrees::new(follower);
        trees.turn(&shards(3, &[]));
        assert_eq!(trees.turn(&shards(4, &[])), None, "it had no leaves");
        seen(&mut trees, 5);
        let turn = trees.turn(&shards(5, &[]));
        assert!(matches!(turn, Some(TreeTurn::Gone { tree: 4, next: 5, trusted }) if trusted.size == 5));
    }
}
