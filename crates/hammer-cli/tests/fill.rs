//! `fill:`, the corpus that it writes, and the verify flows that read it, on embedded services.

#[path = "support/attended.rs"]
#[expect(dead_code, reason = "other tests tell a process to end")]
mod attended;
#[path = "fill/emptied.rs"]
mod emptied;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/plan.rs"]
#[expect(dead_code, reason = "other tests have plans without services")]
mod plan;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests read what a server was sent")]
mod server;
#[path = "support/sigstore.rs"]
#[expect(dead_code, reason = "other tests sign from one line")]
mod sigstore;

use std::collections::BTreeSet;
use std::fs;

use hammer_report::report::Fill;
use hammer_report::{ReasonKind, Report};
use serde_json::{Value, json};

use folder::Folder;
use hammer::{Ended, hammer};
use on_time::exit_if_on_time;
use plan::refused;
use sigstore::Lab;

/// A plan that fills, and does nothing else.
fn filling(target: &Value, fill: &Value, sign: &Value) -> Value {
    json!({
        "target": target,
        "fill": fill,
        "workloads": [{ "name": "sign", "sigstore_sign": sign, "timeout": "20s" }],
        "phases": { "drain": "30s" },
    })
}

fn run(folder: &Folder, plan: &Value) -> Ended {
    let plan = folder.write("plan.yaml", &plan.to_string());
    hammer(&["run", &plan, "--out", "-", "--quiet"])
}

#[track_caller]
fn filled(report: &Report) -> &Fill {
    let fill = report.fill.as_ref().expect("a fill");
    let promises = &fill.promises.all;
    assert_eq!(promises.kept, promises.made, "{:?}", fill.breaches);
    fill
}

/// The entries of a corpus.
fn entries(corpus: &str) -> Vec<Value> {
    let text = fs::read_to_string(corpus).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line.get("log").is_some()).collect()
}

fn distinct(entries: &[Value], key: &str) -> usize {
    entries.iter().map(|entry| entry[key].to_string()).collect::<BTreeSet<_>>().len()
}

fn embedded() -> Value {
    json!({ "lab": { "sigstore": { "rekor_tiles": { "checkpoint_interval": "50ms" } } } })
}

#[test]
fn verify_flows_read_what_a_fill_got_logged_by_uuid_by_index_and_by_search() {
    let folder = Folder::new();
    let corpus = folder.path("corpus.jsonl");
    let fill = json!({ "workload": "sign", "operations": 40, "users": 4, "corpus": corpus });
    let mut plan = filling(&embedded(), &fill, &json!({ "timestamp_entry": true }));
    plan["phases"]["measurement"] = json!("1s");
    let verify = |by: &str, draw: Value| {
        json!({
            "name": by,
            "sigstore_verify": { "by": by, "corpus": corpus, "draw": draw, "timestamp_chain": false },
            "load": { "rate": "40/s", "operations": 20 },
        })
    };
    let workloads = plan["workloads"].as_array_mut().unwrap();
    workloads.push(verify("uuid", json!({ "zipf": 1.2 })));
    workloads.push(verify("index", json!({ "newest": "25%" })));
    workloads.push(verify("search", json!("hot")));
    let report = run(&folder, &plan).report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    let fill = filled(&report);
    assert_eq!((fill.filled, fill.failed, fill.filled_before), (40, 0, 0));
    assert_eq!(fill.corpus.as_ref().map(|corpus| (corpus.entries, corpus.lost)), Some((40, 0)));
    // Certificate, entry, timestamp and its entry.
    assert_eq!(fill.promises.all.made, 160);
    let entries = entries(&corpus);
    assert_eq!([entries.len(), distinct(&entries, "uuid"), distinct(&entries, "artifact")], [40; 3]);
    // What fills is in no figure of the run.
    assert!(report.series.iter().all(|series| series.workload != "sign"));
    let kinds: Vec<(&str, &str)> =
        report.promises.by_kind.iter().map(|kind| (kind.workload.as_str(), kind.kind.as_str())).collect();
    assert_eq!(
        kinds,
        [("uuid", "artifact"), ("index", "artifact"), ("search", "artifact"), ("search", "search")]
    );
    assert!(report.promises.all.made == report.promises.all.kept && report.promises.all.made > 0);
}

/// More than one tile holds.
const TILES: u64 = 300;

