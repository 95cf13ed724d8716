use std::sync::Arc;

use hammer_ct::{LogKind, LogTarget, ReadPlan, ReadWorkload, SubmitPlan, SubmitWorkload};
use hammer_lab::ct::Flavour;
use hammer_lab::{CtLabHandle, CtLabPlan};
use hammer_measure::{Detail, Fate};
use hammer_tlog::key::LogKey;

use crate::canned;
use crate::harness::{Outcome, TestRun, client, lab, target};

/// A log of `flavour` that has 300 leaves: a full tile and a partial one.
fn grown(flavour: Flavour) -> (CtLabHandle, LogTarget) {
    let plan = SubmitPlan::default();
    let lab = lab(&plan, CtLabPlan { flavour, ..CtLabPlan::default() });
    let log = target(&lab, flavour);
    let mut run = TestRun::new();
    let submit = SubmitWorkload::new(&plan, Arc::new(log.clone()), client(&log), &run.ct()).unwrap();
    run.load(submit, 1_000.0, 300);
    run.run().assert_kept(300);
    (lab, log)
}

fn read(log: LogTarget, plan: &ReadPlan, operations: u64) -> Outcome {
    let mut run = TestRun::new();
    let client = client(&log);
    let workload = ReadWorkload::new(plan, Arc::new(log), client, &run.ct()).unwrap();
    run.load(workload, 500.0, operations);
    run.run()
}

#[test]
fn checkpoints_are_verified_and_tiles_are_as_wide_as_they_should_be() {
    let (lab, log) = grown(Flavour::StaticCt);
    let outcome = read(log, &ReadPlan::default(), 200);
    let (checkpoints, tiles) = (outcome.fate(0, Fate::Accepted), outcome.fate(1, Fate::Accepted));
    assert_eq!(checkpoints + tiles, 200, "{:?} {:?}", outcome.causes(0), outcome.causes(1));
    assert!((20..70).contains(&checkpoints), "{checkpoints}: 20 of 100");
    let ledger = outcome.result.promises;
    assert_eq!(ledger.made, ledger.kept);
    assert!(ledger.made >= checkpoints);
    let stats = lab.stop();
    assert!(stats.requests["tile"][&200] >= tiles);
}

#[test]
fn tree_heads_are_verified_and_entries_are_counted() {
    let (lab, log) = grown(Flavour::Rfc6962);
    let outcome = read(log, &ReadPlan { tree_head_percent: 50, entries: 64, ..ReadPlan::default() }, 200);
    let (heads, entries) = (outcome.fate(0, Fate::Accepted), outcome.fate(1, Fate::Accepted));
    assert_eq!(heads + entries, 200, "{:?} {:?}", outcome.causes(0), outcome.causes(1));
    assert_eq!(lab.stop().requests["get-entries"][&200], entries);
}

#[test]
fn an_empty_tree_has_nothing_to_read_but_its_checkpoint() {
    let lab = lab(&SubmitPlan::default(), CtLabPlan::default());
    let log = target(&lab, Flavour::StaticCt);
    let outcome = read(log, &ReadPlan { tree_head_percent: 0, ..ReadPlan::default() }, 20);
    assert_eq!(outcome.fate(1, Fate::Accepted), 20, "{:?}", outcome.causes(1));
    outcome.assert_kept(20);
    assert!(!lab.stop().requests.contains_key("tile"));
}

#[test]
fn a_checkpoint_of_another_key_or_origin_is_a_broken_promise() {
    let (_lab, log) = grown(Flavour::StaticCt);
    let heads = ReadPlan { tree_head_percent: 100, ..ReadPlan::default() };
    let key: LogKey = include_str!("../../testdata/log-public-key.b64").parse().unwrap();
    read(LogTarget { key, ..log.clone() }, &heads, 10).assert_broken(10, "checkpoint signature");
    let origin = "127.0.0.1/other".to_owned();
    read(LogTarget { origin, ..log }, &heads, 10).assert_broken(10, "checkpoint origin");
}

#[test]
fn a_tree_head_of_another_key_is_a_broken_promise() {
    let (_lab, log) = grown(Flavour::Rfc6962);
    let key: LogKey = include_str!("../../testdata/log-public-key.b64").parse().unwrap();
    let heads = ReadPlan { tree_head_percent: 100, ..ReadPlan::default() };
    read(LogTarget { key, ..log }, &heads, 10).assert_broken(10, "sth signature");
}

#[test]
fn a_tree_head_that_is_none_is_malformed() {
    for kind in [LogKind::StaticCt, LogKind::Rfc6962] {
        let outcome = read(canned::log(kind, 200, "no tree head"), &ReadPlan::default(), 10);
        let malformed = (Fate::Malformed, Detail::Failure("answer is not a tree head"));
        assert_eq!(outcome.causes(1), [malformed]);
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
    let tiles = ReadPlan { tree_head_percent: 0, ..ReadPlan::default() };
    let outcome = read(without_partial_tile(256), &tiles, 10);
    assert_eq!(outcome.causes(1), [(Fate::Accepted, Detail::Status(200))]);
    let outcome = read(without_partial_tile(255), &tiles, 10);
    assert_eq!(outcome.causes(1), [(Fate::Malformed, Detail::Failure("tile of the wrong length"))]);
}

#[test]
fn a_plan_out_of_range_is_refused() {
    let log = Arc::new(canned::log(LogKind::StaticCt, 200, ""));
    for plan in [
        ReadPlan { tree_head_percent: 101, ..ReadPlan::default() },
        ReadPlan { entries: 0, ..ReadPlan::default() },
    ] {
        assert!(ReadWorkload::new(&plan, log.clone(), client(&log), &TestRun::new().ct()).is_err());
    }
}
