//! Each lie is found out where it was told, and nowhere else; the log owns up to it; its honest twin keeps its word.

use std::time::Duration;

use hammer_lab::{CtLabHandle, CtLabPlan, LabError, Lie, LieKind, LogConfig, ToldLie, ct::Flavour};
use hammer_tlog::{
    ct::sct::{Sct, SctError},
    keys::key::SignatureError,
    logs::audit::{Breach, BundleFault, Finding, Kind, Verdict},
    logs::follow::{Event, Evidence, TileFault},
    logs::tile::TileId,
};
use hammer_values::{Count, TimeSpan};

use crate::{
    chains::Mint,
    client::{get, until},
    ct_log::{quick_plan, start, submit_many},
    watch::{BEGIN_MS, Watch},
};

/// A log that answers once an entry is sequenced, with checkpoints far enough apart to look at each.
fn plan(flavour: Flavour, lies: &[Lie]) -> CtLabPlan {
    CtLabPlan {
        flavour,
        lies: lies.to_vec(),
        batch_max_age: TimeSpan::from_millis(2),
        checkpoint_interval: TimeSpan::from_millis(50),
        enable_publication_awaiter: false,
        ..CtLabPlan::default()
    }
}

/// Ten entries of which the fourth and the eighth are lied about, then the first two once more.
async fn story(flavour: Flavour, lies: &[Lie]) -> (Watch, Vec<u64>) {
    let mint = Mint::new();
    let mut watch = Watch::start(plan(flavour, lies), &mint).await;
    let submitted = watch.submit(&mint, 100..110).await;
    let mut renewed = Vec::new();
    for (seq, chain, first) in &submitted[..2] {
        watch.clock.advance(Duration::from_millis(1));
        let again = watch.submit_chain(&mint, *seq, chain, true).await;
        if (again.timestamp_ms, &again.extensions) != (first.timestamp_ms, &first.extensions) {
            renewed.push(*seq);
        }
    }
    watch.publish(10 + renewed.len() as u64).await;
    watch.poll().await;
    (watch, renewed)
}

fn fourth_and_eighth(kind: LieKind) -> Lie {
    Lie { after: 3, every: Count::at_least_one(4), ..Lie::of(kind) }
}

fn broken(watch: &Watch) -> Vec<(u64, Option<u64>, Kind)> {
    let mut broken: Vec<_> = watch
        .verdicts
        .iter()
        .filter_map(|verdict| match verdict {
            Verdict::Broken(Breach { receipt, kind }) => Some((receipt.seq, receipt.index(), *kind)),
            Verdict::Kept(_) => None,
        })
        .collect();
    broken.sort_by_key(|(seq, ..)| *seq);
    broken
}

/// Kind, seq and index of what the log owns up to; its leaf hashes must be those of receipts, where there are any.
fn told(watch: &Watch) -> Vec<(LieKind, Option<u64>, Option<u64>)> {
    let lies = watch.lab.stats().lies;
    for lie in &lies {
        for verdict in &watch.verdicts {
            let (Verdict::Broken(Breach { receipt, .. })
            | Verdict::Kept(hammer_tlog::logs::audit::Kept { receipt, .. })) = verdict;
            if Some(receipt.seq) == lie.seq
                && !receipt.is_duplicate()
                && lie.kind != LieKind::DuplicateNewIndex
            {
                assert_eq!(lie.leaf_hash, Some(receipt.leaf), "{lie:?}");
            }
        }
    }
    lies.iter().map(|lie| (lie.kind, lie.seq, lie.index)).collect()
}

fn two(kind: LieKind, indices: [u64; 2]) -> Vec<(LieKind, Option<u64>, Option<u64>)> {
    vec![(kind, Some(103), Some(indices[0])), (kind, Some(107), Some(indices[1]))]
}

fn is_followed(watch: &Watch) -> bool {
    watch.events.iter().all(|event| matches!(event, Event::Grew { .. } | Event::First { .. }))
}

