//! `fill:`, the corpus that it writes, and the verify flows that read it, on embedded services.

#[path = "support/attended.rs"]
#[expect(dead_code, reason = "other tests tell a process to end")]
mod attended;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/plan.rs"]
#[expect(dead_code, reason = "other tests have plans without services")]
mod plan;
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

#[test]
fn every_round_is_filled_anew_where_a_hook_between_them_resets_the_database() {
    let folder = Folder::new();
    let corpus = folder.path("corpus.jsonl");
    let fill = json!({ "workload": "sign", "operations": 9, "corpus": corpus });
    let mut plan = filling(&embedded(), &fill, &json!({ "timestamp": false }));
    plan["rounds"] = json!(2);
    plan["hooks"] = json!({ "between": [{ "name": "reset", "run": "true" }] });
    plan["phases"]["measurement"] = json!("300ms");
    plan["workloads"].as_array_mut().unwrap().push(json!({
        "name": "verify", "sigstore_verify": { "corpus": corpus }, "load": { "rate": "20/s" },
    }));
    let plan = folder.write("plan.yaml", &plan.to_string());
    let out = folder.path("report.json");
    let ended = hammer(&["run", &plan, "--out", &out, "--quiet"]);
    for round in [1, 2] {
        let report =
            Report::parse(&fs::read_to_string(folder.path(&format!("report.{round}.json"))).unwrap())
                .unwrap();
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?} {ended:?}", report.verdict);
        assert_eq!((filled(&report).filled_before, filled(&report).filled), (0, 9));
    }
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
    for (plan, parts) in [
        (
            fill(json!({ "workload": "sing", "operations": 1 })),
            ["fill.workload: ", "no workload is called `sing`"],
        ),
        (fill(json!({ "workload": "sign", "operations": 0 })), ["fill.operations: ", "0"]),
        (fill(json!({ "workload": "sign", "operations": 1, "timeout": "0s" })), ["fill.timeout: ", "0"]),
        (fill(Value::Null), ["workloads[0].load: ", "give exactly one of rate"]),
        (reads.clone(), ["workloads[0].sigstore_verify.corpus: ", "corpus.jsonl: line 2: missing field"]),
        (with("corpus", json!(empty)), ["sigstore_verify.corpus: ", "it has no entry of Rekor v1"]),
        (with("corpus", json!(folder.path("none"))), ["sigstore_verify.corpus: ", "No such file"]),
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
