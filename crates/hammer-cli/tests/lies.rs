//! Every lie of a log in a process of its own is caught, and named as the log names it; its honest twin is believed.

#[path = "support/attended.rs"]
mod attended;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;

use std::collections::BTreeSet;
use std::fs;

use hammer_report::Report;
use rustix::process::Signal;
use serde_json::Value;

use hammer::{Started, command, hammer};
use on_time::exit_if_on_time;

/// Kind, seq and index.
type Named = (String, Option<u64>, Option<u64>);

/// What a run of a plan reports whose log is served apart, and what that log counted.
fn run(name: &str) -> (Report, Value) {
    run_of(&path(name))
}

fn run_of(plan: &str) -> (Report, Value) {
    let folder = tempfile::tempdir().unwrap();
    let lab = Started::of(command(&["lab", "ct", "--plan", plan]));
    let target = format!("target={{log: {}}}", lab.line_with("submission_url"));
    let mut run = command(&["run", plan, "--set", &target, "--out", "-"]);
    // Receipts, and the heads of a log that contradicts itself, are saved there.
    run.current_dir(folder.path());
    let report = Started::of(run).ended().report();
    lab.signal(Signal::INT);
    let ended = lab.ended();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    (report, serde_json::from_str(&ended.stdout).unwrap())
}

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}.yaml")
}

/// The lies that the log owns up to.
fn told(stats: &Value) -> Vec<Named> {
    assert!(stats["unlisted_lies"].is_null(), "{stats}");
    let lies = stats["lies"].as_array().into_iter().flatten();
    let one =
        |lie: &Value| (lie["kind"].as_str().unwrap().to_owned(), lie["seq"].as_u64(), lie["index"].as_u64());
    sorted(lies.map(one).collect())
}

/// The broken promises that the report names.
fn found(report: &Report) -> Vec<Named> {
    let one = |breach: &hammer_report::report::Breach| (breach.kind.clone(), breach.seq, breach.index);
    sorted(report.breaches.iter().map(one).collect())
}

fn sorted(mut named: Vec<Named>) -> Vec<Named> {
    named.sort();
    named
}

/// Runs the plan of a lie and its honest twin. `expected` is the least number of lies that is told, and a report calls each `found_as`.
fn is_caught(kind: &str, found_as: &str, expected: usize) {
    let (report, stats) = run(kind);
    let told = told(&stats);
    let is_it = |(told, ..): &Named| [kind, found_as].contains(&told.as_str());
    assert!(told.len() >= expected && told.iter().all(is_it), "{told:?}");
    let told: Vec<Named> =
        told.into_iter().map(|(_, seq, index)| (found_as.to_owned(), seq, index)).collect();
    assert_eq!(found(&report), told, "{:?}", report.breaches);
    assert_eq!((report.verdict.exit_code, report.promises.all.broken), (4, told.len() as u64));
    assert_eq!(report.promises.all.unchecked, 0);

    let (report, stats) = run(&format!("{kind}-honest"));
    assert!(self::told(&stats).is_empty() && report.breaches.is_empty(), "{stats} {:?}", report.breaches);
    let promises = &report.promises.all;
    assert!(promises.made >= 100 && promises.kept == promises.made, "{promises:?}");
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
}

macro_rules! lies {
    ($($test:ident: $kind:literal $(as $found:literal)?, $expected:literal;)+) => {
        $(
            #[test]
            fn $test() {
                is_caught($kind, [$($found,)? $kind][0], $expected);
            }
        )+

        const KINDS: &[&str] = &[$($kind),+];
    };
}

lies! {
    a_bad_sct_signature_is_caught: "bad-sct-signature", 3;
    an_sct_of_another_log_is_caught: "sct-of-another-log", 3;
    an_answer_without_an_sct_is_caught: "unreadable-sct", 7;
    a_wrong_index_is_caught: "wrong-index", 3;
    an_index_far_beyond_the_tree_is_caught: "far-index" as "wrong-index", 3;
    a_lost_leaf_is_caught: "lost-leaf", 3;
    an_altered_leaf_is_caught: "altered-leaf", 3;
    an_altered_chain_is_caught: "altered-chain", 3;
    a_chain_in_the_other_order_is_caught: "reversed-chain" as "altered-chain", 3;
    an_altered_precertificate_is_caught: "altered-precertificate", 3;
    a_forked_checkpoint_is_caught: "forked-checkpoint", 1;
    a_shrinking_tree_is_caught: "shrinking-tree", 1;
    a_checkpoint_of_the_future_is_caught: "future-checkpoint", 1;
    a_checkpoint_that_is_dated_back_is_caught: "backdated-checkpoint", 1;
    a_tampered_tile_is_caught: "tampered-tile", 3;
    a_duplicate_with_a_new_index_is_caught: "duplicate-new-index", 3;
    a_checkpoint_that_is_rolled_back_is_caught: "rolled-back-checkpoint" as "mmd-missed", 50;
    a_missed_merge_delay_is_caught: "mmd-missed", 50;
}

/// The next index is in the bundle behind that of the leaf.
#[test]
fn a_wrong_index_beyond_the_edge_of_a_bundle_is_caught() {
    let text = fs::read_to_string(path("wrong-index")).unwrap();
    let edge = text.replace("after: 50, every: 100, times: 3", "after: 255, times: 1");
    let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    fs::write(file.path(), &edge).unwrap();
    assert_ne!(edge, text);
    let (report, stats) = run_of(file.path().to_str().unwrap());
    let told = told(&stats);
    assert_eq!(told.iter().map(|(_, _, index)| *index).collect::<Vec<_>>(), [Some(256)]);
    assert_eq!((found(&report), report.promises.all.unchecked), (told, 0), "{:?}", report.breaches);
    assert_eq!(report.verdict.exit_code, 4);
}

#[test]
fn a_twin_differs_in_nothing_but_the_lies() {
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    let body = |text: &str| -> Vec<String> {
        let is_same =
            |line: &&str| !["#", "name:", "      lies:"].iter().any(|other| line.starts_with(other));
        text.lines().filter(is_same).map(str::to_owned).collect()
    };
    let mut expected = BTreeSet::new();
    for kind in KINDS {
        let twin = format!("{kind}-honest");
        assert!(text(kind).contains(&format!("      lies: [ {{ kind: {kind}, ")), "{kind}");
        assert!(!text(&twin).contains("      lies:"), "{twin}");
        assert_eq!(body(&text(kind)), body(&text(&twin)), "{kind}");
        for name in [kind, twin.as_str()] {
            let ended = hammer(&["plan", &path(name)]);
            assert_eq!(ended.code, 0, "{}", ended.stderr);
        }
        expected.extend([format!("{kind}.yaml"), format!("{twin}.yaml")]);
    }
    // The lies of other services are in folders of their own.
    let files = fs::read_dir(FOLDER).unwrap().map(Result::unwrap).filter(|file| file.path().is_file());
    let names = files.map(|file| file.file_name().into_string().unwrap());
    assert_eq!(names.collect::<BTreeSet<_>>(), expected);
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/lies");