const FLAVOURS: [Flavour; 2] = [Flavour::StaticCt, Flavour::Rfc6962];

#[tokio::test]
async fn the_honest_twin_keeps_every_promise_and_lists_no_lie() {
    for flavour in FLAVOURS {
        let (watch, renewed) = story(flavour, &[]).await;
        assert_eq!((watch.refused.len(), broken(&watch), renewed), (0, vec![], vec![]));
        assert!(is_followed(&watch) && watch.findings.is_empty(), "{:?}", watch.events);
        assert_eq!(watch.verdicts.len(), 12);
        let stats = watch.lab.stop();
        assert_eq!((stats.lies.len(), stats.unlisted_lies), (0, 0));
        assert!(!serde_json::to_string(&stats).unwrap().contains("lies"));
    }
}

#[tokio::test]
async fn a_bad_sct_signature_does_not_verify() {
    for flavour in FLAVOURS {
        let (watch, _) = story(flavour, &[fourth_and_eighth(LieKind::BadSctSignature)]).await;
        let [(103, first), (107, second)] = &watch.refused[..] else { panic!("{:?}", watch.refused) };
        for error in [first, second] {
            assert!(matches!(error, SctError::BadSignature(SignatureError::Invalid)), "{error}");
        }
        assert_eq!((broken(&watch), watch.verdicts.len()), (vec![], 10));
        assert!(is_followed(&watch) && watch.findings.is_empty());
        assert_eq!(told(&watch), two(LieKind::BadSctSignature, [3, 7]));
    }
}

#[tokio::test]
async fn an_sct_of_another_log_has_that_logs_id() {
    for flavour in FLAVOURS {
        let (watch, _) = story(flavour, &[fourth_and_eighth(LieKind::SctOfAnotherLog)]).await;
        let [(103, first), (107, second)] = &watch.refused[..] else { panic!("{:?}", watch.refused) };
        for error in [first, second] {
            assert!(matches!(error, SctError::WrongLogId { .. }), "{error}");
        }
        assert_eq!(broken(&watch), []);
        assert_eq!(told(&watch), two(LieKind::SctOfAnotherLog, [3, 7]));
    }
}

#[tokio::test]
async fn a_wrong_index_is_anothers() {
    let (watch, _) = story(Flavour::StaticCt, &[fourth_and_eighth(LieKind::WrongIndex)]).await;
    let found =
        [(103, Some(4), Kind::WrongIndex { holds: 3 }), (107, Some(8), Kind::WrongIndex { holds: 7 })];
    assert_eq!(broken(&watch), found);
    assert!(watch.refused.is_empty() && is_followed(&watch) && watch.findings.is_empty());
    assert_eq!(told(&watch), two(LieKind::WrongIndex, [4, 8]));
    assert_eq!(watch.lab.stats().lies[0].holds, Some(3));
}

#[tokio::test]
async fn a_lost_leaf_has_another_in_its_place() {
    let (watch, _) = story(Flavour::StaticCt, &[fourth_and_eighth(LieKind::LostLeaf)]).await;
    let broken = broken(&watch);
    let [(103, Some(3), Kind::LostLeaf { .. }), (107, Some(7), Kind::LostLeaf { .. })] = &broken[..] else {
        panic!("{broken:?}")
    };
    assert!(watch.refused.is_empty() && is_followed(&watch) && watch.findings.is_empty());
    assert_eq!(told(&watch), two(LieKind::LostLeaf, [3, 7]));
}

#[tokio::test]
async fn a_lost_leaf_never_comes_up_in_get_entries() {
    let (mut watch, _) = story(Flavour::Rfc6962, &[fourth_and_eighth(LieKind::LostLeaf)]).await;
    assert_eq!(broken(&watch), [], "nothing is overdue yet");
    watch.overdue(BEGIN_MS * 2);
    let found = [103, 107].map(|seq| (seq, None, Kind::Overdue { published: None }));
    assert_eq!(broken(&watch), found);
    assert!(is_followed(&watch) && watch.findings.is_empty());
    assert_eq!(told(&watch), two(LieKind::LostLeaf, [3, 7]));
}

