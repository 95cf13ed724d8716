//! What honest logs are not accused of, however oddly they are served, and what is found of those that are not.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/front.rs"]
mod front;
#[path = "accusations/fronts.rs"]
mod fronts;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "accusations/issuers.rs"]
mod issuers;
#[expect(dead_code, reason = "other tests have logs of either flavour")]
#[path = "support/log.rs"]
mod log;
#[path = "accusations/long_tiles.rs"]
mod long_tiles;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests have servers of their own")]
mod server;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hammer_lab::ct::Flavour;
use hammer_measure::Nanos;
use hammer_report::Report;
use hammer_report::report::Event;
use serde_json::{Value, json};

use folder::Folder;
use front::{Passed, front, read};
use fronts::{is_tile, is_tile_or_issuer, lagging, lagging_proofs, late, refusing};
use hammer::{Ended, hammer};
use log::Log;
use on_time::exit_if_on_time;

/// What a run of that plan reports.
fn run(plan: &Value) -> Report {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &plan.to_string());
    hammer(&["run", &plan, "--out", "-"]).report()
}

fn notes(report: &Report) -> Vec<&str> {
    let mut notes = Vec::new();
    for event in &report.events {
        if let Event::Note { text, .. } = event {
            notes.push(text.as_str());
        }
    }
    notes
}

/// The target of a plan that loads the log at that URL.
fn target(log: &Log, url: &str) -> Value {
    let (origin, key) = (log.lab.origin(), &log.key);
    json!({ "log": { "kind": log.kind, "submission_url": url, "origin": origin, "public_key": key } })
}

#[track_caller]
fn is_believed(report: &Report) {
    let promises = &report.promises.all;
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    assert!(promises.made > 0 && promises.kept == promises.made, "{promises:?} {:?}", notes(report));
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
}

#[test]
fn a_plan_with_fixed_dates_that_is_run_again_counts_as_resubmitted_and_says_so() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let mut target = target(&log, log.lab.url.as_str());
    // Less than lies between the two runs.
    target["log"]["skew"] = json!("2s");
    let submit = json!({ "not_before": "2026-01-01", "not_after": "2027-01-01" });
    let plan = json!({
        "target": target,
        "workloads": [{ "name": "submit", "ct_submit": submit, "load": { "rate": "50/s" } }],
        "phases": { "measurement": "2500ms" },
    });
    let reports = [run(&plan), run(&plan)];
    for report in &reports {
        is_believed(report);
    }
    for report in &reports {
        assert_eq!(report.tree_size.map(|size| size.last), Some(125.0), "both runs send the same leaves");
        let is_told = |note: &&str| note.starts_with("submit: its leaves have fixed dates");
        assert!(notes(report).iter().any(is_told), "{:?}", notes(report));
    }
}

/// `hammer ct COMMAND` on the log, read at `url`.
fn hammer_at(log: &Log, url: &str, command: &str, more: &[&str]) -> Ended {
    let named = ["ct", command, url, "--key", &log.key, "--origin", log.lab.origin(), "--kind", "static-ct"];
    hammer(&[&named, more].concat())
}

const LAG: Nanos = Nanos::from_millis(300);

#[test]
fn a_run_accuses_nobody_of_a_tile_that_comes_late_and_audits_what_it_holds() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let url = late(&log, LAG, is_tile_or_issuer);
    let report = run(&json!({
        "target": target(&log, &url),
        "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } }],
        "phases": { "measurement": "2s" },
    }));
    is_believed(&report);
}

