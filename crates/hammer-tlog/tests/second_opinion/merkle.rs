//! Trees and proofs, as another implementation has them.

use hammer_tlog::logs::merkle::{
    EMPTY_ROOT, Frontier, Hash, NodeReader, consistency_proof, inclusion_proof, root_at, root_from_inclusion,
    sha256, verify_consistency, verify_inclusion,
};
use proptest::prelude::*;
use tlog_tiles::{
    EMPTY_HASH, HashReader, check_record, check_tree, prove_record, prove_tree, sub_tree_index, tree_hash,
};

use crate::twin::{Lent, NamedNodes, OneLeaf, TwinTree, all_theirs, huge_sizes, sizes, theirs};

/// The roots of the complete subtrees of the first `size` leaves, as the other implementation reads them.
fn edge(reader: &impl HashReader, size: u64) -> Vec<tlog_tiles::Hash> {
    reader.read_hashes(&sub_tree_index(0, size, Vec::new())).unwrap()
}

/// What may be wrong with a proof.
#[derive(Debug, Clone)]
enum Wrong {
    Nothing,
    Flipped(usize, u8),
    Without(usize),
    With(usize),
    Swapped(usize),
}

fn wrong() -> impl Strategy<Value = Wrong> {
    prop_oneof![
        Just(Wrong::Nothing),
        any::<(usize, u8)>().prop_map(|(at, bit)| Wrong::Flipped(at, bit)),
        any::<usize>().prop_map(Wrong::Without),
        any::<usize>().prop_map(Wrong::With),
        any::<usize>().prop_map(Wrong::Swapped),
    ]
}

fn spoil(mut proof: Vec<Hash>, wrong: &Wrong) -> Vec<Hash> {
    let length = proof.len();
    match *wrong {
        Wrong::With(at) => proof.insert(at % (length + 1), sha256(b"more")),
        Wrong::Swapped(at) if length > 1 => proof.swap(at % (length - 1), at % (length - 1) + 1),
        Wrong::Flipped(at, bit) if length > 0 => {
            proof[at % length].0[usize::from(bit) / 8] ^= 1 << (bit % 8);
        }
        Wrong::Without(at) if length > 0 => {
            proof.remove(at % length);
        }
        _ => {}
    }
    proof
}