#[tokio::test]
async fn an_altered_leaf_differs_from_what_the_tree_has() {
    let (watch, _) = story(Flavour::StaticCt, &[fourth_and_eighth(LieKind::AlteredLeaf)]).await;
    let broken = broken(&watch);
    let [(103, Some(3), Kind::AlteredLeaf { .. }), (107, Some(7), Kind::AlteredLeaf { .. })] = &broken[..]
    else {
        panic!("{broken:?}")
    };
    let [Finding::TamperedBundle { index: 3, fault: BundleFault::Leaf { expected, .. }, .. }] =
        &watch.findings[..]
    else {
        panic!("{:?}", watch.findings)
    };
    assert_eq!(watch.lab.stats().lies[0].leaf_hash, Some(*expected));
    assert!(is_followed(&watch));
    assert_eq!(told(&watch), two(LieKind::AlteredLeaf, [3, 7]));
}

#[tokio::test]
async fn get_entries_with_an_altered_leaf_does_not_lead_to_the_root() {
    let (watch, _) = story(Flavour::Rfc6962, &[fourth_and_eighth(LieKind::AlteredLeaf)]).await;
    let [Finding::TamperedEntries { start: 0, size: 10, .. }] = watch.findings[..] else {
        panic!("{:?}", watch.findings)
    };
    assert!(is_followed(&watch));
    assert_eq!(told(&watch), two(LieKind::AlteredLeaf, [3, 7]));
}

#[tokio::test]
async fn a_tampered_tile_is_named_with_the_hash_that_is_wrong() {
    let (watch, _) = story(Flavour::StaticCt, &[fourth_and_eighth(LieKind::TamperedTile)]).await;
    let lies = watch.lab.stats().lies;
    let tampered = watch.events.iter().filter_map(|event| match event {
        Event::TamperedTile { tile, fault: TileFault::Hash { position, expected, .. }, .. } => {
            Some((tile.full(), *position, Some(*expected)))
        }
        _ => None,
    });
    let tile = TileId::hashes(0, 0);
    assert_eq!(tampered.collect::<Vec<_>>(), [(tile, 3, lies[0].leaf_hash), (tile, 7, lies[1].leaf_hash)]);
    let broken = broken(&watch);
    let [(103, Some(3), Kind::TamperedTile { .. }), (107, Some(7), Kind::TamperedTile { .. })] = &broken[..]
    else {
        panic!("{broken:?}")
    };
    assert_eq!(told(&watch), two(LieKind::TamperedTile, [3, 7]));
}

#[tokio::test]
async fn a_tile_that_nobody_has_read_is_no_lie_yet() {
    let mint = Mint::new();
    let plan = plan(Flavour::StaticCt, &[Lie::of(LieKind::TamperedTile)]);
    let mut watch = Watch::start(plan, &mint).await;
    watch.submit(&mint, 0..2).await;
    watch.publish(2).await;
    assert_eq!(told(&watch), []);
    get(&format!("{}/tile/0/000.p/1", watch.lab.url)).await;
    assert_eq!(told(&watch), [(LieKind::TamperedTile, Some(0), Some(0))]);
}

#[tokio::test]
async fn a_duplicate_with_a_new_index_differs_from_its_first_answer() {
    for flavour in FLAVOURS {
        let lie = Lie { after: 1, ..Lie::of(LieKind::DuplicateNewIndex) };
        let (watch, renewed) = story(flavour, &[lie]).await;
        assert_eq!((renewed, broken(&watch)), (vec![101], vec![]));
        assert_eq!(told(&watch), [(LieKind::DuplicateNewIndex, Some(101), Some(10))]);
        let stats = watch.lab.stop();
        assert_eq!((stats.accepted, stats.tree_size), (12, 11));
    }
}