#[test]
fn a_log_that_grows_faster_than_its_tiles_come_is_followed_as_they_do() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let url = late(&log, LAG, is_tile);
    let mut target = target(&log, &url);
    target["log"]["mmd"] = json!("3s");
    let submit = json!([{ "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } }]);
    let follow = ["--interval", "250ms", "-z", "6s", "--json"];
    let report = std::thread::scope(|scope| {
        let followed = scope.spawn(|| hammer_at(&log, &url, "follow", &follow));
        let phases = json!({ "measurement": "8s" });
        let report = run(&json!({ "target": target, "workloads": submit, "phases": phases }));
        let followed = followed.join().unwrap();
        assert_eq!(followed.code, 0, "{followed:?}");
        assert!(followed.stdout.matches("\"event\":\"head\"").count() > 3, "{followed:?}");
        report
    });
    is_believed(&report);
}

#[test]
fn nobody_is_accused_of_two_fronts_behind_one_url_of_which_one_lags() {
    let (tiles, proofs) = (Log::of(Flavour::StaticCt, Vec::new()), Log::of(Flavour::Rfc6962, Vec::new()));
    let lag = Nanos::from_millis(500);
    for (log, url) in [(&tiles, lagging(&tiles, lag)), (&proofs, lagging_proofs(&proofs, lag))] {
        let report = run(&json!({
            "target": target(log, &url),
            "workloads": [
                { "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } },
                { "name": "read", "ct_read": {}, "load": { "rate": "20/s" } },
            ],
            "phases": { "measurement": "3s" },
        }));
        is_believed(&report);
        assert_eq!(report.promises.all.unchecked, 0, "{:?}", notes(&report));
    }
}

#[test]
fn reads_accuse_nobody_of_a_tile_that_comes_late() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let url = late(&log, LAG, is_tile);
    is_believed(&hammer_at(&log, &url, "read", &["-q", "20/s", "-z", "1s", "--out", "-"]).report());
}

#[test]
fn reads_accuse_nobody_of_two_fronts_of_which_one_lags_by_more_than_a_look() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let submit = log.start("submit", &["-q", "50/s", "-z", "8s"]);
    let url = lagging(&log, Nanos::from_millis(1500));
    is_believed(&hammer_at(&log, &url, "read", &["-q", "60/s", "-z", "6s", "--out", "-"]).report());
    submit.ended();
}

#[test]
fn what_a_read_is_held_against_is_asked_for_again_where_it_was_refused_for_then() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    for status in [500, 503] {
        let url = refusing(&log, status, LAG, is_tile);
        is_believed(&hammer_at(&log, &url, "read", &["-q", "20/s", "-z", "1s", "--out", "-"]).report());
    }
}

#[test]
fn of_many_reads_that_lack_one_tile_one_looks_for_it_again() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let asked = Arc::new(AtomicU64::new(0));
    let counted = asked.clone();
    let url = front(&log.lab.url, move |path| match path {
        "/tile/0/000" => {
            counted.fetch_add(1, Ordering::Relaxed);
            Passed::Refused(404)
        }
        path if is_tile(path) => Passed::Refused(404),
        _ => Passed::On,
    });
    let report = run(&json!({
        "target": target(&log, &url),
        "workloads": [{ "name": "read", "ct_read": { "mix": { "tile": 1 } }, "load": { "rate": "50/s" } }],
        "phases": { "measurement": "2s" },
        "threads": { "shards": 1 },
    }));
    assert!(report.promises.all.broken > 0, "{:?}", report.promises.all);
    let (asked, own) = (asked.load(Ordering::Relaxed), report.totals.all.offered);
    assert!(asked <= own + MOST_LOOKS, "{asked} times for {own} reads");
}

/// One that waits for a tile looks twice, the second time as often as makes sure; who follows the tree asks for it now and then, and makes sure
/// likewise before it tells. If each read waited, they looked 200 times and more.
const MOST_LOOKS: u64 = 70;

#[test]
fn an_audit_goes_on_at_once_where_another_server_asks_for_patience() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let asked = AtomicU64::new(0);
    let busy = front(&log.lab.url, move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        // Those who look before the run.
        0..4 => Passed::On,
        _ => Passed::Later(30),
    });
    let mut target = target(&log, log.lab.url.as_str());
    target["log"]["monitoring_url"] = json!([busy, log.lab.url]);
    let report = run(&json!({
        "target": target,
        "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } }],
        "phases": { "measurement": "1s", "drain": "3s" },
    }));
    is_believed(&report);
}

#[test]
fn an_audit_and_a_follower_accuse_nobody_of_a_tile_or_an_issuer_that_comes_late() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let ended = hammer_at(&log, &late(&log, LAG, is_tile_or_issuer), "audit", &["--json"]);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &found["flaws"]), (0, &json!([])), "{found}");
    assert_eq!(found["read"]["is_proved"], true, "{found}");

    let follow = ["--interval", "50ms", "-z", "3s", "--json"];
    let ended = hammer_at(&log, &late(&log, LAG, is_tile), "follow", &follow);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        !ended.stdout.contains("\"broken\"") && ended.stdout.contains("\"size\":200"),
        "{}",
        ended.stdout
    );
}

