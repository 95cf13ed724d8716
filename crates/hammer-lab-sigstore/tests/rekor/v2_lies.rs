//! Each lie of Rekor v2 is what it says, where it says, and listed; the rest is the truth.

use hammer_lab_sigstore::{
    LieRule,
    rekor_tiles::{RekorTilesLabHandle, RekorTilesLabPlan, RekorTilesLieKind},
};
use hammer_tlog::{
    encoding::from_base64,
    logs::{
        merkle::{Hash, Tree, leaf_hash, root_at},
        note::{Checkpoint, Note},
        tile::TileId,
    },
};
use hammer_values::Count;
use serde_json::Value;

use crate::{
    client::get,
    mint::hashedrekord_v2,
    recorded::v2_fault,
    v2::{quick, start, submit},
};

/// Six entries, of which the third and the fifth are lied about.
async fn story(kind: RekorTilesLieKind) -> (RekorTilesLabHandle, Vec<Value>) {
    let lie = LieRule { after: 2, every: Count::at_least_one(2), ..LieRule::of(kind) };
    let lab = start(RekorTilesLabPlan { lies: vec![lie], ..quick() }).await;
    let mut answers = Vec::new();
    for number in 0..6u8 {
        answers.push(submit(&lab, hashedrekord_v2(&[number])).await.json(201));
    }
    (lab, answers)
}

fn faults(lab: &RekorTilesLabHandle, answers: &[Value]) -> Vec<Option<&'static str>> {
    answers.iter().map(|answer| v2_fault(answer, lab.target().log_key_spki())).collect()
}

fn owns_up(lab: &RekorTilesLabHandle, kind: RekorTilesLieKind) {
    let (told, _) = lab.target().told_lies();
    let told: Vec<_> = told.iter().map(|lie| (lie.kind, lie.log_index)).collect();
    assert_eq!(told, [(kind, Some(2)), (kind, Some(4))]);
}

fn body(answer: &Value) -> Vec<u8> {
    from_base64(answer["canonicalizedBody"].as_str().unwrap()).unwrap()
}

/// The leaf hashes that are served, and the checkpoint.
async fn served(lab: &RekorTilesLabHandle) -> (Vec<Hash>, Checkpoint) {
    let note = get(&format!("{}/checkpoint", lab.url)).await.text();
    let checkpoint = Checkpoint::parse(Note::parse(note.as_bytes()).unwrap().text).unwrap();
    let tile = TileId { width: u16::try_from(checkpoint.size).unwrap(), ..TileId::hashes(0, 0) };
    let bytes = get(&format!("{}/{tile}", lab.url)).await.body;
    (tile.parse_hashes(&bytes).unwrap(), checkpoint)
}

/// The leaf hashes of the entries that are served.
async fn bundled(lab: &RekorTilesLabHandle, count: usize) -> Vec<Hash> {
    let bytes = get(&format!("{}/tile/entries/000.p/{count}", lab.url)).await.body;
    let (mut rest, mut leaves) = (&bytes[..], Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let (body, after) = after.split_at(u16::from_be_bytes(*length).into());
        let parsed: Value = serde_json::from_slice(body).unwrap();
        assert_eq!(parsed["kind"], "hashedrekord");
        leaves.push(leaf_hash(body));
        rest = after;
    }
    leaves
}

#[tokio::test]
async fn a_lie_about_an_answer_is_told_of_it_alone_and_the_tree_is_true() {
    for kind in [RekorTilesLieKind::WrongInclusionProof, RekorTilesLieKind::AnotherBody] {
        let (lab, answers) = story(kind).await;
        let proof = Some("proof");
        assert_eq!(faults(&lab, &answers), [None, None, proof, None, proof, None], "{kind:?}");
        let is_before = body(&answers[2]) == body(&answers[1]) && body(&answers[4]) == body(&answers[3]);
        assert_eq!(is_before, kind == RekorTilesLieKind::AnotherBody);
        let (leaves, checkpoint) = served(&lab).await;
        assert_eq!(leaves, bundled(&lab, 6).await);
        assert_eq!(root_at(&leaves.into_iter().collect::<Tree>(), 6).unwrap(), checkpoint.root);
        owns_up(&lab, kind);
        lab.shutdown().await;
    }
}

