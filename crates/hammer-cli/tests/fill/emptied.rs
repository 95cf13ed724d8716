//! Corpora, and logs that were emptied or are others.

use hammer_report::Summary;
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::hammer::{Ended, hammer};
use crate::plan::refused;
use crate::server::Server;
use crate::sigstore::Lab;
use crate::{embedded, entries, filled, filling, run};

/// A fill of these targets one after another into one file, and verify flows that read it at the last.
fn of_two_logs(first: &[&str], second: &[&str], rekor: &str) -> [Ended; 2] {
    let folder = Folder::new();
    let corpus = folder.path("corpus.jsonl");
    let fill = |operations: u64| json!({ "workload": "sign", "operations": operations, "corpus": corpus });
    let sign = json!({ "rekor": rekor, "timestamp": false, "missing_after": "1ms" });
    let filled_at = |lab: &Lab, operations| {
        run(&folder, &filling(&json!({ "sigstore": lab.target }), &fill(operations), &sign))
    };
    let report = filled_at(&Lab::of(first), 5).report();
    assert_eq!(filled(&report).filled, 5, "{:?}", report.verdict);
    let lab = Lab::of(second);
    let verify =
        json!({ "rekor": rekor, "corpus": corpus, "timestamp_chain": false, "missing_after": "1ms" });
    let verifies = json!({
        "target": { "sigstore": lab.target },
        "workloads":
            [{ "name": "verify", "sigstore_verify": verify, "load": { "rate": "20/s", "operations": 5 } }],
        "phases": { "measurement": "5s", "drain": "30s" },
    });
    [filled_at(&lab, 10), run(&folder, &verifies)]
}

#[test]
fn a_corpus_of_another_log_is_refused_ahead_of_the_run_and_nobody_is_accused() {
    for (rekor, second, parts) in [
        (
            "v1",
            ["rekor.key_seed=7"],
            ["line 2: the entries behind it are of the Rekor v1 with log ID ", "that of the target is "],
        ),
        (
            "v2",
            ["rekor_tiles.key_seed=7"],
            ["line 2: the entries behind it are of the Rekor v2 with log ID 127.0.0.1+", "is 127.0.0.1+"],
        ),
        // The same key, and another tree: it was emptied.
        (
            "v1",
            ["rekor.tree_id=77"],
            [
                "line 3: its entry is of the tree 6626240131106251881",
                "the log has the tree 77: the log at http",
            ],
        ),
        (
            "v1",
            ["rekor.tree_id=6626240131106251881"],
            [
                "its entry of index 0 is the first of the corpus, and the log has 0 entries",
                "was emptied or set back since, or is another one",
            ],
        ),
        (
            "v2",
            ["rekor_tiles.batch_max_age=1ms"],
            [" is the first of the corpus, and the log has 0 entries", "was emptied or set back since"],
        ),
    ] {
        let ended = of_two_logs(&[], &["--set", second[0]], rekor);
        for (ended, key) in ended.iter().zip(["fill.corpus", "sigstore_verify.corpus"]) {
            refused(ended, &[&["corpus.jsonl: line ", key][..], &parts].concat());
        }
    }
}

/// Sign flows that log no certificates, so that two logs which are filled by one seed have the same entries.
fn bare(rekor: &str) -> Value {
    json!({ "rekor": rekor, "fulcio": "none", "timestamp": false, "audit": false })
}

/// Adds so many entries to a log and to a corpus in that folder.
#[track_caller]
fn log_entries(folder: &Folder, (lab, corpus): (&Lab, &str), sign: &Value, (operations, seed): (u64, u64)) {
    let fill = json!({ "workload": "sign", "operations": operations, "corpus": folder.path(corpus) });
    let mut plan = filling(&json!({ "sigstore": lab.target }), &fill, sign);
    plan["seed"] = json!(seed);
    let report = run(folder, &plan).report();
    assert_eq!(filled(&report).filled, operations, "{:?}", report.verdict);
}

/// Ten flows that read the corpus.
fn verify(folder: &Folder, lab: &Lab, verify: &Value) -> Ended {
    let load = json!({ "rate": "20/s", "operations": 10 });
    run(
        folder,
        &json!({
            "target": { "sigstore": lab.target },
            "workloads": [{ "name": "verify", "sigstore_verify": verify, "load": load }],
            "phases": { "measurement": "5s", "drain": "30s" },
        }),
    )
}

