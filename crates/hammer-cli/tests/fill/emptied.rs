//! Corpora, and logs that were emptied or are others.

use serde_json::json;

use crate::folder::Folder;
use crate::hammer::Ended;
use crate::plan::refused;
use crate::sigstore::Lab;
use crate::{filled, filling, run};

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
                "was emptied since, or is another one",
            ],
        ),
        (
            "v2",
            ["rekor_tiles.batch_max_age=1ms"],
            [" is the first of the corpus, and the log has 0 entries", "was emptied since"],
        ),
    ] {
        let ended = of_two_logs(&[], &["--set", second[0]], rekor);
        for (ended, key) in ended.iter().zip(["fill.corpus", "sigstore_verify.corpus"]) {
            refused(ended, &[&["corpus.jsonl: line ", key][..], &parts].concat());
        }
    }
}

/// What is not there yet may come; what another entry has the place of never does.
#[test]
fn a_corpus_of_rekor_v2_is_refused_at_once_where_another_entry_has_the_place_of_its_first() {
    let folder = Folder::new();
    let filled_at = |lab: &Lab, corpus: &str| {
        let fill = json!({ "workload": "sign", "operations": 5, "corpus": folder.path(corpus) });
        let sign = json!({ "rekor": "v2", "timestamp": false });
        let report = run(&folder, &filling(&json!({ "sigstore": lab.target }), &fill, &sign)).report();
        assert_eq!(filled(&report).filled, 5, "{:?}", report.verdict);
    };
    filled_at(&Lab::of(&[]), "before.jsonl");
    let emptied = Lab::of(&[]);
    filled_at(&emptied, "since.jsonl");
    for (corpus, is_refused) in [("before.jsonl", true), ("since.jsonl", false)] {
        let verify = json!({ "rekor": "v2", "corpus": folder.path(corpus), "timestamp_chain": false });
        let load = json!({ "rate": "20/s", "operations": 5 });
        let ended = run(
            &folder,
            &json!({
                "target": { "sigstore": emptied.target },
                "workloads": [{ "name": "verify", "sigstore_verify": verify, "load": load }],
                "phases": { "measurement": "5s", "drain": "30s" },
            }),
        );
        match is_refused {
            true => refused(
                &ended,
                &["before.jsonl: line ", "the log has another entry of index 0", "was emptied"],
            ),
            false => assert!(ended.report().breaches.is_empty()),
        }
    }
}
