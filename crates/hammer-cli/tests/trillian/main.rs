//! `hammer run` on an embedded log of Trillian that lives in the test's own process: what is reported is held against what the log says
//! that it did; its lies are caught, and its honest twin is believed.

#[path = "../support/hammer.rs"]
mod hammer;
#[path = "../support/on_time.rs"]
mod on_time;

use std::collections::BTreeSet;
use std::fs;

use hammer_lab_sigstore::{TrillianLabHandle, TrillianLabPlan, TrillianLieKind};
use hammer_report::Report;
use hammer_report::report::Series;
use serde_json::{Value, json};

use hammer::{Ended, Started, command, hammer};
use on_time::exit_if_on_time;

/// A log, and what a plan came to on it.
struct Came {
    ended: Ended,
    log: TrillianLabHandle,
}

impl Came {
    fn report(&self) -> Report {
        self.ended.report()
    }
}

fn path(name: &str) -> String {
    format!("{}/../../configs/{name}.yaml", env!("CARGO_MANIFEST_DIR"))
}

fn embedded(name: &str) -> TrillianLabPlan {
    let plan: Value = serde_saphyr::from_str(&fs::read_to_string(path(name)).unwrap()).unwrap();
    serde_json::from_value(plan["target"]["lab"]["trillian"].clone()).unwrap()
}

/// Runs a plan on its embedded log, which lives in this process.
fn run(name: &str, target: &Value, changes: &[&str]) -> Came {
    let lab = embedded(name);
    let tree_id = lab.tree_id;
    let log = TrillianLabHandle::spawn(lab).unwrap();
    let mut all = json!({ "url": log.url, "tree_id": tree_id, "integration_delay": "2s" });
    for (key, value) in target.as_object().unwrap() {
        all[key] = value.clone();
    }
    let folder = tempfile::tempdir().unwrap();
    let target = format!("target={}", json!({ "trillian": all }));
    let mut run = command(&["run", &path(name), "--set", &target, "--out", "-"]);
    run.args(changes.iter().flat_map(|change| ["--set", change])).current_dir(folder.path());
    Came { ended: Started::of(run).ended(), log }
}

fn of<'a>(report: &'a Report, path: &str) -> &'a Series {
    let mut series = report.series.iter();
    series.find(|series| series.path == path).unwrap_or_else(|| panic!("no series {path}"))
}

#[test]
fn every_call_is_counted_by_the_log_as_it_is_reported_and_every_leaf_is_found() {
    let came = run("trillian", &json!({}), &["phases={ measurement: 3s, drain: 30s }"]);
    let report = came.report();
    let promises = &report.promises.all;
    assert_eq!(promises.made, promises.kept, "{:?} {:?}", report.breaches, report.promises);
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    let stats = came.log.stats();
    let queued = of(&report, "queue/queue-leaf").measurement.counts.fates.accepted;
    assert!(queued > 0);
    assert_eq!(
        (stats.requests["queue-leaf"][&200], stats.distinct, stats.tree_size),
        (queued, queued, queued)
    );
    for call in [
        "get-latest-signed-log-root",
        "get-inclusion-proof",
        "get-inclusion-proof-by-hash",
        "get-leaves-by-range",
    ] {
        let accepted = of(&report, &format!("read/{call}")).measurement.counts.fates.accepted;
        assert!(accepted > 0 && stats.requests.contains_key(call), "{call} {stats:?}");
    }
    let kinds: BTreeSet<&str> = report.promises.by_kind.iter().map(|kind| kind.kind.as_str()).collect();
    assert_eq!(kinds, BTreeSet::from(["inclusion", "integrated", "leaf", "root"]));
}

/// Runs the plan of a lie and its honest twin; every broken promise has one of those names.
fn is_caught(kind: TrillianLieKind, least: usize, broken: &[&str]) -> Came {
    let word = serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned();
    let came = run(&format!("lies/trillian/{word}"), &json!({}), &[]);
    let report = came.report();
    let (told, unlisted) = came.log.target().told_lies();
    assert_eq!((told.len(), unlisted), (least, 0), "{told:?}");
    assert!(told.iter().all(|lie| lie.kind == kind), "{told:?}");
    assert_eq!(report.verdict.exit_code, 4, "{:?}", report.verdict);
    let names: BTreeSet<&str> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert!(!names.is_empty() && names.iter().all(|name| broken.contains(name)), "{names:?}");

    let honest = run(&format!("lies/trillian/{word}-honest"), &json!({}), &[]);
    let (report, promises) = (honest.report(), honest.report().promises.all);
    assert!(
        honest.log.target().told_lies().0.is_empty() && report.breaches.is_empty(),
        "{:?}",
        report.breaches
    );
    assert!(promises.made >= 200 && promises.kept == promises.made, "{promises:?}");
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    came
}