#[test]
fn the_empty_trees_are_one() {
    assert_eq!(theirs(EMPTY_ROOT), EMPTY_HASH);
    let twin = TwinTree::of(0, 0);
    assert_eq!(tree_hash(0, &twin.theirs).unwrap(), theirs(root_at(&twin.ours, 0).unwrap()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_tree_has_the_same_root_and_edge_at_every_size(seed: u64, size in sizes()) {
        let twin = TwinTree::of(seed, size);
        let mut frontier = Frontier::new();
        for (leaf, size) in twin.ours.leaves().iter().zip(1..) {
            frontier.append(*leaf);
            let root = tree_hash(size, &twin.theirs).unwrap();
            prop_assert_eq!(theirs(frontier.root()), root);
            prop_assert_eq!(theirs(root_at(&twin.ours, size).unwrap()), root);
            prop_assert_eq!(all_theirs(frontier.roots()), edge(&twin.theirs, size));
        }
    }

    #[test]
    fn an_audit_path_is_the_same_and_both_verify_it(seed: u64, size in sizes(), index: u64) {
        let (twin, index) = (TwinTree::of(seed, size), index % size);
        let path = inclusion_proof(&twin.ours, index, size).unwrap();
        prop_assert_eq!(all_theirs(&path), prove_record(size, index, &twin.theirs).unwrap());
        let (leaf, root) = (twin.ours.leaves()[index as usize], root_at(&twin.ours, size).unwrap());
        verify_inclusion(index, size, &leaf, &path, &root).unwrap();
        check_record(&all_theirs(&path), size, theirs(root), index, theirs(leaf)).unwrap();
    }

    #[test]
    fn a_consistency_proof_is_the_same_and_both_verify_it(seed: u64, new in sizes(), old: u64) {
        let (twin, old) = (TwinTree::of(seed, new), 1 + old % new);
        let proof = consistency_proof(&twin.ours, old, new).unwrap();
        prop_assert_eq!(all_theirs(&proof), prove_tree(new, old, &twin.theirs).unwrap());
        let (old_root, new_root) = (root_at(&twin.ours, old).unwrap(), root_at(&twin.ours, new).unwrap());
        verify_consistency(old, new, &old_root, &new_root, &proof).unwrap();
        check_tree(&all_theirs(&proof), new, theirs(new_root), old, theirs(old_root)).unwrap();
    }

    #[test]
    fn the_edge_that_a_proof_holds_is_the_one_that_the_other_reads(seed: u64, new in sizes(), old: u64) {
        let (twin, old) = (TwinTree::of(seed, new), 1 + old % new);
        let (leaf, path) = (twin.ours.leaves()[new as usize - 1], prove_record(new, new - 1, &twin.theirs).unwrap());
        let path: Vec<_> = path.into_iter().map(|hash| Hash(hash.0)).collect();
        let by_path = Frontier::from_last_leaf(new, leaf, &path).unwrap();
        prop_assert_eq!(all_theirs(by_path.roots()), edge(&twin.theirs, new));
        if old < new {
            let proof: Vec<_> = prove_tree(new, old, &twin.theirs).unwrap().into_iter().map(|hash| Hash(hash.0)).collect();
            let old_root = Hash(tree_hash(old, &twin.theirs).unwrap().0);
            let by_proof = Frontier::from_consistency_proof(old, new, old_root, &proof).unwrap();
            prop_assert_eq!(all_theirs(by_proof.roots()), edge(&twin.theirs, old));
        }
    }

    #[test]
    fn any_path_of_any_length_leads_both_to_the_same_root(size: u64, index: u64, drawn: [u8; 32]) {
        let (size, leaf) = (size.max(1), Hash(drawn));
        let index = index % size;
        for length in 0..=65_u8 {
            let path: Vec<_> = (0..length).map(|number| sha256(&[number])).collect();
            // A path of the wrong length leads nowhere, so any root will do.
            let root = root_from_inclusion(index, size, &leaf, &path);
            let claimed = theirs(root.clone().unwrap_or(leaf));
            let others = check_record(&all_theirs(&path), size, claimed, index, theirs(leaf));
            prop_assert_eq!(root.is_ok(), others.is_ok());
        }
    }

    #[test]
    fn trees_too_large_to_be_held_are_proved_by_the_same_nodes(size in huge_sizes(), drawn: u64) {
        let (nodes, lent) = (&NamedNodes, Lent(&NamedNodes));
        prop_assert_eq!(theirs(root_at(nodes, size).unwrap()), tree_hash(size, &lent).unwrap());
        prop_assert_eq!(all_theirs(Frontier::at(nodes, size).unwrap().roots()), edge(&lent, size));
        let path = inclusion_proof(nodes, drawn % size, size).unwrap();
        prop_assert_eq!(all_theirs(&path), prove_record(size, drawn % size, &lent).unwrap());
        let proof = consistency_proof(nodes, 1 + drawn % size, size).unwrap();
        prop_assert_eq!(all_theirs(&proof), prove_tree(size, 1 + drawn % size, &lent).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_one_says_of_an_audit_path_the_other_says(
        seed: u64, size in 1_u64..80, index: u64, wrong in wrong(), (moved, grown) in (0_u64..2, 0_u64..3),
    ) {
        let (twin, index) = (TwinTree::of(seed, size), index % size);
        let (leaf, root) = (twin.ours.leaves()[index as usize], root_at(&twin.ours, size).unwrap());
        let path = spoil(inclusion_proof(&twin.ours, index, size).unwrap(), &wrong);
        let (index, size) = (index + moved, size + grown - grown.min(1));
        let ours = verify_inclusion(index, size, &leaf, &path, &root).is_ok();
        let others = check_record(&all_theirs(&path), size, theirs(root), index, theirs(leaf)).is_ok();
        prop_assert_eq!(ours, others);
    }

    #[test]
    fn what_one_says_of_a_consistency_proof_the_other_says(
        seed: u64, new in 1_u64..80, old: u64, wrong in wrong(), (moved, grown) in (0_u64..2, 0_u64..2), forked: bool,
    ) {
        let (twin, old) = (TwinTree::of(seed, new), 1 + old % new);
        let (mut old_root, new_root) = (root_at(&twin.ours, old).unwrap(), root_at(&twin.ours, new).unwrap());
        if forked {
            old_root.0[31] ^= 1;
        }
        let proof = spoil(consistency_proof(&twin.ours, old, new).unwrap(), &wrong);
        let (old, new) = (old + moved, new + grown);
        let ours = verify_consistency(old, new, &old_root, &new_root, &proof).is_ok();
        let others = check_tree(&all_theirs(&proof), new, theirs(new_root), old, theirs(old_root)).is_ok();
        prop_assert_eq!(ours, others);
    }

    #[test]
    fn the_growth_of_a_tree_too_large_to_be_held_is_verified_by_both(size in huge_sizes(), drawn: u64) {
        let (tree, old) = (OneLeaf::new(), 1 + drawn % size);
        let (old_root, new_root) = (root_at(&tree, old).unwrap(), root_at(&tree, size).unwrap());
        let proof = consistency_proof(&tree, old, size).unwrap();
        verify_consistency(old, size, &old_root, &new_root, &proof).unwrap();
        check_tree(&all_theirs(&proof), size, theirs(new_root), old, theirs(old_root)).unwrap();
        let (leaf, path) = (tree.node(0, 0).unwrap(), inclusion_proof(&tree, old - 1, size).unwrap());
        verify_inclusion(old - 1, size, &leaf, &path, &new_root).unwrap();
        check_record(&all_theirs(&path), size, theirs(new_root), old - 1, theirs(leaf)).unwrap();
    }
}