#[test]
fn verify_flows_read_what_a_fill_got_logged_in_rekor_v2_by_its_tiles() {
    let folder = Folder::new();
    let corpus = folder.path("corpus.jsonl");
    for (entry, timestamp) in [("hashedrekord", true), ("dsse", false)] {
        let fill = json!({
            "workload": "sign", "operations": TILES, "users": 60, "corpus": corpus, "resume": false,
        });
        let sign = json!({ "rekor": "v2", "entry": entry, "timestamp": timestamp });
        let mut plan = filling(&embedded(), &fill, &sign);
        plan["phases"]["measurement"] = json!("1s");
        let verify = |name: &str, draw: Value, chain: bool| {
            json!({
                "name": name,
                "sigstore_verify":
                    { "rekor": "v2", "corpus": corpus, "draw": draw, "timestamp_chain": chain },
                "load": { "rate": "40/s", "operations": 20 },
            })
        };
        let workloads = plan["workloads"].as_array_mut().unwrap();
        workloads.push(verify("any", json!("uniform"), true));
        workloads.push(verify("first", json!("hot"), false));
        workloads.push(verify("newest", json!({ "newest": 3 }), false));
        let report = run(&folder, &plan).report();
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?} {:?}", report.verdict, report.breaches);
        assert_eq!(filled(&report).filled, TILES);
        let logged = entries(&corpus);
        assert_eq!([distinct(&logged, "leaf"), distinct(&logged, "index")], [TILES as usize; 2]);
        assert!(logged.iter().all(|entry| entry["timestamp"].is_string() == timestamp));
        let promises = &report.promises;
        assert!(promises.all.kept == promises.all.made && promises.all.made > 0, "{promises:?}");
        let kinds: Vec<(&str, &str)> =
            promises.by_kind.iter().map(|kind| (kind.workload.as_str(), kind.kind.as_str())).collect();
        assert_eq!(
            kinds,
            [("any", "timestamp-chain"), ("any", "artifact"), ("first", "artifact"), ("newest", "artifact")]
        );
        let requests = |path: &str| {
            let series = report.series.iter().find(|series| series.path == path).unwrap();
            series.measurement.counts.fates.accepted
        };
        let flows = requests("newest/verify");
        assert_eq!(requests("newest/rekor-bundle"), flows);
        // The tile of the leaf and the one above: both are partial.
        assert_eq!(requests("newest/rekor-tile"), 2 * flows);
        // The tile of the leaf is full, and two are partial.
        assert_eq!(requests("first/rekor-tile"), 3 * requests("first/verify"));
    }
}

#[test]
fn flows_that_sign_into_rekor_v2_and_flows_that_verify_it_are_mixed_and_hold_to_one_tree() {
    let folder = Folder::new();
    let mixed = json!({
        "sign_weight": 1, "verify_weight": 3,
        "sign": { "rekor": "v2-grpc", "entry": "dsse", "request": "csr" }, "verify": { "rekor": "v2" },
    });
    let plan = json!({
        "target": embedded(),
        "workloads": [{ "name": "both", "sigstore_mixed": mixed, "load": { "rate": "60/s" } }],
        "phases": { "measurement": "2s", "drain": "30s" },
    });
    let report = run(&folder, &plan).report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?} {:?}", report.verdict, report.breaches);
    let promises = &report.promises.all;
    assert!(promises.kept == promises.made && promises.made > 0, "{promises:?}");
    let observed = |name: &str| report.observations.iter().find(|seen| seen.name == name).unwrap().last.value;
    assert!(observed("heads_joined") >= 1.0);
    assert_eq!(observed("heads_unjoined"), 0.0);
}

#[test]
fn a_log_on_tiles_whose_servers_lag_or_compress_is_believed_by_whoever_verifies() {
    let folder = Folder::new();
    for (odd, value, waits) in [("gzip", json!(true), false), ("read_lag", json!("700ms"), true)] {
        let mut target = embedded();
        target["lab"]["sigstore"]["rekor_tiles"][odd] = value;
        let plan = json!({
            "target": target,
            "workloads": [
                { "name": "sign", "sigstore_sign": { "rekor": "v2" }, "load": { "rate": "30/s" } },
                { "name": "verify", "sigstore_verify": { "rekor": "v2" }, "load": { "rate": "60/s" } },
            ],
            "phases": { "measurement": "3s", "drain": "30s" },
        });
        let report = run(&folder, &plan).report();
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{odd}: {:?} {:?}", report.verdict, report.breaches);
        let promises = &report.promises.all;
        assert!(promises.kept == promises.made, "{odd}: {promises:?}");
        let flows = report.series.iter().find(|series| series.path == "verify/verify").unwrap();
        let fates = &flows.measurement.counts.fates;
        assert!(fates.accepted > 0 && fates.malformed == 0, "{odd}: {fates:?}");
        // An entry that the replica does not have yet is not verified, and not lost.
        assert_eq!(fates.refused > 0, waits, "{odd}: {fates:?}");
    }
}