#[test]
fn what_is_not_served_at_the_next_look_either_is_missing_to_whoever_looks() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let url =
        late(&log, Nanos(u64::MAX), |path| path.starts_with("/tile/0/") || path.starts_with("/issuer/"));
    let ended = hammer_at(&log, &url, "audit", &["--json"]);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    let kinds: Vec<_> = found["flaws"].as_array().unwrap().iter().map(|flaw| flaw["kind"].clone()).collect();
    assert_eq!(ended.code, 4, "{found}");
    assert!(kinds.contains(&json!("missing-tile")) && kinds.contains(&json!("missing-issuer")), "{found}");

    let ended = hammer_at(&log, &url, "follow", &["--interval", "200ms", "-z", "5s", "--json"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    assert_eq!(ended.stdout.matches("\"missing-tile\"").count(), 1, "{}", ended.stdout);

    let report = run(&json!({
        "target": target(&log, &url),
        "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } }],
        "phases": { "measurement": "1s", "drain": "4s" },
    }));
    let kinds: Vec<_> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == "missing-tile"), "{:?}", report.breaches);
}

#[test]
fn a_tile_whose_second_look_fails_is_not_told_as_missing() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let asked = AtomicU64::new(0);
    let url = front(&log.lab.url, move |path| match path.starts_with("/tile/data/") {
        true if asked.fetch_add(1, Ordering::Relaxed) == 0 => Passed::Refused(404),
        true => Passed::Refused(503),
        false => Passed::On,
    });
    let ended = hammer_at(&log, &url, "audit", &["--json"]);
    assert!(ended.code != 0 && ended.code != 4, "{ended:?}");
    assert!(!ended.stdout.contains("missing-tile") && ended.stdout.contains("status 503"), "{ended:?}");
}

/// The kinds of what a run of 50 submissions a second found broken of the log at `url`, within that drain.
fn found(log: &Log, kind: &str, url: &str, drain: &str) -> Vec<String> {
    let mut target = target(log, url);
    target["log"]["kind"] = json!(kind);
    let report = run(&json!({
        "target": target,
        "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } }],
        "phases": { "measurement": "2s", "drain": drain },
    }));
    assert_eq!(report.verdict.exit_code, 4, "{:?} {:?}", report.verdict, notes(&report));
    report.breaches.into_iter().map(|breach| breach.kind).collect()
}

#[test]
fn an_issuer_that_is_another_certificate_or_stays_away_is_told_by_a_run() {
    for (kind, passed) in [
        ("altered-issuer", (|| Passed::Answered(b"another".to_vec())) as fn() -> Passed),
        ("missing-issuer", || Passed::Refused(404)),
    ] {
        let log = Log::of(Flavour::StaticCt, Vec::new());
        let url = front(&log.lab.url, move |path| match path.starts_with("/issuer/") {
            true => passed(),
            false => Passed::On,
        });
        let found = found(&log, "static-ct", &url, "5s");
        assert!(!found.is_empty() && found.iter().all(|found| found == kind), "{found:?}");
    }
}

#[test]
fn a_log_that_refuses_to_prove_the_head_that_it_serves_is_told_once() {
    let log = Log::of(Flavour::Rfc6962, Vec::new());
    let url = front(&log.lab.url, |path| match path.contains("get-sth-consistency") {
        true => Passed::Refused(400),
        false => Passed::On,
    });
    assert_eq!(found(&log, "rfc6962", &url, "5s"), ["unproved-checkpoint"]);
}

#[test]
fn one_altered_entry_is_told_once_and_what_the_log_kept_is_found_all_the_same() {
    let log = Log::of(Flavour::Rfc6962, Vec::new());
    let lab = log.lab.url.clone();
    let url = front(&log.lab.url, move |path| {
        let Some(range) = path.strip_prefix("/ct/v1/get-entries?start=") else { return Passed::On };
        let (start, end) = range.split_once("&end=").unwrap();
        let [start, end] = [start, end].map(|index| index.parse::<usize>().unwrap());
        let mut answer: Value = serde_json::from_slice(&read(&lab, path)).unwrap();
        if (start..=end).contains(&20) {
            let leaf = &mut answer["entries"][20 - start]["leaf_input"];
            // A bit of its time.
            let (time, rest) = leaf.as_str().unwrap().split_at(12);
            *leaf = format!("{}{}{rest}", &time[..11], if time.ends_with('A') { 'B' } else { 'A' }).into();
        }
        Passed::Answered(answer.to_string().into())
    });
    let report = run(&json!({
        "target": target(&log, &url),
        "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } }],
        "phases": { "measurement": "2s", "drain": "20s" },
    }));
    let kinds: Vec<_> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert_eq!((kinds, report.verdict.exit_code), (vec!["tampered-entries"], 4), "{:?}", report.breaches);
    let promises = &report.promises.all;
    assert_eq!(
        (promises.kept + 1, promises.pending),
        (promises.made, 0),
        "{promises:?} {:?}",
        notes(&report)
    );
}