#[tokio::test]
async fn where_a_lost_entry_was_proved_another_stands() {
    let (lab, answers) = story(RekorTilesLieKind::LostEntry).await;
    assert_eq!(faults(&lab, &answers), [None; 6]);
    let (leaves, checkpoint) = served(&lab).await;
    let stands: Vec<bool> =
        leaves.iter().zip(&answers).map(|(leaf, answer)| *leaf == leaf_hash(&body(answer))).collect();
    assert_eq!(stands, [true, true, false, true, false, true]);
    assert_eq!(leaves, bundled(&lab, 6).await);
    assert_eq!(root_at(&leaves.into_iter().collect::<Tree>(), 6).unwrap(), checkpoint.root);
    let (told, _) = lab.target().told_lies();
    assert_eq!(told[0].leaf_hash, Some(leaf_hash(&body(&answers[2]))));
    owns_up(&lab, RekorTilesLieKind::LostEntry);
    lab.shutdown().await;
}

#[tokio::test]
async fn a_forked_checkpoint_is_of_another_tree_with_its_own_tiles() {
    let lie = LieRule { after: 3, ..LieRule::of(RekorTilesLieKind::ForkedCheckpoint) };
    let lab = start(RekorTilesLabPlan { lies: vec![lie], ..quick() }).await;
    let mut answers = Vec::new();
    for number in 0..6u8 {
        answers.push(submit(&lab, hashedrekord_v2(&[number])).await.json(201));
    }
    assert_eq!(faults(&lab, &answers), [None; 6]);
    let (leaves, checkpoint) = served(&lab).await;
    let stands: Vec<bool> =
        leaves.iter().zip(&answers).map(|(leaf, answer)| *leaf == leaf_hash(&body(answer))).collect();
    assert_eq!(stands, [false, true, true, true, true, true]);
    assert_eq!(root_at(&leaves.into_iter().collect::<Tree>(), 6).unwrap(), checkpoint.root);
    let (told, _) = lab.target().told_lies();
    assert_eq!(
        (told.len(), told[0].kind, told[0].tree_size),
        (1, RekorTilesLieKind::ForkedCheckpoint, Some(3))
    );
    lab.shutdown().await;
}

#[tokio::test]
async fn an_altered_bundle_has_another_entry_than_the_tree_has_the_hash_of() {
    let (lab, answers) = story(RekorTilesLieKind::AlteredBundle).await;
    assert_eq!(faults(&lab, &answers), [None; 6]);
    let (leaves, checkpoint) = served(&lab).await;
    assert!(leaves.iter().zip(&answers).all(|(leaf, answer)| *leaf == leaf_hash(&body(answer))));
    assert_eq!(root_at(&leaves.iter().copied().collect::<Tree>(), 6).unwrap(), checkpoint.root);
    let stands: Vec<bool> =
        bundled(&lab, 6).await.iter().zip(&leaves).map(|(bundled, leaf)| bundled == leaf).collect();
    assert_eq!(stands, [true, true, false, true, false, true]);
    owns_up(&lab, RekorTilesLieKind::AlteredBundle);
    lab.shutdown().await;
}

/// Six entries, of which the fourth is in the first checkpoint that is lied about, or with.
async fn served_another(kind: RekorTilesLieKind) -> (RekorTilesLabHandle, Vec<Value>) {
    let lie = LieRule { after: 4, ..LieRule::of(kind) };
    let lab = start(RekorTilesLabPlan { lies: vec![lie], ..quick() }).await;
    let mut answers = Vec::new();
    for number in 0..6u8 {
        answers.push(submit(&lab, hashedrekord_v2(&[number])).await.json(201));
    }
    assert_eq!(faults(&lab, &answers), [None; 6]);
    let (told, _) = lab.target().told_lies();
    assert_eq!((told.len(), told[0].kind, told[0].tree_size), (1, kind, Some(4)));
    (lab, answers)
}

#[tokio::test]
async fn tiles_of_another_tree_do_not_lead_to_the_checkpoint_that_is_served() {
    let (lab, answers) = served_another(RekorTilesLieKind::TileOfAnotherTree).await;
    let (leaves, checkpoint) = served(&lab).await;
    let stands: Vec<bool> =
        leaves.iter().zip(&answers).map(|(leaf, answer)| *leaf == leaf_hash(&body(answer))).collect();
    assert_eq!(stands, [false, true, true, true, true, true]);
    let honest = bundled(&lab, 6).await.into_iter().collect::<Tree>();
    assert_eq!(root_at(&honest, 6).unwrap(), checkpoint.root);
    lab.shutdown().await;
}

#[tokio::test]
async fn a_checkpoint_that_is_rolled_back_is_of_half_the_tree_and_stays_so() {
    let (lab, answers) = served_another(RekorTilesLieKind::RolledBackCheckpoint).await;
    let (leaves, checkpoint) = served(&lab).await;
    assert_eq!((leaves.len(), checkpoint.size), (2, 2));
    let first: Tree = answers[..2].iter().map(|answer| leaf_hash(&body(answer))).collect();
    assert_eq!(root_at(&first, 2).unwrap(), checkpoint.root);
    lab.shutdown().await;
}