#[tokio::test]
async fn later_duplicates_of_a_renewed_entry_are_told_of_the_first() {
    let mint = Mint::new();
    let lie = Lie { times: Some(1), ..Lie::of(LieKind::DuplicateNewIndex) };
    let mut watch = Watch::start(plan(Flavour::StaticCt, &[lie]), &mint).await;
    let (seq, chain, first) = watch.submit(&mint, 0..1).await.remove(0);
    watch.clock.advance(Duration::from_millis(1));
    let second = watch.submit_chain(&mint, seq, &chain, true).await;
    let third = watch.submit_chain(&mint, seq, &chain, true).await;
    let index = |sct: &Sct| sct.leaf_index().unwrap();
    assert_eq!((index(&first), index(&second), index(&third)), (Some(0), Some(1), Some(0)));
    assert_eq!(first.timestamp_ms, third.timestamp_ms);
}

/// Six entries, published and looked at, then the checkpoint that the lie is about, without any growth.
async fn checkpoints(flavour: Flavour, kind: LieKind) -> (Watch, Mint) {
    let mint = Mint::new();
    let lie = Lie { at: Some(TimeSpan::from_millis(20_000)), ..Lie::of(kind) };
    let mut watch = Watch::start(plan(flavour, &[lie]), &mint).await;
    watch.submit(&mint, 0..6).await;
    watch.publish(6).await;
    watch.poll().await;
    assert!(is_followed(&watch) && told(&watch).is_empty());
    watch.clock.advance(Duration::from_millis(20_000));
    until(|| !watch.lab.stats().lies.is_empty()).await;
    (watch, mint)
}

#[tokio::test]
async fn a_forked_checkpoint_of_the_same_size_has_another_root() {
    for flavour in FLAVOURS {
        let (mut watch, _) = checkpoints(flavour, LieKind::ForkedCheckpoint).await;
        let [lie] = watch.lab.stats().lies[..] else { panic!("one lie") };
        until(|| lie.tree_size == Some(watch.lab.stats().published_size)).await;
        poll_until(&mut watch, |event| matches!(event, Event::Forked { .. })).await;
        let Some(Event::Forked { older, newer, evidence: Evidence::SameSize }) = watch.events.last() else {
            panic!("{:?}", watch.events)
        };
        assert_ne!(older.root, newer.root);
        assert_eq!(lie, checkpoint_lie(LieKind::ForkedCheckpoint, newer));
    }
}

#[tokio::test]
async fn a_forked_checkpoint_of_a_larger_tree_does_not_continue_the_older() {
    for flavour in FLAVOURS {
        let (mut watch, mint) = checkpoints(flavour, LieKind::ForkedCheckpoint).await;
        watch.submit(&mint, 6..9).await;
        watch.publish(9).await;
        watch.poll().await;
        let Some(Event::Forked { older, newer, evidence }) = watch.events.last() else {
            panic!("{:?}", watch.events)
        };
        assert_eq!((older.size, newer.size), (6, 9));
        match flavour {
            Flavour::StaticCt => assert_eq!(*evidence, Evidence::Rewritten),
            Flavour::Rfc6962 => assert!(matches!(evidence, Evidence::Prefix(_)), "{evidence:?}"),
        }
        assert_eq!(told(&watch), [(LieKind::ForkedCheckpoint, None, None)]);
    }
}

#[tokio::test]
async fn a_shrinking_tree_has_half_its_entries_once() {
    for flavour in FLAVOURS {
        let (mut watch, _) = checkpoints(flavour, LieKind::ShrinkingTree).await;
        until(|| watch.lab.stats().published_size == 3).await;
        watch.poll().await;
        let Some(Event::Shrank { older, newer }) = watch.events.last() else { panic!("{:?}", watch.events) };
        assert_eq!((older.size, newer.size), (6, 3));
        assert_eq!(watch.lab.stats().lies, [checkpoint_lie(LieKind::ShrinkingTree, newer)]);
        watch.publish(6).await;
        assert_eq!(watch.lab.stop().lies.len(), 1);
    }
}

