//! Reads as load, of either kind of log.

use std::sync::Arc;
use std::time::Duration;

use hammer_ct::{LogKind, LogTarget, ReadKind, ReadPlan, ReadWorkload, SubmitPlan, SubmitWorkload};
use hammer_lab::ct::{Flavour, Lie, LieKind};
use hammer_lab::fault::{FaultRule, FaultScript, Latency};
use hammer_lab::{CtLabHandle, CtLabPlan};
use hammer_measure::{Detail, Fate, Nanos};
use hammer_read::ReadPattern;
use hammer_tlog::ct::bundle::Entries;
use hammer_tlog::hash::Hash;
use hammer_tlog::keys::key::LogKey;
use hammer_values::{Count, TimeSpan};

use crate::canned;
use crate::harness::{Outcome, TestRun, client, lab, target, weights};
use crate::lagging;

/// A log of `flavour` that has 300 leaves: a full tile and a partial one.
fn grown(flavour: Flavour) -> (CtLabHandle, LogTarget) {
    grown_by(CtLabPlan { flavour, ..CtLabPlan::default() })
}

fn grown_by(log: CtLabPlan) -> (CtLabHandle, LogTarget) {
    let (plan, flavour) = (SubmitPlan::default(), log.flavour);
    let lab = lab(&plan, log);
    let log = target(&lab, flavour);
    let mut run = TestRun::new();
    let submit = SubmitWorkload::new(&plan, Arc::new(log.clone()), client(&log), &run.ct()).unwrap();
    run.load(submit, 1_000.0, 300);
    run.run().assert_kept(300);
    // A session that reads the head goes on to a larger tree, and with it to what that shows.
    published(&lab, 300);
    (lab, log)
}