/// Has a corpus say that its entries were integrated at those times; by the place of each and what it says.
fn integrated(folder: &Folder, corpus: &str, time: impl Fn(usize, i64) -> Option<i64>) {
    let path = folder.path(corpus);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut place = 0;
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if let Some(said) = line.as_object_mut().unwrap().remove("integrated") {
            if let Some(time) = time(place, said.as_i64().unwrap()) {
                line["integrated"] = json!(time);
            }
            place += 1;
        }
        format!("{line}\n")
    };
    std::fs::write(&path, text.lines().map(line).collect::<String>()).unwrap();
}

/// A log that was filled anew is not accused; one that says another time of one of its entries is.
#[test]
fn a_corpus_whose_entries_all_were_integrated_at_other_times_is_refused_and_one_of_them_is_a_breach() {
    let (folder, lab) = (Folder::new(), Lab::of(&[]));
    log_entries(&folder, (&lab, "corpus.jsonl"), &bare("v1"), (5, 0));
    let plan = json!({ "corpus": folder.path("corpus.jsonl"), "timestamp_chain": false });
    assert!(verify(&folder, &lab, &plan).report().breaches.is_empty());
    integrated(&folder, "corpus.jsonl", |place, time| Some(if place == 0 { time } else { time - 300 }));
    let report = verify(&folder, &lab, &plan).report();
    let kinds: Vec<_> = report.breaches.iter().map(|breach| (breach.kind.as_str(), breach.index)).collect();
    assert!(!kinds.is_empty() && !kinds.contains(&("altered-entry", Some(0))), "{kinds:?}");
    assert!(kinds.iter().all(|(kind, _)| *kind == "altered-entry"), "{kinds:?}");
    assert_eq!(report.verdict.exit_code, 4);
    integrated(&folder, "corpus.jsonl", |place, time| Some(if place == 0 { time - 300 } else { time }));
    let told = ["the last of the corpus, was integrated at ", "and the log has it at ", "was emptied"];
    refused(&verify(&folder, &lab, &plan), &told);
}

/// What is not there yet may come; what another entry has the place of never does.
#[test]
fn a_corpus_is_refused_at_once_where_another_entry_has_the_place_of_its_first() {
    for rekor in ["v1", "v2"] {
        let folder = Folder::new();
        let sign = json!({ "rekor": rekor, "timestamp": false });
        log_entries(&folder, (&Lab::of(&[]), "before.jsonl"), &sign, (5, 0));
        // Of the same key and the same tree.
        let emptied = Lab::of(&[]);
        log_entries(&folder, (&emptied, "since.jsonl"), &sign, (5, 0));
        for (corpus, is_refused) in [("before.jsonl", true), ("since.jsonl", false)] {
            for missing_after in ["1ms", "1m"] {
                let plan = json!({
                    "rekor": rekor,
                    "corpus": folder.path(corpus),
                    "timestamp_chain": false,
                    "missing_after": missing_after,
                });
                let ended = verify(&folder, &emptied, &plan);
                match is_refused {
                    true => refused(
                        &ended,
                        &["before.jsonl: line ", "the log has another entry of index 0", "was emptied"],
                    ),
                    false => assert!(ended.report().breaches.is_empty()),
                }
            }
        }
    }
}

/// The log begins as before, as where it was filled by the same seed or set back to a copy of before, and ends as another.
#[test]
fn a_corpus_of_rekor_v1_is_refused_where_its_last_entry_is_another_or_was_there_and_is_not() {
    let (folder, sign) = (Folder::new(), bare("v1"));
    log_entries(&folder, (&Lab::of(&[]), "before.jsonl"), &sign, (5, 0));
    let lab = Lab::of(&[]);
    log_entries(&folder, (&lab, "since.jsonl"), &sign, (3, 0));
    // As an older hammer left it, so that it shows by no time that the log was filled anew.
    integrated(&folder, "before.jsonl", |_, _| None);
    let read = |missing_after: &str| {
        let corpus = folder.path("before.jsonl");
        let plan = json!({ "corpus": corpus, "timestamp_chain": false, "missing_after": missing_after });
        verify(&folder, &lab, &plan)
    };
    let last = "its entry of index 4 is the last of the corpus, and the log has 3 entries";
    refused(&read("1ms"), &["before.jsonl: line 7: ", last, "was emptied or set back since"]);
    // It may lag so long: what it has is verified, and what it does not have yet accuses nobody.
    let report = read("10m").report();
    let fates = &report.totals.all.fates;
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    assert!(fates.accepted > 0 && fates.refused > 0, "{fates:?}");
    // Now it has others there, and they stay.
    log_entries(&folder, (&lab, "others.jsonl"), &sign, (2, 1));
    let last = "the log has another entry of index 4, the last of the corpus";
    refused(&read("10m"), &["before.jsonl: line 7: ", last, "was emptied or set back since"]);
}