#[test]
fn a_fill_goes_on_where_an_earlier_one_ended_and_signs_nothing_twice() {
    let lab = Lab::of(&[]);
    let corpus = lab.folder.path("corpus.jsonl");
    let target = json!({ "sigstore": lab.target });
    let fill = |operations: u64, resume: bool| {
        let fill = json!({
            "workload": "sign", "operations": operations, "users": 3, "corpus": corpus, "resume": resume,
        });
        let report = run(&lab.folder, &filling(&target, &fill, &json!({ "rekor": "v2" }))).report();
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
        let fill = filled(&report);
        (fill.filled_before, fill.filled)
    };
    assert_eq!(fill(12, true), (0, 12));
    assert_eq!(fill(30, true), (12, 18));
    assert_eq!(fill(30, true), (30, 0));
    let all = entries(&corpus);
    assert_eq!(["index", "artifact", "flow"].map(|key| distinct(&all, key)), [30; 3]);
    assert!(all.iter().all(|entry| entry["log"] == "rekor-v2"));
    assert_eq!(fill(5, false), (0, 5));
    assert_eq!(entries(&corpus).len(), 5);
}

#[test]
fn a_fill_of_half_a_million_stops_at_the_first_full_storage_and_names_the_entry() {
    let folder = Folder::new();
    let corpus = folder.path("corpus.jsonl");
    let mut target = embedded();
    target["lab"]["sigstore"]["rekor"] = json!({ "storage_full_after": 30 });
    let fill = json!({ "workload": "sign", "operations": 500_000, "users": 4, "corpus": corpus });
    let ended = run(&folder, &filling(&target, &fill, &json!({ "timestamp": false })));
    let report = ended.report();
    assert_eq!(ended.code, 5);
    let fill = filled(&report);
    assert_eq!((fill.filled, entries(&corpus).len()), (30, 30));
    let why = fill.incomplete.as_deref().unwrap();
    let last = entries(&corpus).into_iter().max_by_key(|entry| entry["index"].as_u64()).unwrap();
    for part in ["filled 30 of 500,000: ", "rekor: server error (HTTP 500)", last["uuid"].as_str().unwrap()] {
        assert!(why.contains(part), "no {part:?} in {why}");
    }
    assert!(report.verdict.reasons.iter().any(|reason| reason.text == why), "{:?}", report.verdict);
}

#[test]
fn a_fill_whose_time_is_over_says_so_and_nothing_is_measured_behind_it() {
    let folder = Folder::new();
    let mut target = embedded();
    target["lab"]["sigstore"]["rekor"] = json!({ "hang": {} });
    let fill = json!({ "workload": "sign", "operations": 10, "timeout": "1s" });
    let mut plan = filling(&target, &fill, &json!({}));
    plan["phases"] = json!({ "measurement": "30m", "drain": "100ms" });
    plan["workloads"].as_array_mut().unwrap().push(json!({
        "name": "stamp", "sigstore_timestamp": {}, "load": { "rate": "1/s" },
    }));
    let report = run(&folder, &plan).report();
    let fill = report.fill.as_ref().unwrap();
    let why = fill.incomplete.as_deref().unwrap();
    assert!(why.starts_with("filled 0 of 10: its timeout of 1s is over"), "{why}");
    assert!(report.series.iter().all(|series| series.workload == "sign"));
}

#[test]
fn a_promise_that_is_broken_in_a_fill_fails_the_run() {
    let folder = Folder::new();
    let mut target = embedded();
    target["lab"]["sigstore"]["rekor"] = json!({ "lies": [{ "kind": "bad-set", "after": 3, "times": 1 }] });
    let fill = json!({ "workload": "sign", "operations": 8 });
    let mut plan = filling(&target, &fill, &json!({ "timestamp": false }));
    plan["phases"]["measurement"] = json!("300ms");
    plan["workloads"].as_array_mut().unwrap().push(json!({
        "name": "stamp", "sigstore_timestamp": {}, "load": { "rate": "10/s" },
    }));
    let report = run(&folder, &plan).report();
    assert_eq!(exit_if_on_time(&report.verdict), 4, "{:?}", report.verdict);
    let fill = report.fill.as_ref().unwrap();
    assert_eq!((fill.filled, fill.promises.all.broken, fill.breaches[0].kind.as_str()), (8, 1, "bad-set"));
    let broken = report.verdict.reasons.iter().find(|reason| reason.reason == ReasonKind::PromiseBroken);
    assert!(broken.is_some_and(|reason| reason.text.contains("of the fill")), "{:?}", report.verdict);
}

