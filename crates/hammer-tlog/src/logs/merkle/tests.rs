//! Trees and proofs of published vectors.

use proptest::prelude::*;

use super::*;

/// The leaves of the reference tree in google/certificate-transparency (`merkletree/merkle_tree_test.cc`), in hex.
const LEAVES: [&[u8]; 8] = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    b"\x50\x51\x52\x53\x54\x55\x56\x57",
    b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
];

/// Its roots at sizes 1 to 8.
const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

/// Audit paths in the reference tree: index, size, path.
const INCLUSION: [(u64, u64, &[&str]); 4] = [
    (
        0,
        8,
        &[
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ],
    ),
    (
        5,
        8,
        &[
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
    (2, 3, &["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (
        1,
        5,
        &[
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
];

/// Consistency proofs in the reference tree: old size, new size, path.
const CONSISTENCY: [(u64, u64, &[&str]); 4] = [
    (1, 1, &[]),
    (
        1,
        8,
        &[
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ],
    ),
    (
        6,
        8,
        &[
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
    (
        2,
        5,
        &[
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
];

fn reference_tree() -> Tree {
    LEAVES.iter().map(|leaf| leaf_hash(leaf)).collect()
}

fn hashes(texts: &[&str]) -> Vec<Hash> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn counted_tree(size: u64) -> Tree {
    (0..size).map(|leaf| leaf_hash(&leaf.to_be_bytes())).collect()
}

#[test]
fn the_empty_root_is_the_hash_of_nothing() {
    assert_eq!(sha256(b""), EMPTY_ROOT);
    assert_eq!(Frontier::new().root(), EMPTY_ROOT);
    assert_eq!(root_at(&Tree::new(), 0), Ok(EMPTY_ROOT));
}

#[test]
fn the_reference_tree_has_its_published_roots() {
    let tree = reference_tree();
    let mut frontier = Frontier::new();
    for (size, (leaf, root)) in (1..).zip(LEAVES.iter().zip(hashes(&ROOTS))) {
        frontier.append(leaf_hash(leaf));
        assert_eq!(frontier.size(), size);
        assert_eq!(frontier.root(), root);
        assert_eq!(root_at(&tree, size), Ok(root));
        assert_eq!(Frontier::at(&tree, size).unwrap(), frontier);
    }
}

#[test]
fn the_reference_tree_has_its_published_audit_paths() {
    let tree = reference_tree();
    for (index, size, path) in INCLUSION {
        let path = hashes(path);
        assert_eq!(inclusion_proof(&tree, index, size).unwrap(), path);
        let leaf = leaf_hash(LEAVES[index as usize]);
        verify_inclusion(index, size, &leaf, &path, &root_at(&tree, size).unwrap()).unwrap();
    }
}

#[test]
fn the_reference_tree_has_its_published_consistency_proofs() {
    let tree = reference_tree();
    for (old, new, path) in CONSISTENCY {
        let path = hashes(path);
        assert_eq!(consistency_proof(&tree, old, new).unwrap(), path);
        let (old_root, new_root) = (root_at(&tree, old).unwrap(), root_at(&tree, new).unwrap());
        verify_consistency(old, new, &old_root, &new_root, &path).unwrap();
    }
}

#[test]
fn every_proof_of_every_small_tree_verifies() {
    let tree = counted_tree(40);
    for new in 0..=40 {
        let root = root_at(&tree, new).unwrap();
        for index in 0..new {
            let proof = inclusion_proof(&tree, index, new).unwrap();
            verify_inclusion(index, new, &tree.leaves()[index as usize], &proof, &root).unwrap();
        }
        for old in 0..=new {
            let proof = consistency_proof(&tree, old, new).unwrap();
            verify_consistency(old, new, &root_at(&tree, old).unwrap(), &root, &proof).unwrap();
        }
    }
}

#[test]
fn a_tree_that_forgot_its_first_leaves_proves_the_others_as_before() {
    let whole = counted_tree(2_000);
    let mut tree = counted_tree(1_500);
    tree.forget_before(1_111);
    (1_500..2_000).for_each(|index| tree.append(whole.leaves()[index]));
    tree.forget_before(1_200);
    assert_eq!(tree.size(), 2_000);
    assert_eq!(tree.stretch(0, 1_024, 976), Some(&whole.leaves()[1_024..]));
    assert_eq!((tree.stretch(0, 1_023, 1), tree.stretch(0, 1_999, 2)), (None, None));
    assert_eq!(tree.level(8), &whole.level(8)[7 - tree.level(8).len()..]);
    for size in (1_200..=2_000).step_by(37) {
        assert_eq!(root_at(&tree, size), root_at(&whole, size));
        assert_eq!(Frontier::at(&tree, size), Frontier::at(&whole, size));
        assert_eq!(consistency_proof(&tree, size, 2_000), consistency_proof(&whole, size, 2_000));
        assert_eq!(inclusion_proof(&tree, size - 1, 2_000), inclusion_proof(&whole, size - 1, 2_000));
    }
    assert!(consistency_proof(&tree, 3, 2_000).is_err());
}

#[test]
fn a_tree_that_forgets_as_it_grows_stays_small() {
    let mut tree = Tree::new();
    for index in 0..200_000_u64 {
        tree.append(leaf_hash(&index.to_be_bytes()));
        tree.forget_before(index.saturating_sub(1_000));
    }
    let nodes: usize = (0..64).map(|level| tree.level(level).len()).sum();
    assert!(nodes < 12_000, "{nodes} nodes are kept");
}

#[test]
fn an_index_outside_of_the_tree_is_refused() {
    let tree = counted_tree(3);
    let error = MerkleError::IndexOutOfRange { index: 3, size: 3 };
    assert_eq!(inclusion_proof(&tree, 3, 3), Err(error.clone()));
    assert_eq!(verify_inclusion(3, 3, &EMPTY_ROOT, &[], &EMPTY_ROOT), Err(error));
    let error = MerkleError::IndexOutOfRange { index: 0, size: 0 };
    assert_eq!(verify_inclusion(0, 0, &EMPTY_ROOT, &[], &EMPTY_ROOT), Err(error));
}

#[test]
fn a_shrunk_tree_is_refused() {
    let error = MerkleError::Shrunk { old_size: 3, new_size: 2 };
    assert_eq!(consistency_proof(&counted_tree(3), 3, 2), Err(error.clone()));
    assert_eq!(verify_consistency(3, 2, &EMPTY_ROOT, &EMPTY_ROOT, &[]), Err(error));
}

#[test]
fn a_rewritten_past_is_told_from_a_wrong_new_root() {
    let tree = counted_tree(7);
    let [old, new] = [3, 7].map(|size| root_at(&tree, size).unwrap());
    let proof = consistency_proof(&tree, 3, 7).unwrap();
    let rewritten = verify_consistency(3, 7, &new, &new, &proof);
    assert_eq!(rewritten, Err(MerkleError::OldRootMismatch { computed: old, expected: new }));
    let wrong = verify_consistency(3, 7, &old, &old, &proof);
    assert_eq!(wrong, Err(MerkleError::RootMismatch { computed: new, expected: old }));
}

#[test]
fn two_roots_of_one_size_are_an_inconsistency() {
    let [old, new] = [3, 7].map(|size| root_at(&counted_tree(7), size).unwrap());
    let error = MerkleError::OldRootMismatch { computed: new, expected: old };
    assert_eq!(verify_consistency(7, 7, &old, &new, &[]), Err(error));
    let error = MerkleError::OldRootMismatch { computed: EMPTY_ROOT, expected: old };
    assert_eq!(verify_consistency(0, 7, &old, &new, &[]), Err(error));
}

#[test]
fn a_missing_subtree_is_named() {
    let tree = counted_tree(5);
    assert_eq!(root_at(&tree, 7), Err(MerkleError::MissingNode { level: 1, index: 2 }));
}

#[test]
fn a_hash_reads_back_from_hex_base64_and_json() {
    let hash = sha256(b"hash");
    assert_eq!(hash.to_hex().parse(), Ok(hash));
    assert_eq!(Hash::from_base64(&hash.to_base64()), Some(hash));
    assert_eq!(serde_json::from_str::<Hash>(&serde_json::to_string(&hash).unwrap()).unwrap(), hash);
    assert_eq!("e3b0".parse::<Hash>(), Err(HashError));
    assert_eq!("+".repeat(64).parse::<Hash>(), Err(HashError));
    assert_eq!(Hash::from_base64("AAAA"), None);
    assert!(serde_json::from_str::<Hash>("\"AAAA\"").is_err());
}

fn flipped(hash: Hash, bit: u8) -> Hash {
    let mut bytes = hash.0;
    bytes[usize::from(bit) / 8] ^= 1 << (bit % 8);
    Hash(bytes)
}

proptest! {
    #[test]
    fn a_flipped_bit_breaks_an_inclusion_proof(size in 2_u64..700, index: u64, at: usize, bit: u8) {
        let tree = counted_tree(size);
        let index = index % size;
        let (leaf, root) = (tree.leaves()[index as usize], root_at(&tree, size).unwrap());
        let mut proof = inclusion_proof(&tree, index, size).unwrap();
        verify_inclusion(index, size, &leaf, &proof, &root).unwrap();
        prop_assert!(verify_inclusion(index, size, &flipped(leaf, bit), &proof, &root).is_err());
        prop_assert!(verify_inclusion(index, size, &leaf, &proof, &flipped(root, bit)).is_err());
        prop_assert!(verify_inclusion((index + 1) % size, size, &leaf, &proof, &root).is_err());
        let at = at % proof.len();
        proof[at] = flipped(proof[at], bit);
        prop_assert!(verify_inclusion(index, size, &leaf, &proof, &root).is_err());
    }

    #[test]
    fn a_flipped_bit_breaks_a_consistency_proof(new in 2_u64..700, old: u64, at: usize, bit: u8) {
        let tree = counted_tree(new);
        let old = 1 + old % (new - 1);
        let (old_root, new_root) = (root_at(&tree, old).unwrap(), root_at(&tree, new).unwrap());
        let mut proof = consistency_proof(&tree, old, new).unwrap();
        verify_consistency(old, new, &old_root, &new_root, &proof).unwrap();
        prop_assert!(verify_consistency(old, new, &flipped(old_root, bit), &new_root, &proof).is_err());
        prop_assert!(verify_consistency(old, new, &old_root, &flipped(new_root, bit), &proof).is_err());
        let at = at % proof.len();
        proof[at] = flipped(proof[at], bit);
        prop_assert!(verify_consistency(old, new, &old_root, &new_root, &proof).is_err());
    }

    #[test]
    fn a_proof_that_is_too_short_or_too_long_is_refused(size in 2_u64..300, index: u64, old: u64) {
        let tree = counted_tree(size);
        let index = index % size;
        let (leaf, root) = (tree.leaves()[index as usize], root_at(&tree, size).unwrap());
        let mut proof = inclusion_proof(&tree, index, size).unwrap();
        let short = &proof[1..];
        prop_assert!(verify_inclusion(index, size, &leaf, short, &root).is_err());
        proof.push(root);
        let error = MerkleError::ProofLength { got: proof.len() };
        prop_assert_eq!(verify_inclusion(index, size, &leaf, &proof, &root), Err(error));
        let old = 1 + old % (size - 1);
        let old_root = root_at(&tree, old).unwrap();
        let mut proof = consistency_proof(&tree, old, size).unwrap();
        prop_assert!(verify_consistency(old, size, &old_root, &root, &proof[1..]).is_err());
        proof.push(root);
        let error = MerkleError::ProofLength { got: proof.len() };
        prop_assert_eq!(verify_consistency(old, size, &old_root, &root, &proof), Err(error));
    }

    #[test]
    fn verification_takes_any_sizes_and_any_proof(
        index: u64, old: u64, new: u64, proof in prop::collection::vec(any::<[u8; 32]>().prop_map(Hash), 0..70),
    ) {
        let root = sha256(b"root");
        prop_assert!(verify_inclusion(index, new, &root, &proof, &EMPTY_ROOT).is_err());
        prop_assert!(verify_consistency(old, new, &root, &EMPTY_ROOT, &proof).is_err());
    }

    #[test]
    fn a_frontier_read_from_a_tree_goes_on_as_if_it_had_grown(size in 0_u64..300, more in 0_u64..100) {
        let tree = counted_tree(size + more);
        let mut frontier = Frontier::at(&tree, size).unwrap();
        frontier.extend(tree.leaves()[size as usize..].iter().copied());
        prop_assert_eq!(frontier.root(), root_at(&tree, size + more).unwrap());
        prop_assert_eq!(frontier.size(), size + more);
    }
    #[test]
    fn a_consistency_proof_has_the_edge_of_the_older_tree(old in 0_u64..400, more in 1_u64..400, flipped: usize) {
        let tree = counted_tree(old + more);
        let (root, proof) = (root_at(&tree, old).unwrap(), consistency_proof(&tree, old, old + more).unwrap());
        let edge = |proof: &[Hash]| Frontier::from_consistency_proof(old, old + more, root, proof);
        prop_assert_eq!(edge(&proof), Ok(Frontier::at(&tree, old).unwrap()));
        if old > 0 {
            let longer = [proof.clone(), vec![root]].concat();
            prop_assert_eq!(edge(&longer), Err(MerkleError::ProofLength { got: longer.len() }));
            prop_assert!(edge(&proof[1..]).is_err());
            let mut other = proof.clone();
            other[flipped % proof.len()].0[0] ^= 1;
            // A hash that stands to the right is not of the older tree, and tells nothing of it.
            prop_assert!(edge(&other).is_err() || edge(&other) == edge(&proof));
        }
    }
}

#[test]
fn a_consistency_proof_says_which_prefix_its_tree_has_and_from_which_tree_it_leads() {
    let leaves =
        |start: u32| (start..start + 40).map(|leaf| leaf_hash(&leaf.to_be_bytes())).collect::<Tree>();
    let (tree, other) = (leaves(0), leaves(1));
    for new in 2..=40 {
        for old in 1..new {
            let proof = consistency_proof(&tree, old, new).unwrap();
            let root = |tree: &Tree, size| root_at(tree, size).unwrap();
            let told = !old.is_power_of_two();
            let prefix = prefix_root(old, new, &root(&tree, new), &proof);
            assert_eq!(prefix, told.then(|| root(&tree, old)), "{old} {new}");
            assert_eq!(prefix_root(old, new, &root(&other, new), &proof), None, "{old} {new}");
            assert!(may_prove_growth(old, &root(&tree, old), &proof), "{old} {new}");
            assert_eq!(may_prove_growth(old, &root(&other, old), &proof), !told, "{old} {new}");
        }
    }
    assert_eq!(prefix_root(0, 5, &EMPTY_ROOT, &[]), None);
    assert!(
        !may_prove_growth(0, &EMPTY_ROOT, &[EMPTY_ROOT]) && !may_prove_growth(u64::MAX, &EMPTY_ROOT, &[])
    );
}