/// A cache has the log's information of before its first entry, and the log has the entries.
#[test]
fn a_corpus_of_another_log_is_not_told_by_the_url_of_a_log_that_it_is_not_of() {
    let folder = Folder::new();
    log_entries(&folder, (&Lab::of(&[]), "before.jsonl"), &bare("v1"), (5, 0));
    let verify =
        json!({ "corpus": folder.path("before.jsonl"), "timestamp_chain": false, "missing_after": "1ms" });
    let lab = Lab::of(&[]);
    let plan = json!({
        "target": { "sigstore": lab.target },
        "workloads": [{
            "name": "verify", "sigstore_verify": verify, "load": { "rate": "20/s", "operations": 5 },
        }],
        "phases": { "measurement": "2s", "drain": "30s" },
    });
    let path = folder.write("plan.yaml", &plan.to_string());
    let change = "target.sigstore.rekor_tiles_url=http://127.0.0.1:1";
    let ended = hammer(&["run", &path, "--set", change, "--out", "-"]);
    assert!(ended.code == 2 && ended.stderr.contains("before.jsonl"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("use --set"), "{}", ended.stderr);
}

#[test]
fn a_corpus_that_the_fill_writes_is_its_own_however_its_path_is_written() {
    let (folder, lab) = (Folder::new(), Lab::of(&[]));
    std::fs::create_dir(folder.path("below")).unwrap();
    let fill = json!({ "workload": "sign", "operations": 5, "corpus": folder.path("corpus.jsonl") });
    let mut plan = filling(&json!({ "sigstore": lab.target }), &fill, &json!({ "timestamp": false }));
    plan["workloads"].as_array_mut().unwrap().push(json!({
        "name": "verify",
        "sigstore_verify": { "corpus": folder.path("below/../corpus.jsonl"), "timestamp_chain": false },
        "load": { "rate": "20/s", "operations": 5 },
    }));
    plan["phases"] = json!({ "measurement": "2s", "drain": "30s" });
    let report = run(&folder, &plan).report();
    assert_eq!((report.promises.all.made, report.promises.all.kept), (5, 5), "{:?}", report.verdict);
}

#[test]
fn a_corpus_of_a_log_whose_information_lags_is_read() {
    let (folder, sign) = (Folder::new(), bare("v1"));
    let lab = Lab::of(&["--set", "rekor.log_info_lag=1h"]);
    log_entries(&folder, (&lab, "corpus.jsonl"), &sign, (5, 0));
    let plan = json!({
        "corpus": folder.path("corpus.jsonl"), "timestamp_chain": false, "missing_after": "1ms",
        // Whoever follows a log that lags for longer than that says that its tree shrank.
        "audit": false,
    });
    let report = verify(&folder, &lab, &plan).report();
    let promises = &report.promises.all;
    assert!(promises.made == 10 && promises.kept == 10, "{promises:?} {:?}", report.breaches);
}

/// What is wrong with a URL is wrong ahead of the run, and accuses nobody.
#[test]
fn a_corpus_is_not_read_where_no_log_is_at_the_url() {
    let (folder, lab) = (Folder::new(), Lab::of(&[]));
    for (rekor, key, path, what) in [
        ("v1", "rekor_url", "/api/v1/log", "log information"),
        ("v2", "rekor_tiles_read_url", "/checkpoint", "checkpoint"),
    ] {
        let corpus = format!("{rekor}.jsonl");
        log_entries(&folder, (&lab, &corpus), &bare(rekor), (5, 0));
        let at = |url: &str| {
            let mut target = lab.target.clone();
            target[key] = json!(url);
            let read = json!({
                "rekor": rekor,
                "corpus": folder.path(&corpus),
                "timestamp_chain": false,
                "missing_after": "1ms",
            });
            let load = json!({ "rate": "20/s", "operations": 5 });
            let reads = json!({
                "target": { "sigstore": target },
                "workloads": [{ "name": "verify", "sigstore_verify": read, "load": load }],
                "phases": { "measurement": "5s", "drain": "30s" },
            });
            let fill = json!({ "workload": "sign", "operations": 9, "corpus": folder.path(&corpus) });
            let fills = filling(&json!({ "sigstore": target }), &fill, &bare(rekor));
            [run(&folder, &reads), run(&folder, &fills)]
        };
        let name = if rekor == "v1" { "Rekor v1" } else { "Rekor v2" };
        let answering =
            |status: &str| Server::answering(format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok"));
        let others = ["404 Not Found", "400 Bad Request", "410 Gone", "200 OK"].map(answering);
        let found = ["404", "400", "410", &format!("200 and no {what}")];
        for (url, found) in others.iter().map(Server::url).zip(found) {
            let told = format!("find {name} at {url}: {path} was answered with {found}");
            at(&url).iter().for_each(|ended| refused(ended, &[&told, key]));
        }
        for url in [lab.at("fulcio_url").to_owned(), format!("{}/nope", lab.at("rekor_url"))] {
            let told = format!("{path} was answered with 404");
            at(&url).iter().for_each(|ended| refused(ended, &[&url, &told]));
        }
        // A log may stand behind these, or will be there.
        for status in ["401 -", "403 -", "408 -", "425 -", "429 -", "500 -", "503 -", "301 -"] {
            let [verified, _] = at(&answering(status).url());
            let report = verified.report();
            let (breaches, fates) = (&report.breaches, &report.totals.all.fates);
            assert!(breaches.is_empty() && fates.accepted == 0, "{status}: {breaches:?} {fates:?}");
        }
    }
}

/// Whoever fills for an hour is told ahead of it that nothing can be read back there.
#[test]
fn a_log_is_not_filled_that_is_none_where_it_is_read() {
    let (folder, lab) = (Folder::new(), Lab::of(&[]));
    let (tiles, root) = (lab.at("rekor_tiles_url"), lab.at("trusted_root"));
    let signed = ["--token-file", lab.token(), "--fulcio", lab.at("fulcio_url")];
    let wrong = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_owned());
    let corpus = folder.path("none.jsonl");
    for (flow, more) in
        [("verify", ["--fill", "5000", "--rate", "20/s"]), ("fill", ["-n", "5000", "--corpus", &corpus])]
    {
        let on = ["sigstore", flow, "--rekor-tiles", tiles, "--rekor-tiles-read", &wrong.url()];
        let trust = ["--trusted-root", root, "--no-audit", "--out", "-"];
        let identity: &[&str] = if flow == "fill" { &signed } else { &[] };
        let ended = hammer(&[on.as_slice(), &trust, &more, identity].concat());
        let told = format!(
            "use --rekor-tiles-read: failed to find Rekor v2 at {}: /checkpoint was answered with 200 and no checkpoint",
            wrong.url()
        );
        // What it is about to fill is said before.
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
        assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    }
}

#[test]
fn what_was_filled_is_told_where_nothing_could_be_measured_behind_it() {
    let (folder, lab) = (Folder::new(), Lab::of(&[]));
    let corpus = folder.path("c.jsonl");
    let fill = json!({ "workload": "sign", "operations": 5, "corpus": corpus });
    let mut plan = filling(&json!({ "sigstore": lab.target }), &fill, &bare("v2"));
    let read = json!({ "rekor": "v1", "corpus": corpus, "timestamp_chain": false });
    let load = json!({ "rate": "20/s", "operations": 5 });
    let reads = json!({ "name": "verify", "sigstore_verify": read, "load": load });
    plan["workloads"].as_array_mut().unwrap().push(reads);
    let (told, why) = ("nothing was measured behind the fill: failed to use ", "it has no entry of Rekor v1");
    let ended = run(&folder, &plan);
    let report = ended.report();
    assert_eq!((ended.code, filled(&report).filled), (2, 5), "{}", ended.stderr);
    let said = &report.verdict.reasons[0];
    assert!(said.exit_code == 2 && said.text.starts_with(told) && said.text.contains(why), "{said:?}");

    // What ends one run ends the next.
    plan["rounds"] = json!(3);
    let ended = run(&folder, &plan);
    let summary: Summary = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, summary.runs.len()), (2, 1), "{}", ended.stderr);
}