/// What each of two rounds found in the corpus, and filled.
fn filled_in_rounds(target: &Value) -> [(u64, u64); 2] {
    let folder = Folder::new();
    let corpus = folder.path("corpus.jsonl");
    let fill = json!({ "workload": "sign", "operations": 9, "corpus": corpus });
    let mut plan = filling(target, &fill, &json!({ "timestamp": false }));
    plan["rounds"] = json!(2);
    plan["hooks"] = json!({ "between": [{ "name": "reset", "run": "true" }] });
    plan["phases"]["measurement"] = json!("300ms");
    plan["workloads"].as_array_mut().unwrap().push(json!({
        "name": "verify", "sigstore_verify": { "corpus": corpus }, "load": { "rate": "20/s" },
    }));
    let plan = folder.write("plan.yaml", &plan.to_string());
    let out = folder.path("report.json");
    let ended = hammer(&["run", &plan, "--out", &out, "--quiet"]);
    [1, 2].map(|round| {
        let report =
            Report::parse(&fs::read_to_string(folder.path(&format!("report.{round}.json"))).unwrap())
                .unwrap();
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?} {ended:?}", report.verdict);
        (filled(&report).filled_before, filled(&report).filled)
    })
}

#[test]
fn every_round_is_filled_anew_where_a_hook_between_them_resets_the_database() {
    assert_eq!(filled_in_rounds(&embedded()), [(0, 9), (0, 9)]);
}

#[test]
fn embedded_services_that_are_kept_are_filled_once() {
    let mut target = embedded();
    target["lab"]["keep"] = json!(true);
    assert_eq!(filled_in_rounds(&target), [(0, 9), (9, 0)], "no hook resets them");
}

#[test]
fn any_protocol_fills() {
    let folder = Folder::new();
    let fill = json!({ "workload": "web", "operations": 100, "users": 5 });
    let web = json!({ "name": "web", "http": {}, "load": { "rate": "50/s" } });
    let mut plan = json!({
        "target": { "lab": { "http": {} } },
        "fill": fill,
        "workloads": [web],
        "phases": { "measurement": "300ms" },
    });
    let report = run(&folder, &plan).report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    let fill = filled(&report);
    assert_eq!((fill.filled, fill.failed, fill.corpus.as_ref()), (100, 0, None));
    assert!(report.totals.all.offered < 100, "what fills is not measured");
    plan["fill"]["corpus"] = json!(folder.path("corpus.jsonl"));
    refused(&run(&folder, &plan), &["fill.corpus: ", "leaves no entries"]);
}