#[test]
fn a_log_whose_consistency_proofs_are_none_is_told_once() {
    for answer in ["{}", "<html>"] {
        let log = Log::of(Flavour::Rfc6962, Vec::new());
        let url = front(&log.lab.url, move |path| match path.contains("get-sth-consistency") {
            true => Passed::Answered(answer.into()),
            false => Passed::On,
        });
        assert_eq!(found(&log, "rfc6962", &url, "8s"), ["unproved-checkpoint"]);
    }
}

#[test]
fn a_log_that_says_it_takes_no_root_and_accepts_chains_contradicts_itself() {
    for none in [r#"{"certificates":[]}"#, r#"{"certificates":null}"#] {
        let log = Log::of(Flavour::StaticCt, Vec::new());
        let url = front(&log.lab.url, |path| match path.ends_with("/get-roots") {
            true => Passed::Answered(none.into()),
            false => Passed::On,
        });
        assert_eq!(found(&log, "static-ct", &url, "10s"), ["empty-roots"]);
    }
}

/// What is served in the place of a head, made of it.
type WrongHead = fn(String) -> Passed;

#[test]
fn a_head_that_stays_wrong_costs_no_whole_drain() {
    let refused = |_| Passed::Refused(404);
    let of_another = |note: String| Passed::Answered(["x", &note].concat().into_bytes());
    let with_a_line =
        |note: String| Passed::Answered([note.as_str(), "no signature\n"].concat().into_bytes());
    let too_long = |note: String| {
        let lines = (0..5000).map(|line| format!("\u{2014} witness{line} AAAAAAA=\n"));
        Passed::Answered([note].into_iter().chain(lines).collect::<String>().into_bytes())
    };
    let heads: [(WrongHead, u8); 4] = [(refused, 5), (of_another, 4), (with_a_line, 5), (too_long, 5)];
    for (head, exit_code) in heads {
        let log = Log::of(Flavour::StaticCt, Vec::new());
        let (url, asked) = (log.lab.url.clone(), AtomicU64::new(0));
        let front = front(&log.lab.url, move |path| match path {
            // The first is for who looks before the run.
            "/checkpoint" if asked.fetch_add(1, Ordering::Relaxed) > 0 => {
                head(String::from_utf8(read(&url, path)).unwrap())
            }
            _ => Passed::On,
        });
        let report = run(&json!({
            "target": target(&log, &front),
            "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } }],
            "phases": { "measurement": "1s", "drain": "10m" },
        }));
        assert_eq!(report.verdict.exit_code, exit_code, "{:?}", report.verdict);
        let promises = &report.promises.all;
        assert_eq!((promises.kept, promises.pending), (0, 0), "{promises:?}");
    }
}

#[test]
fn what_is_due_and_a_server_that_serves_no_head_may_cover_is_unchecked() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let (url, frozen) = (log.lab.url.clone(), read(&log.lab.url, "/checkpoint"));
    let served = front(&url, move |path| match path {
        "/checkpoint" => Passed::Answered(frozen.clone()),
        _ => Passed::On,
    });
    let silent = front(&url, |_| Passed::Refused(503));
    let mut target = target(&log, &url);
    target["log"]["monitoring_url"] = json!([served, silent]);
    (target["log"]["mmd"], target["log"]["skew"]) = (json!("1s"), json!("1s"));
    let report = run(&json!({
        "target": target,
        "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "20/s" } }],
        "phases": { "measurement": "1s", "drain": "8s" },
    }));
    let promises = &report.promises.all;
    assert!(report.breaches.is_empty() && promises.unchecked > 0, "{promises:?} {:?}", report.breaches);
    let named = silent.trim_start_matches("http://").split('/').next().unwrap();
    let is_named = |note: &&str| note.contains(named) && note.contains("served no head");
    assert!(notes(&report).iter().any(is_named), "{:?}", notes(&report));
    assert_eq!(report.verdict.exit_code, 5, "{:?}", report.verdict);
}

