//! A log in a folder, and what remains of it.

use hammer_lab::{CtLabHandle, CtLabPlan, LabError, LogConfig};
use hammer_tlog::{
    logs::merkle::{consistency_proof, verify_consistency},
    logs::tile::{Level, TileId, TileReader},
};

use crate::{
    chains::{Mint, body},
    client::post,
    ct_log::{checkpoint, quick_plan, read_tiles, start, submit},
};

#[tokio::test]
async fn a_log_in_a_folder_goes_on_where_it_stopped() {
    let (mint, folder) = (Mint::new(), tempfile::tempdir().unwrap());
    let plan = CtLabPlan { storage_dir: Some(folder.path().into()), ..quick_plan() };
    let lab = start(plan.clone(), &mint).await;
    let chain = mint.chain(0);
    let (first, _) = submit(&lab, &mint, &chain, false).await;
    for seq in 1..20 {
        submit(&lab, &mint, &mint.precert_chain(seq), true).await;
    }
    let before = checkpoint(&lab).await;
    lab.shutdown().await;

    let lab = start(plan, &mint).await;
    assert_eq!(lab.stats().tree_size, 20);
    let (again, _) = submit(&lab, &mint, &chain, false).await;
    assert_eq!((again.timestamp_ms, again.leaf_index().unwrap()), (first.timestamp_ms, Some(0)));
    let (next, _) = submit(&lab, &mint, &mint.chain(20), false).await;
    assert_eq!(next.leaf_index().unwrap(), Some(20));
    let after = checkpoint(&lab).await;
    let tiles = read_tiles(&lab, 21).await;
    let reader = TileReader::new(|level, index| tiles.get(&(level, index)).cloned());
    let proof = consistency_proof(&reader, 20, 21).unwrap();
    verify_consistency(20, 21, &before.root, &after.root, &proof).unwrap();
    lab.shutdown().await;
}

#[tokio::test]
async fn the_folder_holds_what_is_served() {
    let (mint, folder) = (Mint::new(), tempfile::tempdir().unwrap());
    let plan = CtLabPlan { storage_dir: Some(folder.path().into()), ..quick_plan() };
    let lab = start(plan, &mint).await;
    submit(&lab, &mint, &mint.chain(0), false).await;
    submit(&lab, &mint, &mint.chain(1), false).await;
    for level in [Level::Hashes(0), Level::Data] {
        let path = TileId { level, index: 0, width: 2 }.path();
        let served = crate::client::get(&format!("{}/{path}", lab.url)).await;
        assert_eq!(std::fs::read(folder.path().join(path)).unwrap(), served.body);
    }
    let served = crate::client::get(&format!("{}/checkpoint", lab.url)).await;
    assert_eq!(std::fs::read(folder.path().join("checkpoint")).unwrap(), served.body);
    lab.shutdown().await;
}

#[tokio::test]
async fn a_log_that_cannot_store_an_entry_takes_none_from_then_on() {
    let (mint, folder) = (Mint::new(), tempfile::tempdir().unwrap());
    let root = folder.path().join("log");
    let lab = start(CtLabPlan { storage_dir: Some(root.clone()), ..quick_plan() }, &mint).await;
    submit(&lab, &mint, &mint.chain(0), false).await;
    std::fs::rename(&root, folder.path().join("moved")).unwrap();
    std::fs::write(&root, "in its way").unwrap();
    let url = format!("{}/ct/v1/add-chain", lab.url);
    for seq in 1..3 {
        let answer = post(&url, body(&mint.chain(seq))).await;
        assert_eq!(answer.status, 500, "{}", answer.text());
        assert!(answer.text().contains("couldn't store the leaf"), "{}", answer.text());
    }
    assert_eq!(checkpoint(&lab).await.size, 1);
    assert_eq!(lab.stop().published_size, 1);
}

#[tokio::test]
async fn a_folder_whose_entries_do_not_make_its_root_is_refused() {
    let (mint, folder) = (Mint::new(), tempfile::tempdir().unwrap());
    let plan = CtLabPlan { storage_dir: Some(folder.path().into()), ..quick_plan() };
    let lab = start(plan.clone(), &mint).await;
    submit(&lab, &mint, &mint.chain(0), false).await;
    lab.shutdown().await;
    let bundle = folder.path().join(TileId { level: Level::Data, index: 0, width: 1 }.path());
    let mut bytes = std::fs::read(&bundle).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&bundle, bytes).unwrap();
    let refused = CtLabHandle::start(LogConfig::from_plan(plan).unwrap()).await;
    assert!(matches!(refused, Err(LabError::Content { .. })), "{refused:?}");
}