#[test]
fn what_is_wrong_with_a_fill_or_a_corpus_is_named_with_its_key_and_line() {
    let folder = Folder::new();
    let corpus = folder.write("corpus.jsonl", "{\"hammer_corpus\":1}\n{\"log\":\"rekor-v1\"}\n");
    let fill = |fill: Value| filling(&embedded(), &fill, &json!({}));
    let mut reads = fill(Value::Null);
    reads["workloads"] = json!([{
        "name": "verify", "sigstore_verify": { "corpus": corpus }, "load": { "rate": "1/s" },
    }]);
    let mut draws = reads.clone();
    draws["workloads"][0]["sigstore_verify"] = json!({ "draw": "hot" });
    let with = |key: &str, value: Value| {
        let mut plan = reads.clone();
        plan["workloads"][0]["sigstore_verify"][key] = value;
        plan
    };
    let empty = folder.write("empty.jsonl", "{\"hammer_corpus\":1}\n");
    let on_tiles = |keys: Value| {
        let mut plan = reads.clone();
        let verify = &mut plan["workloads"][0]["sigstore_verify"];
        *verify = keys;
        verify["rekor"] = json!("v2");
        plan
    };
    // It is told ahead of the fill, which would take its minute.
    let mut behind_a_fill = with("corpus", json!(folder.path("none")));
    behind_a_fill["fill"] =
        json!({ "workload": "sign", "operations": 1_000_000, "corpus": folder.path("filled") });
    let signs = fill(Value::Null)["workloads"][0].clone();
    behind_a_fill["workloads"].as_array_mut().unwrap().push(signs);
    for (plan, parts) in [
        (
            fill(json!({ "workload": "sing", "operations": 1 })),
            ["fill.workload: ", "no workload is called `sing`"],
        ),
        (fill(json!({ "workload": "sign", "operations": 0 })), ["fill.operations: ", "0"]),
        (fill(json!({ "workload": "sign", "operations": 1, "timeout": "0s" })), ["fill.timeout: ", "0"]),
        (fill(Value::Null), ["workloads[0].load: ", "give exactly one of rate"]),
        (reads.clone(), ["workloads[0].sigstore_verify.corpus: ", "corpus.jsonl: line 2: it lacks"]),
        (with("corpus", json!(empty)), ["sigstore_verify.corpus: ", "it has no entry of Rekor v1"]),
        (with("corpus", json!(folder.path("none"))), ["sigstore_verify.corpus: ", "No such file"]),
        (behind_a_fill, ["workloads[0].sigstore_verify.corpus: ", "failed to use the corpus"]),
        (with("rekor", json!("v3")), ["sigstore_verify.rekor", "v3"]),
        (on_tiles(json!({ "corpus": empty })), ["sigstore_verify.corpus: ", "it has no entry of Rekor v2"]),
        (on_tiles(json!({ "by": "search" })), ["sigstore_verify.by: ", "no index to search"]),
        (on_tiles(json!({})), ["workloads[0].sigstore_verify: ", "`rekor: v2` or `v2-grpc`"]),
        (with("draw", json!({ "zipf": 0 })), ["sigstore_verify.draw", "exponent"]),
        (with("draw", json!({ "newest": "x" })), ["sigstore_verify.draw", "x"]),
        (draws, ["sigstore_verify.draw: ", "unless `corpus` names a file"]),
    ] {
        refused(&run(&folder, &plan), &parts);
    }
}

#[test]
fn the_published_fill_is_a_plan_that_the_embedded_services_can_stand() {
    let folder = Folder::new();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/rhtas-fill.yaml");
    let corpus = folder.path("entries.jsonl");
    let corpus_is = format!("fill.corpus={corpus}");
    let mut args = vec!["run", plan, "--smoke", "--quiet", "--out", "-"];
    args.extend(["--set", "target={lab: {sigstore: {}}}", "--set", &corpus_is]);
    let report = hammer(&args).report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    assert_eq!((filled(&report).filled, entries(&corpus).len()), (200, 200));
}

#[test]
fn a_bundle_of_a_fill_that_cannot_be_written_is_said_and_the_fill_stands() {
    let folder = Folder::new();
    // Where the bundle of the first operation of a fill belongs.
    let taken = folder.path("bundles/sign-1099511627776.sigstore.json");
    let sign = json!({ "bundles": { "folder": folder.path("bundles"), "first": 1 } });
    let fill = json!({ "workload": "sign", "operations": 3 });
    let report = run(&folder, &filling(&embedded(), &fill, &sign)).report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    assert!(fs::metadata(&taken).unwrap().is_file());
    fs::remove_file(&taken).unwrap();
    fs::create_dir(&taken).unwrap();
    let report = run(&folder, &filling(&embedded(), &fill, &sign)).report();
    assert_eq!(filled(&report).filled, 3);
    let unwritten = report.verdict.reasons.iter().find(|said| said.reason == ReasonKind::ReportUnwritten);
    assert!(unwritten.is_some_and(|said| said.text.contains(&taken)), "{:?}", report.verdict);
}

#[test]
fn a_corpus_holds_no_artifact_that_would_make_its_lines_long() {
    let folder = Folder::new();
    let corpus = folder.path("corpus.jsonl");
    let fill = json!({ "workload": "sign", "operations": 2, "corpus": corpus });
    for (bytes, fits) in [(2_048, true), (2_049, false)] {
        let artifact = folder.write("artifact", &"a".repeat(bytes));
        let plan = filling(&embedded(), &fill, &json!({ "artifact_file": artifact }));
        let ended = run(&folder, &plan);
        if fits {
            assert_eq!(filled(&ended.report()).filled, 2);
            assert_eq!(entries(&corpus).len(), 2);
            fs::remove_file(&corpus).unwrap();
        } else {
            assert_eq!(ended.code, 2, "{}", ended.stderr);
            assert!(ended.stderr.contains("corpus") && ended.stderr.contains("2 KiB"), "{}", ended.stderr);
            assert!(fs::metadata(&corpus).is_err(), "nothing is made of what is refused");
        }
    }
}