#[test]
fn a_corpus_of_both_rekors_is_filled_from_each_as_if_it_had_none_of_the_other() {
    let (folder, lab) = (Folder::new(), Lab::of(&[]));
    for (rekor, operations, before) in [("v1", 5, 0), ("v2", 6, 0), ("v1", 7, 5)] {
        let fill = json!({ "workload": "sign", "operations": operations, "corpus": folder.path("c.jsonl") });
        let report = run(&folder, &filling(&json!({ "sigstore": lab.target }), &fill, &bare(rekor))).report();
        let fill = filled(&report);
        let entries = fill.corpus.as_ref().map(|corpus| corpus.entries);
        assert_eq!((fill.filled_before, fill.filled), (before, operations - before), "{rekor}");
        assert_eq!(entries, Some(operations), "{rekor}");
    }
}

#[test]
fn a_line_that_fills_a_corpus_of_its_own_logs_other_entries_each_time_unless_it_has_a_seed() {
    let lab = Lab::of(&[]);
    for (flag, url) in [("--rekor", "rekor_url"), ("--rekor-tiles", "rekor_tiles_url")] {
        let on = ["sigstore", "verify", flag, lab.at(url), "--trusted-root", lab.at("trusted_root")];
        let load = ["--fill", "5", "--rate", "20/s", "-z", "500ms", "--out", "-"];
        let line = |more: &[&str]| hammer(&[on.as_slice(), &load, more].concat());
        for more in [&[][..], &[], &["--seed", "7"]] {
            let ended = line(more);
            assert!(!ended.stderr.contains("corpus.jsonl"), "{}", ended.stderr);
            let report = ended.report();
            let promises = &report.promises.all;
            assert!(promises.made == 10 && promises.kept == 10, "{promises:?} {:?}", report.verdict);
            let corpus = filled(&report).corpus.as_ref().unwrap();
            assert_eq!((corpus.entries, corpus.lost, corpus.file.as_deref()), (5, 0, None));
            for place in ["/fill/corpus", "/workloads/0/sigstore_verify/corpus"] {
                let named = report.plan.pointer(place).and_then(Value::as_str);
                assert_eq!(named, Some("entries.jsonl"), "a file that another run of the plan can make");
            }
            let events = serde_json::to_string(&report.events).unwrap();
            let told =
                "the corpus was of this run alone, and is gone: in the plan `entries.jsonl` stands for it";
            assert_eq!(events.matches(told).count(), 1, "{events}");
        }
        let ended = line(&["--seed", "7"]);
        let report = ended.report();
        let incomplete = report.fill.as_ref().and_then(|fill| fill.incomplete.as_deref());
        let told = "filled 5 of 5, and the corpus has no entry of them: all 5 were there already (409): \
                    another --seed logs new ones";
        assert_eq!(incomplete, Some(told), "{}", ended.stderr);
        assert_eq!((report.verdict.exit_code, report.promises.all.broken), (5, 0), "{:?}", report.verdict);
    }
}