fn checkpoint_lie(kind: LieKind, head: &hammer_tlog::logs::follow::Head) -> ToldLie {
    let (tree_size, root_hash) = (Some(head.size), Some(head.root));
    ToldLie { kind, seq: None, index: None, holds: None, leaf_hash: None, tree_size, root_hash }
}

/// The lie is listed an instant before its checkpoint is served.
async fn poll_until(watch: &mut Watch, found: impl Fn(&Event) -> bool) {
    for _ in 0..100 {
        watch.poll().await;
        if watch.events.last().is_some_and(&found) {
            return;
        }
    }
    panic!("{:?}", watch.events);
}

#[tokio::test]
async fn a_missed_merge_delay_holds_back_all_that_follows_where_an_index_is_promised() {
    let mint = Mint::new();
    let lie = Lie {
        after: 3,
        times: Some(1),
        late: Some(TimeSpan::from_millis(20_000)),
        ..Lie::of(LieKind::MmdMissed)
    };
    let mut watch = Watch::start(plan(Flavour::StaticCt, &[lie]), &mint).await;
    watch.submit(&mint, 0..6).await;
    watch.publish(3).await;
    watch.poll().await;
    assert_eq!((told(&watch), watch.verdicts.len()), (vec![], 3));
    // A head without the entries is dated behind that.
    watch.resigned(Duration::from_secs(61)).await;
    let missed: Vec<_> = (3..6).map(|at| (LieKind::MmdMissed, Some(at), Some(at))).collect();
    assert_eq!(told(&watch), missed, "the merge delay of 60 s is over");
    watch.poll().await;
    watch.clock.advance(Duration::from_secs(20));
    watch.publish(6).await;
    watch.poll().await;
    let seqs = broken(&watch).into_iter().map(|(seq, _, kind)| match kind {
        Kind::Overdue { published: Some(_) } => seq,
        kind => panic!("{kind:?}"),
    });
    assert_eq!(seqs.collect::<Vec<_>>(), [3, 4, 5]);
    assert!(watch.findings.is_empty());
    assert_eq!(told(&watch), missed);
}

#[tokio::test]
async fn a_missed_merge_delay_is_the_entrys_own_where_no_index_is_promised() {
    for late in [None, Some(TimeSpan::from_millis(20_000))] {
        let mint = Mint::new();
        let lie = Lie { after: 3, times: Some(1), late, ..Lie::of(LieKind::MmdMissed) };
        let mut watch = Watch::start(plan(Flavour::Rfc6962, &[lie]), &mint).await;
        watch.submit(&mint, 0..6).await;
        watch.publish(5).await;
        watch.poll().await;
        assert_eq!((told(&watch), watch.verdicts.len()), (vec![], 5));
        watch.resigned(Duration::from_secs(61)).await;
        assert_eq!(told(&watch), [(LieKind::MmdMissed, Some(3), None)]);
        if late.is_some() {
            watch.poll().await;
            watch.clock.advance(Duration::from_secs(20));
            watch.publish(6).await;
            watch.poll().await;
            let found = broken(&watch);
            assert!(matches!(found[..], [(3, None, Kind::Overdue { published: Some(_) })]), "{found:?}");
            assert_eq!(told(&watch), [(LieKind::MmdMissed, Some(3), Some(5))]);
        } else {
            watch.overdue(BEGIN_MS + 62_000 + 60_000);
            assert_eq!(broken(&watch), [(3, None, Kind::Overdue { published: None })]);
            assert_eq!(watch.lab.stop().tree_size, 5);
        }
    }
}