#[test]
fn one_of_several_servers_that_serves_a_head_of_no_log_is_told_once_however_often_it_is_asked() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let (url, frozen) = (log.lab.url.clone(), read(&log.lab.url, "/checkpoint"));
    let served = front(&url, move |path| match path {
        "/checkpoint" => Passed::Answered(frozen.clone()),
        _ => Passed::On,
    });
    let (own, asked) = (url.clone(), Arc::new(AtomicU64::new(0)));
    let counted = asked.clone();
    let foreign = front(&url, move |path| match path {
        "/checkpoint" => {
            counted.fetch_add(1, Ordering::Relaxed);
            let mut note = String::from_utf8(read(&own, path)).unwrap();
            // Another root than the one that was signed.
            let at = note.match_indices('\n').nth(1).unwrap().0 + 1;
            let other = if note[at..].starts_with('A') { "B" } else { "A" };
            note.replace_range(at..=at, other);
            Passed::Answered(note.into_bytes())
        }
        _ => Passed::On,
    });
    let mut target = target(&log, &url);
    target["log"]["monitoring_url"] = json!([served, foreign]);
    (target["log"]["mmd"], target["log"]["skew"]) = (json!("1s"), json!("1s"));
    let report = run(&json!({
        "target": target,
        "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "20/s" } }],
        "phases": { "measurement": "1s", "drain": "8s" },
    }));
    let kinds: Vec<_> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert!(asked.load(Ordering::Relaxed) > 2, "it is asked again and again");
    assert_eq!(kinds, ["checkpoint-signature"], "{:?}", report.breaches);
    let named = foreign.trim_start_matches("http://").split('/').next().unwrap();
    assert!(report.breaches[0].detail.contains(named), "{:?}", report.breaches);
}

#[test]
fn an_issuer_that_one_of_the_servers_has_not_is_read_at_another() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let lacks = front(&log.lab.url, |path| match path.starts_with("/issuer/") {
        true => Passed::Refused(404),
        false => Passed::On,
    });
    let mut target = target(&log, log.lab.url.as_str());
    target["log"]["monitoring_url"] = json!([lacks, log.lab.url]);
    is_believed(&run(&json!({
        "target": target,
        "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } }],
        "phases": { "measurement": "2s", "drain": "5s" },
    })));
}

#[test]
fn the_size_of_a_tree_is_that_of_heads_that_were_proved() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let unproved = front(&log.lab.url, |path| match is_tile(path) {
        true => Passed::Refused(503),
        false => Passed::On,
    });
    let sizes = [unproved.as_str(), log.lab.url.as_str()].map(|url| {
        let report = run(&json!({
            "target": target(&log, url),
            "workloads": [{ "name": "read", "ct_read": { "mix": { "checkpoint": 1 } }, "load": { "rate": "20/s" } }],
            "phases": { "measurement": "2s" },
        }));
        report.tree_size.map(|size| (size.first, size.last))
    });
    assert_eq!(sizes, [None, Some((200.0, 200.0))]);
}

#[test]
fn a_log_that_takes_chains_and_signs_no_new_head_is_told_once() {
    for is_frozen in [true, false] {
        let log = Log::of(Flavour::StaticCt, Vec::new());
        let (url, frozen) = (log.lab.url.clone(), Mutex::<Option<Vec<u8>>>::default());
        let front = front(&log.lab.url, move |path| match path {
            "/checkpoint" if is_frozen => {
                let head = frozen.lock().unwrap().get_or_insert_with(|| read(&url, path)).clone();
                Passed::Answered(head)
            }
            _ => Passed::On,
        });
        let mut target = target(&log, &front);
        (target["log"]["mmd"], target["log"]["skew"]) = (json!("3s"), json!("2s"));
        let report = run(&json!({
            "target": target,
            "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "20/s" } }],
            "phases": { "measurement": "8s", "drain": "20s" },
        }));
        let old = report.breaches.iter().filter(|breach| breach.kind == "old-checkpoint").count();
        assert_eq!(old, usize::from(is_frozen), "{:?}", report.breaches);
        if !is_frozen {
            is_believed(&report);
        }
    }
}

#[test]
fn a_log_of_tiles_is_asked_for_no_consistency_proof_of_heads_that_reads_saw() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let asked = Arc::new(AtomicU64::new(0));
    let counted = asked.clone();
    // TesseraCT has none (v0.1.1 answers 404).
    let url = front(&log.lab.url, move |path| match path.starts_with("/ct/v1/get-sth") {
        true => {
            counted.fetch_add(1, Ordering::Relaxed);
            Passed::Refused(404)
        }
        false => Passed::On,
    });
    let reads =
        json!({ "ct_read": { "mix": { "checkpoint": 1 } }, "name": "read", "load": { "rate": "40/s" } });
    let report = run(&json!({
        "target": target(&log, &url),
        "workloads": [{ "name": "submit", "ct_submit": {}, "load": { "rate": "50/s" } }, reads],
        "phases": { "measurement": "3s", "drain": "10s" },
    }));
    is_believed(&report);
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    assert!(!notes(&report).iter().any(|note| note.contains("not joined")), "{:?}", notes(&report));
}