#[test]
fn what_a_fill_got_accepted_and_a_corpus_cannot_have_is_told() {
    for rekor in ["v1", "v2"] {
        let (folder, lab) = (Folder::new(), Lab::of(&[]));
        log_entries(&folder, (&lab, "first.jsonl"), &bare(rekor), (3, 0));
        let fill = json!({ "workload": "sign", "operations": 5, "corpus": folder.path("second.jsonl") });
        let report = run(&folder, &filling(&json!({ "sigstore": lab.target }), &fill, &bare(rekor))).report();
        let fill = report.fill.as_ref().unwrap();
        let corpus = fill.corpus.as_ref().unwrap();
        assert_eq!((fill.filled, corpus.entries, corpus.lost), (5, 2, 3), "{:?}", report.verdict);
        let told = "second.jsonl: they were there already (409): another --seed logs new ones";
        let is_told = |text: &str| text.starts_with("3 entries did not get into ") && text.ends_with(told);
        assert!(report.verdict.reasons.iter().any(|reason| is_told(&reason.text)), "{:?}", report.verdict);
    }
}

/// The services of a run, whose Rekors have these seeds, are filled into the corpus and read by it.
fn of_services_of_the_run(folder: &Folder, rekor: &str, seeds: [u64; 2]) -> Ended {
    let corpus = folder.path("corpus.jsonl");
    let fill = json!({ "workload": "sign", "operations": 5, "corpus": corpus });
    let mut target = embedded();
    target["lab"]["sigstore"]["rekor"]["key_seed"] = json!(seeds[0]);
    target["lab"]["sigstore"]["rekor_tiles"]["key_seed"] = json!(seeds[1]);
    let mut plan = filling(&target, &fill, &json!({ "rekor": rekor, "timestamp": false }));
    let verify = json!({ "rekor": rekor, "corpus": corpus, "timestamp_chain": false });
    plan["workloads"].as_array_mut().unwrap().push(json!({
        "name": "verify", "sigstore_verify": verify, "load": { "rate": "20/s", "operations": 5 },
    }));
    plan["phases"]["measurement"] = json!("2s");
    run(folder, &plan)
}