#[tokio::test]
async fn a_fork_shows_beyond_the_tile_that_it_rewrites() {
    let mint = Mint::new();
    let lie = Lie { after: 300, ..Lie::of(LieKind::ForkedCheckpoint) };
    let mut watch = Watch::start(plan(Flavour::StaticCt, &[lie]), &mint).await;
    watch.submit_at_once(&mint, 0..290).await;
    watch.publish(290).await;
    watch.poll().await;
    watch.submit_at_once(&mint, 290..310).await;
    watch.publish(310).await;
    let lied = || !watch.lab.stats().lies.is_empty();
    crate::faults::advance_until(&watch.clock, Duration::from_millis(10), lied).await;
    watch.submit_at_once(&mint, 310..320).await;
    watch.publish(320).await;
    watch.poll().await;
    let Some(Event::Forked { older, newer, evidence }) = watch.events.last() else {
        panic!("{:?}", watch.events)
    };
    assert_eq!((older.size, newer.size), (290, 320));
    assert!(matches!(evidence, Evidence::Root { .. }), "{evidence:?}");
}

#[tokio::test]
async fn lies_are_counted_in_the_order_of_the_tree_however_many_submit_at_once() {
    let mint = Mint::new();
    let lie = Lie { after: 7, every: Count::at_least_one(50), times: Some(11), ..Lie::of(LieKind::LostLeaf) };
    let lab = start(CtLabPlan { lies: vec![lie], ..quick_plan() }, &mint).await;
    let accepted = submit_many(&lab, &mint, 0..600).await;
    let lies = lab.stop().lies;
    let indices: Vec<_> = lies.iter().map(|lie| lie.index.unwrap()).collect();
    assert_eq!(indices, (0..11).map(|nth| 7 + 50 * nth).collect::<Vec<_>>());
    for lie in &lies {
        assert_eq!(lie.leaf_hash.as_ref(), accepted.get(&lie.index.unwrap()));
        assert!(lie.seq.is_some_and(|seq| seq < 600));
    }
}

#[tokio::test]
async fn a_lie_without_meaning_is_refused() {
    let (indexed, unindexed) = (Flavour::StaticCt, Flavour::Rfc6962);
    let awaited =
        CtLabPlan { enable_publication_awaiter: true, ..plan(indexed, &[Lie::of(LieKind::MmdMissed)]) };
    let late = Some(TimeSpan::from_millis(1));
    for (at, plan) in [
        ("kind", awaited),
        ("kind", plan(unindexed, &[Lie::of(LieKind::WrongIndex)])),
        ("kind", plan(unindexed, &[Lie::of(LieKind::FarIndex)])),
        ("kind", plan(unindexed, &[Lie::of(LieKind::TamperedTile)])),
        ("late", plan(indexed, &[Lie { late, ..Lie::of(LieKind::LostLeaf) }])),
        ("every", plan(indexed, &[Lie { every: Count::at_least_one(2), ..Lie::of(LieKind::ShrinkingTree) }])),
        ("times", plan(indexed, &[Lie { times: Some(2), ..Lie::of(LieKind::ForkedCheckpoint) }])),
    ] {
        let refused = CtLabHandle::start(LogConfig::from_plan(plan).unwrap()).await;
        let Err(LabError::Plan { key, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(key, format!("lies[0].{at}"));
    }
}

#[test]
fn lies_read_from_a_plan_and_write_as_a_report_names_them() {
    let text = r#"{"lies": [{"kind": "lost-leaf", "after": 10, "every": 3}, {"kind": "forked-checkpoint", "at": "2s"},
        {"kind": "mmd-missed", "times": 1, "late": "1s"}]}"#;
    let plan: CtLabPlan = serde_json::from_str(text).unwrap();
    assert_eq!(plan.lies[0], Lie { after: 10, every: Count::at_least_one(3), ..Lie::of(LieKind::LostLeaf) });
    let written = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<CtLabPlan>(&written).unwrap(), plan);
    for unknown in [
        r#"{"lies": [{"kind": "white"}]}"#,
        r#"{"lies": [{"kind": "lost-leaf", "every": 0}]}"#,
        r#"{"lies": [{"kind": "lost-leaf", "often": 1}]}"#,
    ] {
        assert!(serde_json::from_str::<CtLabPlan>(unknown).is_err(), "{unknown}");
    }
}