/// Look-ups keep the roots that they are answered, and hold proofs against them.
#[test]
fn every_root_that_a_look_up_was_answered_is_a_promise_of_its_own() {
    let changes =
        ["workloads.1.trillian.mix={ get-leaves-by-range: 0, queue-leaf: 1 }", "phases.measurement=2s"];
    let came = run("lies/trillian/lost-leaf-honest", &json!({}), &changes);
    let (report, stats) = (came.report(), came.log.stats());
    let roots: u64 = report
        .promises
        .by_kind
        .iter()
        .filter(|kind| kind.kind == "root")
        .map(|kind| kind.promises.kept)
        .sum();
    assert!(roots > 0, "{:?}", report.promises);
    assert_eq!(Some(&roots), stats.requests["get-latest-signed-log-root"].get(&200), "{:?}", report.promises);
}

#[test]
fn a_root_of_another_tree_is_caught() {
    // What is read back of the fork leads to no root of the tree that was seen before.
    let broken = ["forked-log-root", "consistency-proof", "inclusion-proof"];
    is_caught(TrillianLieKind::ForkedRoot, 1, &broken);
}

#[test]
fn a_proof_that_leads_nowhere_is_caught() {
    is_caught(TrillianLieKind::WrongInclusionProof, 3, &["inclusion-proof"]);
}

#[test]
fn a_leaf_that_is_lost_is_caught_and_no_other() {
    let came = is_caught(TrillianLieKind::LostLeaf, 3, &["lost-leaf"]);
    let report = came.report();
    assert_eq!(report.promises.all.broken, 3, "{:?}", report.breaches);
    let (told, _) = came.log.target().told_lies();
    for lie in told {
        let leaf = lie.leaf_hash.unwrap().to_string();
        assert!(
            report.breaches.iter().any(|breach| breach.detail.contains(&leaf)),
            "{leaf} {:?}",
            report.breaches
        );
    }
}

#[test]
fn a_leaf_that_is_read_back_as_another_is_caught() {
    is_caught(TrillianLieKind::AlteredLeaf, 3, &["altered-leaf"]);
}

#[test]
fn a_used_up_quota_is_pushback_and_a_tree_that_is_not_there_is_told_in_words() {
    let name = "lies/trillian/lost-leaf-honest";
    let lab = TrillianLabPlan {
        max_unsequenced: hammer_values::Count::at_least_one(2),
        sequencing_interval: hammer_values::TimeSpan::from_secs(60),
        ..embedded(name)
    };
    let log = TrillianLabHandle::spawn(lab).unwrap();
    let report = |tree_id: i64| {
        let target = format!(
            "target={}",
            json!({ "trillian": { "url": log.url, "tree_id": tree_id, "integration_delay": "1s" } })
        );
        let mut run = command(&[
            "run",
            &path(name),
            "--set",
            &target,
            "--out",
            "-",
            "--set",
            "workloads.0.trillian.looked_up=0%",
        ]);
        let folder = tempfile::tempdir().unwrap();
        run.current_dir(folder.path());
        Started::of(run).ended().report()
    };
    let quota = report(TrillianLabPlan::default().tree_id);
    let queue = &of(&quota, "queue/queue-leaf").measurement.counts.fates;
    assert_eq!((queue.accepted, queue.pushback), (2, 118), "{queue:?}");
    let foreign = report(42);
    let series = of(&foreign, "queue/queue-leaf");
    assert_eq!(series.measurement.counts.fates.refused, 120);
    assert!(serde_json::to_string(&series).unwrap().contains("no tree of this tree_id"), "{series:?}");
}

#[test]
fn a_plan_that_calls_nothing_or_has_no_tree_is_refused_with_its_key() {
    for (changes, told) in [
        (vec!["workloads.0.trillian.mix={}"], "workloads[0].trillian"),
        (vec!["workloads.0.trillian.mix={queue-leaves: 1}"], "queue-leaves"),
        (vec!["workloads.0.timeout=1s"], "integration_delay"),
        (vec!["target={url: \"http://127.0.0.1:1\"}"], "target.trillian"),
        (vec!["target={trillian: {url: \"http://127.0.0.1:1\"}}"], "tree_id"),
    ] {
        let plan = path("trillian");
        let mut args = vec!["plan", plan.as_str()];
        args.extend(changes.iter().flat_map(|change| ["--set", change]));
        let ended = hammer(&args);
        assert_eq!(ended.code, 2, "{changes:?} {}", ended.stderr);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
}

#[test]
fn a_twin_differs_in_nothing_but_the_lies() {
    let mut expected = BTreeSet::new();
    let body = |text: &str| -> Vec<String> {
        let is_same =
            |line: &&str| !["#", "name:", "      lies:"].iter().any(|other| line.starts_with(other));
        text.lines().filter(is_same).map(str::to_owned).collect()
    };
    for kind in ["forked-root", "wrong-inclusion-proof", "lost-leaf", "altered-leaf"] {
        let text = |name: &str| fs::read_to_string(path(&format!("lies/trillian/{name}"))).unwrap();
        let twin = format!("{kind}-honest");
        assert!(text(kind).contains(&format!("      lies: [ {{ kind: {kind}")), "{kind}");
        assert!(!text(&twin).contains("lies:"), "{twin}");
        assert_eq!(body(&text(kind)), body(&text(&twin)), "{kind}");
        expected.extend([format!("{kind}.yaml"), format!("{twin}.yaml")]);
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/lies/trillian");
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.collect::<BTreeSet<_>>(), expected);
}