/// They start empty, with the keys that they had before.
#[test]
fn a_corpus_of_embedded_services_of_before_is_started_anew_and_that_is_said() {
    let folder = Folder::new();
    let corpus = folder.path("corpus.jsonl");
    for (rekor, is_said) in [("v1", false), ("v1", true), ("v2", true), ("v2", true)] {
        let report = of_services_of_the_run(&folder, rekor, [1, 2]).report();
        let fill = filled(&report);
        assert_eq!((fill.filled_before, fill.filled), (0, 5), "{:?}", report.verdict);
        assert_eq!(entries(&corpus).len(), 5);
        assert!(report.breaches.is_empty() && report.promises.all.kept > 0, "{:?}", report.breaches);
        let events = serde_json::to_string(&report.events).unwrap();
        let told = "corpus.jsonl was started anew: its 5 entries were of embedded services of before";
        assert_eq!(events.matches(told).count(), usize::from(is_said), "{events}");
    }
}

/// What is not known to have ended with its run is nobody's to throw away, whatever keys it is of.
#[test]
fn a_corpus_with_entries_of_another_log_than_those_of_the_run_is_refused_and_stays() {
    let told = |ended: &Ended, what: &str| {
        refused(ended, &["fill.corpus", "corpus.jsonl: line ", what]);
        assert!(!ended.stderr.contains("target.lab"), "no key of it says where the log is: {}", ended.stderr);
    };
    let folder = Folder::new();
    let corpus = folder.path("corpus.jsonl");
    let read = || std::fs::read_to_string(&corpus).unwrap();
    of_services_of_the_run(&folder, "v2", [1, 2]).report();
    let filled = read();
    // As services that were there to stay leave it, by the keys that those of a run have.
    let staying = filled.replace(",\"embedded\":true", "");
    assert_ne!(staying, filled);
    std::fs::write(&corpus, &staying).unwrap();
    told(&of_services_of_the_run(&folder, "v2", [1, 3]), "of the Rekor v2 with log ID");
    assert_eq!(read(), staying);
    // Those alone, entries of both, those of which no fill said where they are from, and those of two keys.
    let others = staying.replace("127.0.0.1+", "another.example+").replace("rekor-v2", "rekor-v1");
    let others = others.lines().skip(1).collect::<Vec<_>>().join("\n").replace("\"leaf\"", "\"uuid\"");
    let unsaid = filled.lines().filter(|line| !line.starts_with("{\"fill\"")).collect::<Vec<_>>().join("\n");
    let of_two_keys = staying.replace("\"log_ids\":[", "\"log_ids\":[\"another.example+cb29c3a1\",");
    for before in [staying, format!("{filled}{others}\n"), format!("{unsaid}\n"), of_two_keys] {
        std::fs::write(&corpus, &before).unwrap();
        told(&of_services_of_the_run(&folder, "v2", [1, 2]), "was emptied or set back since");
        assert!(read().starts_with(&before), "{}", read());
    }
    let verify = json!({ "rekor": "v2", "corpus": corpus, "timestamp_chain": false });
    let plan = json!({
        "target": embedded(),
        "workloads": [{ "name": "verify", "sigstore_verify": verify, "load": { "rate": "20/s" } }],
        "phases": { "measurement": "2s" },
    });
    let ended = run(&folder, &plan);
    refused(&ended, &["sigstore_verify.corpus", "corpus.jsonl: line "]);
    assert!(!ended.stderr.contains("target.lab"), "{}", ended.stderr);
}