/// Waits until the log has published so many leaves.
#[tokio::main(flavor = "current_thread")]
async fn published(lab: &CtLabHandle, leaves: u64) {
    let all = async {
        while lab.stats().published_size < leaves {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("all of it is published");
}

fn read(log: LogTarget, plan: &ReadPlan, operations: u64) -> Outcome {
    let mut run = TestRun::new();
    let client = client(&log);
    let workload = ReadWorkload::new(plan, Arc::new(log), client, &run.ct()).unwrap();
    run.load(workload, 500.0, operations);
    run.run()
}

fn mix(kinds: &[ReadKind]) -> ReadPlan {
    ReadPlan { mix: weights(kinds.iter().map(|kind| (*kind, 1u16))), ..ReadPlan::default() }
}

/// All reads were accepted, and each of them was verified.
fn assert_verified(outcome: &Outcome, kinds: usize, operations: u64) {
    let causes: Vec<_> = (0..=kinds).map(|series| outcome.causes(series)).collect();
    let accepted: Vec<u64> = (0..kinds).map(|series| outcome.fate(series, Fate::Accepted)).collect();
    assert!(accepted.iter().all(|accepted| *accepted > 0), "{accepted:?} {causes:?}");
    assert_eq!(accepted.iter().sum::<u64>(), operations, "{causes:?}");
    let ledger = outcome.result.promises;
    assert_eq!(ledger.made, ledger.kept, "{ledger:?} {:?} {causes:?}", outcome.result.breaches);
    assert!(ledger.made >= operations, "{ledger:?}");
}

const PATTERNS: [ReadPattern; 3] = [ReadPattern::Random, ReadPattern::Sequential, ReadPattern::NewestFirst];

#[test]
fn every_read_of_static_ct_is_verified_in_every_order() {
    let gzip = CtLabPlan { gzip: true, names_tiles: true, ..CtLabPlan::default() };
    for (log, pattern) in [CtLabPlan { names_tiles: true, ..CtLabPlan::default() }, gzip.clone(), gzip]
        .into_iter()
        .zip(PATTERNS)
    {
        let (_lab, log) = grown_by(log);
        let kinds =
            [ReadKind::Checkpoint, ReadKind::Tile, ReadKind::Bundle, ReadKind::Names, ReadKind::Issuer];
        let outcome = read(log, &ReadPlan { pattern, ..mix(&kinds) }, 100);
        assert_verified(&outcome, 5, 100);
        assert!(outcome.fate(5, Fate::Accepted) > 0, "tiles on the way to the root are read beside");
    }
}

#[test]
fn every_read_of_rfc_6962_is_verified_in_every_order() {
    let (_lab, log) = grown(Flavour::Rfc6962);
    let kinds = [
        ReadKind::GetSth,
        ReadKind::GetEntries,
        ReadKind::GetProofByHash,
        ReadKind::GetSthConsistency,
        ReadKind::GetEntryAndProof,
        ReadKind::GetRoots,
    ];
    for (pattern, entries) in PATTERNS.into_iter().zip([32, 33, 1].map(Count::at_least_one)) {
        let outcome = read(log.clone(), &ReadPlan { pattern, entries, ..mix(&kinds) }, 120);
        assert_verified(&outcome, 6, 120);
    }
}

/// Reads while the log grows from nothing, so that heads follow each other and partial tiles vanish.
fn while_it_grows(flavour: Flavour, plan: &ReadPlan) -> Outcome {
    let submissions = SubmitPlan::default();
    let lab = lab(&submissions, CtLabPlan { flavour, gzip: true, ..CtLabPlan::default() });
    let log = target(&lab, flavour);
    let mut run = TestRun::new();
    run.shards = 2;
    let submit = SubmitWorkload::new(&submissions, Arc::new(log.clone()), client(&log), &run.ct()).unwrap();
    run.load(submit, 400.0, 800);
    let client = client(&log);
    let reads = ReadWorkload::new(plan, Arc::new(log), client, &run.ct()).unwrap();
    run.load(reads, 150.0, 300);
    run.run()
}

#[test]
fn a_tree_that_grows_is_read_and_verified_at_its_edge() {
    let kinds = [ReadKind::Checkpoint, ReadKind::Tile, ReadKind::Bundle];
    let plan = ReadPlan { pattern: ReadPattern::NewestFirst, ..mix(&kinds) };
    let heads =
        [ReadKind::GetSth, ReadKind::GetSthConsistency, ReadKind::GetEntries, ReadKind::GetProofByHash];
    for (flavour, plan) in [(Flavour::StaticCt, plan), (Flavour::Rfc6962, mix(&heads))] {
        let outcome = while_it_grows(flavour, &plan);
        let ledger = outcome.result.promises;
        assert_eq!(ledger.made, ledger.kept, "{ledger:?} {:?}", outcome.result.breaches);
        assert!(ledger.made >= 1_000, "{ledger:?}");
    }
}

/// Bundles that are answered at once, while every tile that proves them takes longer than an operation may.
#[test]
fn a_read_is_not_held_up_by_the_tiles_that_prove_it() {
    let slow = Latency::Constant(TimeSpan::from_millis(30_000));
    let rule = FaultRule { endpoints: vec!["tile".into()], latency: Some(slow), ..FaultRule::default() };
    let faults = FaultScript { rules: vec![rule], ..FaultScript::default() };
    let (_lab, log) = grown_by(CtLabPlan { faults, ..CtLabPlan::default() });
    let mut run = TestRun::new();
    run.timeout = Nanos::from_secs(1);
    let client = client(&log);
    let reads = ReadWorkload::new(&mix(&[ReadKind::Bundle]), Arc::new(log), client, &run.ct()).unwrap();
    // Four slots would be taken by the first four reads, were the tiles of their operations.
    run.load_with(reads, 50.0, 96, 4);
    let outcome = run.run();
    assert_eq!(outcome.fate(0, Fate::Accepted), 96, "{:?}", outcome.causes(0));
    assert!(outcome.fate(1, Fate::TimedOut) > 0, "the tile that hangs has its samples");
    let ledger = outcome.result.promises;
    // A tree head was read besides, by each read that started before the first one was there, and those are kept.
    assert!(ledger.kept >= 1 && ledger.made == ledger.kept + 96, "{ledger:?}");
    assert_eq!(ledger.unchecked, 96, "{ledger:?}");
}

/// A log that lies once, about the entry of index 20.
fn lying(flavour: Flavour, kind: LieKind) -> (CtLabHandle, LogTarget) {
    let lies = vec![Lie { after: 20, times: Some(1), ..Lie::of(kind) }];
    grown_by(CtLabPlan { flavour, lies, ..CtLabPlan::default() })
}

/// Half of four sequential reads met the lie; besides them there was a tree head.
fn assert_half_broken(outcome: &Outcome, kind: &str, detail: &str) {
    let ledger = outcome.result.promises;
    assert_eq!(
        (ledger.made, ledger.kept, ledger.broken),
        (5, 3, 2),
        "{ledger:?} {:?}",
        outcome.result.breaches
    );
    for breach in &outcome.result.breaches {
        assert_eq!(breach.kind, kind, "{breach:?}");
        assert!(breach.detail.contains(detail), "{breach:?}");
    }
}

#[test]
fn a_tampered_tile_is_found_by_reading_it() {
    let sequential = |kind| ReadPlan { pattern: ReadPattern::Sequential, ..mix(&[kind]) };
    for kind in [ReadKind::Tile, ReadKind::Bundle] {
        let (_lab, log) = lying(Flavour::StaticCt, LieKind::TamperedTile);
        let run = one_at_a_time(log, &sequential(kind), 4);
        assert_half_broken(&run, "tampered-tile", "tile/0/000 does not lead to the root");
        run.result.breaches.iter().for_each(|breach| assert_eq!(breach.seq.unwrap() % 2, 0, "{breach:?}"));
    }
}

#[test]
fn an_altered_leaf_is_found_by_reading_its_bundle() {
    let (_lab, log) = lying(Flavour::StaticCt, LieKind::AlteredLeaf);
    let plan = ReadPlan { pattern: ReadPattern::Sequential, ..mix(&[ReadKind::Bundle]) };
    assert_half_broken(
        &one_at_a_time(log.clone(), &plan, 4),
        "altered-leaf",
        "tile/data/000: the entry of index 20",
    );
    let tiles = ReadPlan { mix: weights([(ReadKind::Tile, 1u16)]), ..plan };
    one_at_a_time(log, &tiles, 4).assert_kept(5);
}

/// A log of 300 leaves behind a front that answers what `alter` makes of a path and of what the log has at each; none is 404.
fn altered(
    plan: CtLabPlan,
    alter: impl Fn(&str, &dyn Fn(&str) -> Vec<u8>) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> (CtLabHandle, LogTarget) {
    let (lab, log) = grown_by(plan);
    let url = log.submission[0].clone();
    let front = canned::serve(move |path| {
        let get = |path: &str| {
            let path = format!("{}/{path}", url.path());
            lagging::get(url.authority().unwrap().as_str(), &path).1
        };
        let path = path.strip_prefix("/log/").unwrap();
        alter(path, &get).map_or((404, Vec::new()), |bytes| (200, bytes))
    });
    (lab, LogTarget { monitoring: vec![front.parse().unwrap()], ..log })
}

#[test]
fn what_stands_behind_the_last_entry_or_line_of_a_tile_is_a_broken_promise() {
    for (kind, level, more, breach) in [
        (ReadKind::Bundle, "tile/data/", b"\0".as_slice(), "altered-leaf"),
        (ReadKind::Names, "tile/names/", b"{\"Timestamp\":1}\n", "altered-names"),
        (ReadKind::Names, "tile/names/", b"{", "altered-names"),
    ] {
        let names = CtLabPlan { names_tiles: true, ..CtLabPlan::default() };
        let (_lab, log) = altered(names, move |path, get| {
            let more = if path.starts_with(level) { more } else { &[] };
            let bytes = get(path);
            // Names tiles are compressed.
            Some([&hammer_net::gunzip(&bytes, 1 << 20).unwrap_or(bytes), more].concat())
        });
        let outcome = one_at_a_time(log, &mix(&[kind]), 10);
        let ledger = outcome.result.promises;
        assert_eq!((ledger.kept, ledger.broken), (1, 10), "{ledger:?} {:?}", outcome.result.breaches);
        for found in &outcome.result.breaches {
            assert!(found.kind == breach && found.detail.contains(": behind its "), "{found:?}");
            assert!(matches!(found.index, Some(256 | 300)), "{found:?}");
        }
    }
}

#[test]
fn a_bundle_in_the_place_of_a_partial_one_is_the_full_one() {
    let newest = ReadPlan { pattern: ReadPattern::NewestFirst, ..mix(&[ReadKind::Bundle]) };
    for (entries, broken) in [(256, 0), (255, 1)] {
        let (_lab, log) = altered(CtLabPlan::default(), move |path, get| match path {
            "tile/data/001.p/44" => None,
            "tile/data/001" => {
                // The tree has 44 of these; what the others are, its head does not say.
                let mut bundle = get("tile/data/001.p/44");
                let mut first = Vec::new();
                Entries::new(&bundle).next().unwrap().unwrap().encode(&mut first).unwrap();
                bundle.extend(first.repeat(entries - 44));
                Some(bundle)
            }
            path => Some(get(path)),
        });
        let outcome = one_at_a_time(log, &newest, 1);
        let ledger = outcome.result.promises;
        assert_eq!((ledger.made, ledger.broken), (2, broken), "{entries} {:?}", outcome.result.breaches);
    }
}

#[test]
fn an_altered_leaf_is_found_by_reading_its_entries() {
    let (_lab, log) = lying(Flavour::Rfc6962, LieKind::AlteredLeaf);
    let plan = ReadPlan {
        pattern: ReadPattern::Sequential,
        entries: Count::at_least_one(150),
        ..mix(&[ReadKind::GetEntries])
    };
    assert_half_broken(&one_at_a_time(log, &plan, 4), "tampered-entries", "entries 0 to 149");
}

/// The proof beside entries leads from the leaf that stands beside it, or it is not honest, whatever the path says.
#[test]
fn an_altered_leaf_beside_an_honest_path_is_found_by_the_entries_that_it_proves() {
    let plan = CtLabPlan { flavour: Flavour::Rfc6962, ..CtLabPlan::default() };
    let (_lab, log) = altered(plan, |path, get| {
        let answer = get(path);
        if !path.contains("get-entry-and-proof") {
            return Some(answer);
        }
        let mut answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
        // A leaf of another time.
        let leaf = answer["leaf_input"].as_str().unwrap();
        let (kept, altered) = leaf.split_at(8);
        answer["leaf_input"] =
            format!("{kept}{}{}", altered[..4].chars().rev().collect::<String>(), &altered[4..]).into();
        Some(answer.to_string().into())
    });
    let log = LogTarget { submission: log.monitoring.clone(), ..log };
    let outcome = one_at_a_time(log, &mix(&[ReadKind::GetEntries]), 10);
    let ledger = outcome.result.promises;
    assert_eq!((ledger.kept, ledger.broken), (1, 10), "{ledger:?} {:?}", outcome.result.breaches);
    for breach in &outcome.result.breaches {
        assert!(breach.kind == "inclusion-proof" && breach.index.is_some(), "{breach:?}");
    }
}

/// Each read waits for the one before, so that only the first of them reads a tree head.
fn one_at_a_time(log: LogTarget, plan: &ReadPlan, operations: u64) -> Outcome {
    let mut run = TestRun::new();
    let client = client(&log);
    let workload = ReadWorkload::new(plan, Arc::new(log), client, &run.ct()).unwrap();
    run.load_with(workload, 500.0, operations, 1);
    run.run()
}

/// A log of 300 leaves behind a server of its folder, which answers `status` of whatever is in `tile/1/`.
fn without_upper_tiles(status: u16) -> LogTarget {
    let folder = tempfile::tempdir().unwrap();
    let storage_dir = Some(folder.path().to_owned());
    let (_lab, log) = grown_by(CtLabPlan { storage_dir, ..CtLabPlan::default() });
    let url = canned::serve(move |path| match path.strip_prefix("/log/").unwrap() {
        path if path.starts_with("tile/1/") => (status, Vec::new()),
        path => std::fs::read(folder.path().join(path)).map_or((404, Vec::new()), |bytes| (200, bytes)),
    });
    LogTarget { monitoring: vec![url.parse().unwrap()], ..log }
}

#[test]
fn what_cannot_be_held_against_the_tree_is_unchecked() {
    let outcome = one_at_a_time(without_upper_tiles(503), &mix(&[ReadKind::Tile]), 10);
    let ledger = outcome.result.promises;
    assert_eq!((ledger.kept, ledger.unchecked), (1, 10), "{ledger:?}");
    assert_eq!(outcome.fate(0, Fate::Accepted), 10);
    assert_eq!(
        outcome.causes(1),
        [(Fate::Accepted, Detail::Status(200)), (Fate::Pushback, Detail::Status(503))]
    );
}

#[test]
fn a_proof_that_came_whole_and_cannot_be_read_is_a_broken_promise() {
    let (_lab, log) = grown(Flavour::Rfc6962);
    let proofs = ["get-entry-and-proof", "get-proof-by-hash", "get-sth-consistency"];
    let log =
        lagging::refusing(&log, move |_, path| proofs.iter().any(|name| path.contains(name)).then_some(200));
    for (kind, fate) in [
        (ReadKind::GetEntries, Fate::Accepted),
        (ReadKind::GetEntryAndProof, Fate::Malformed),
        (ReadKind::GetProofByHash, Fate::Malformed),
        (ReadKind::GetSthConsistency, Fate::Malformed),
    ] {
        let outcome = one_at_a_time(log.clone(), &mix(&[kind]), 10);
        let ledger = outcome.result.promises;
        assert_eq!((ledger.broken, ledger.unchecked), (10, 0), "{kind:?}: {ledger:?}");
        assert_eq!(outcome.fate(0, fate), 10, "{kind:?}: {:?}", outcome.causes(0));
        for breach in &outcome.result.breaches {
            assert_eq!(breach.kind, "unreadable-proof", "{breach:?}");
        }
    }
}

#[test]
fn a_tile_that_the_tree_has_and_the_log_has_not_is_a_broken_promise() {
    let outcome = one_at_a_time(without_upper_tiles(404), &mix(&[ReadKind::Tile]), 10);
    let ledger = outcome.result.promises;
    assert_eq!((ledger.kept, ledger.broken), (1, 10), "{ledger:?}");
    for breach in &outcome.result.breaches {
        assert_eq!(
            (breach.kind.as_str(), breach.detail.as_str()),
            ("missing-tile", "tile/1/000.p/1 is not served")
        );
    }
}

#[test]
fn by_default_a_fifth_of_the_reads_is_of_the_tree_head() {
    for (flavour, kinds) in [(Flavour::StaticCt, vec![40, 80, 80]), (Flavour::Rfc6962, vec![40, 160])] {
        let (_lab, log) = grown(flavour);
        let outcome = read(log, &ReadPlan::default(), 200);
        assert_verified(&outcome, kinds.len(), 200);
        let accepted: Vec<u64> =
            (0..kinds.len()).map(|series| outcome.fate(series, Fate::Accepted)).collect();
        assert_eq!(accepted, kinds);
    }
}

#[test]
fn an_empty_tree_has_nothing_to_read_but_its_checkpoint() {
    let lab = lab(&SubmitPlan::default(), CtLabPlan::default());
    let log = target(&lab, Flavour::StaticCt);
    let outcome = read(log, &mix(&[ReadKind::Tile]), 20);
    assert_eq!(outcome.fate(0, Fate::Accepted), 20, "{:?}", outcome.causes(0));
    outcome.assert_kept(20);
    assert!(!lab.stop().requests.contains_key("tile"));
}

#[test]
fn a_checkpoint_of_another_key_or_origin_is_a_broken_promise() {
    let (_lab, log) = grown(Flavour::StaticCt);
    let heads = mix(&[ReadKind::Checkpoint]);
    let key: LogKey = include_str!("../../testdata/log-public-key.b64").parse().unwrap();
    read(LogTarget { key, ..log.clone() }, &heads, 10).assert_broken(10, "checkpoint-signature");
    let origin = "127.0.0.1/other".to_owned();
    read(LogTarget { origin, ..log }, &heads, 10).assert_broken(10, "checkpoint-origin");
}

#[test]
fn a_tree_head_of_another_key_is_a_broken_promise() {
    let (_lab, log) = grown(Flavour::Rfc6962);
    let key: LogKey = include_str!("../../testdata/log-public-key.b64").parse().unwrap();
    read(LogTarget { key, ..log }, &mix(&[ReadKind::GetSth]), 10).assert_broken(10, "sth-signature");
}

/// One tree head was forged, and `reads` were held against it: that head is one broken promise, and each of them is unchecked.
fn assert_head_alone_is_broken(outcome: &Outcome, kind: &str, reads: u64) {
    let ledger = outcome.result.promises;
    let told = (&outcome.result.breaches, &outcome.notes);
    assert_eq!((ledger.broken, ledger.unchecked), (1, reads), "{ledger:?} {told:?}");
    assert_eq!(ledger.made, ledger.kept + 1 + reads, "{ledger:?} {told:?}");
    let found: Vec<&str> = outcome.result.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert_eq!(found, [kind], "{told:?}");
    let is_told = |note: &String| note.contains("a head that was served is not the log's");
    assert!(outcome.notes.iter().any(is_told), "{told:?}");
}

#[test]
fn a_forged_tree_head_is_one_broken_promise_and_what_is_held_against_it_is_unchecked() {
    let (_lab, log) = grown(Flavour::Rfc6962);
    let forged = lagging::forging(&log, |head| {
        let mut head: serde_json::Value = serde_json::from_str(&head).unwrap();
        head["sha256_root_hash"] = Hash([0; 32]).to_base64().into();
        head.to_string()
    });
    let kinds = [
        ReadKind::GetEntries,
        ReadKind::GetProofByHash,
        ReadKind::GetSthConsistency,
        ReadKind::GetEntryAndProof,
    ];
    assert_head_alone_is_broken(&one_at_a_time(forged, &mix(&kinds), 20), "sth-signature", 20);
}

#[test]
fn a_forged_checkpoint_is_one_broken_promise_whether_tiles_of_its_tree_are_there_or_not() {
    let names_tiles = CtLabPlan { names_tiles: true, ..CtLabPlan::default() };
    let (_lab, log) = grown_by(names_tiles);
    let with_line = |place: usize, other: String| {
        lagging::forging(&log, move |head| {
            let lines = head.split('\n').enumerate();
            let lines = lines.map(|(nth, line)| if nth == place { other.as_str() } else { line });
            lines.collect::<Vec<_>>().join("\n")
        })
    };
    let another_root = with_line(2, Hash([0; 32]).to_base64());
    let kinds = [ReadKind::Tile, ReadKind::Bundle, ReadKind::Names];
    let outcome = one_at_a_time(another_root, &mix(&kinds), 20);
    assert_head_alone_is_broken(&outcome, "checkpoint-signature", 20);
    // Of a tree that is as large, the log has the full tiles alone.
    let larger = with_line(1, "600".to_owned());
    let outcome = one_at_a_time(larger, &mix(&kinds[..2]), 20);
    assert_head_alone_is_broken(&outcome, "checkpoint-signature", 20);
}

#[test]
fn a_tree_head_that_is_none_is_malformed() {
    for (kind, other) in [(LogKind::StaticCt, ReadKind::Bundle), (LogKind::Rfc6962, ReadKind::GetEntries)] {
        let outcome = read(canned::log(kind, 200, "no tree head"), &mix(&[other]), 10);
        assert_eq!(outcome.causes(0), [(Fate::Malformed, Detail::Failure("answer is not a tree head"))]);
    }
}

/// A log of five leaves whose partial tile was collected, with `hashes` in the full one.
fn without_partial_tile(hashes: usize) -> LogTarget {
    let checkpoint =
        "127.0.0.1/log\n5\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— 127.0.0.1/log AAAAAAA=\n";
    let mut log = canned::log(LogKind::StaticCt, 200, "");
    let url = canned::serve(move |path| match path {
        "/log/checkpoint" => (200, checkpoint.into()),
        "/log/tile/0/000" => (200, vec![7; hashes * 32]),
        _ => (404, Vec::new()),
    });
    log.monitoring = vec![url.parse().unwrap()];
    log
}

#[test]
fn the_full_tile_is_read_where_the_partial_one_is_gone() {
    let tiles = mix(&[ReadKind::Tile]);
    let outcome = read(without_partial_tile(256), &tiles, 10);
    assert_eq!(outcome.causes(0), [(Fate::Accepted, Detail::Status(200))]);
    let outcome = read(without_partial_tile(255), &tiles, 10);
    assert_eq!(outcome.causes(0), [(Fate::Malformed, Detail::Failure("tile of the wrong length"))]);
}

#[test]
fn kinds_that_the_log_does_not_have_are_refused_by_their_key() {
    let log = Arc::new(canned::log(LogKind::StaticCt, 200, ""));
    let mixed = mix(&[ReadKind::Tile, ReadKind::GetSth]);
    let error = ReadWorkload::new(&mixed, log.clone(), client(&log), &TestRun::new().ct()).unwrap_err();
    assert_eq!(error.key(), Some("mix"));
    for nonsense in [r#"{"mix":{"tile":0}}"#, r#"{"entries":0}"#, r#"{"log":"a b"}"#] {
        assert!(serde_json::from_str::<ReadPlan>(nonsense).is_err(), "{nonsense}");
    }
}
