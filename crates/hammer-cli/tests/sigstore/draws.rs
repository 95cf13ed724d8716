//! Which entries of a corpus verify flows read, by the log's own count of each.

use std::fs;

use hammer_lab::serve::Target as _;
use hammer_report::report::Breach;
use serde_json::{Value, json};

use crate::fates::until;
use crate::services::Services;

/// A log with so many entries, and the corpus that a fill wrote of them.
struct Filled {
    services: Services,
    corpus: String,
}

impl Filled {
    fn new() -> Self {
        let services = Services::of(serde_json::from_value(json!({})).unwrap());
        let corpus = services.folder.path().join("corpus.jsonl").to_str().unwrap().to_owned();
        let sign = json!({ "name": "sign", "sigstore_sign": { "timestamp": false, "audit": false }, "timeout": "60s" });
        let plan = json!({
            "target": { "lab": { "sigstore": {} } },
            "fill": { "workload": "sign", "operations": ENTRIES, "users": 4, "corpus": corpus },
            "workloads": [sign],
            "phases": { "drain": "60s" },
        });
        let filled = Self { services, corpus };
        let report = filled.run(&plan);
        assert_eq!(report.fill.map(|fill| fill.filled), Some(ENTRIES as u64));
        assert_eq!(filled.services.lab.rekor.target().reads(), [0; 0], "nobody has read yet");
        filled
    }

    fn run(&self, plan: &Value) -> hammer_report::Report {
        fs::write(self.services.folder.path().join(PLAN), plan.to_string()).unwrap();
        self.services.report(PLAN, &[])
    }

    /// How often each entry was read by flows that draw so.
    fn read(&self, draw: &Value, seed: u64) -> Vec<u64> {
        let reads = || {
            let mut reads = self.services.lab.rekor.target().reads();
            reads.resize(ENTRIES, 0);
            reads
        };
        let mut before = reads();
        // The log is asked for the first entry of the corpus and for its last, ahead of the run.
        before[0] += 1;
        before[ENTRIES - 1] += 1;
        let verify = json!({ "corpus": self.corpus, "draw": draw, "timestamp_chain": false });
        let plan = json!({
            "target": { "lab": { "sigstore": {} } },
            "workloads": [{
                "name": "verify",
                "sigstore_verify": verify,
                "load": { "users": 4, "operations": FLOWS },
                "timeout": "60s",
            }],
            "seed": seed,
            "phases": { "drain": "60s" },
        });
        let report = self.run(&plan);
        let promises = &report.promises.all;
        assert_eq!((promises.made, promises.kept), (FLOWS, FLOWS), "{draw}: {:?}", report.breaches);
        let counts: Vec<u64> = reads().iter().zip(before).map(|(after, before)| after - before).collect();
        assert_eq!(counts.iter().sum::<u64>(), FLOWS, "{draw}: each flow reads one entry");
        counts
    }
}

/// Each count is within five standard deviations of what its share of all flows comes to.
#[track_caller]
fn are_shares(counts: &[u64], shares: impl Iterator<Item = f64>) {
    for (place, (count, share)) in counts.iter().zip(shares).enumerate() {
        let expected = share * FLOWS as f64;
        let off = (*count as f64 - expected).abs();
        assert!(
            off <= 5.0 * (expected * (1.0 - share)).sqrt() + 1.0,
            "{place}: {count}, not {expected}: {counts:?}"
        );
    }
}

#[test]
fn flows_read_the_entries_that_their_draw_promises_as_the_log_counts_them() {
    let filled = Filled::new();
    let uniform = filled.read(&json!("uniform"), 0);
    are_shares(&uniform, std::iter::repeat_n(1.0 / ENTRIES as f64, ENTRIES));

    for (draw, exponent) in [(json!({ "zipf": 1.3 }), 1.3), (json!("zipf"), 1.0)] {
        let popularity = |rank: usize| (rank as f64).powf(-exponent);
        let all: f64 = (1..=ENTRIES).map(popularity).sum();
        let counts = filled.read(&draw, 0);
        are_shares(&counts, (1..=ENTRIES).map(|rank| popularity(rank) / all));
        let tenths: Vec<u64> = counts.chunks(ENTRIES / 4).map(|chunk| chunk.iter().sum()).collect();
        assert!(tenths.is_sorted_by(|one, next| one > next), "the older are the more popular: {tenths:?}");
    }

    let newest = filled.read(&json!({ "newest": "25%" }), 0);
    let (older, newer) = newest.split_at(ENTRIES - ENTRIES / 4);
    assert!(older.iter().all(|count| *count == 0), "{newest:?}");
    are_shares(newer, std::iter::repeat_n(4.0 / ENTRIES as f64, ENTRIES / 4));

    let hot = filled.read(&json!("hot"), 0);
    assert_eq!((hot[0], hot[1..].iter().sum::<u64>()), (FLOWS, 0));

    assert_eq!(filled.read(&json!("uniform"), 0), uniform, "they follow from the seed");
    assert_ne!(filled.read(&json!("uniform"), 1), uniform);
}

/// Whoever lost what the log itself showed ahead of the run is accused.
#[test]
fn a_corpus_whose_log_loses_its_entries_in_mid_run_accuses_it_of_each_that_is_read() {
    let filled = Filled::new();
    // Whoever audits the log ends the run by what it says of itself.
    let verify =
        json!({ "corpus": filled.corpus, "timestamp_chain": false, "missing_after": "1ms", "audit": false });
    let plan = json!({
        "target": { "lab": { "sigstore": {} } },
        "workloads": [{ "name": "verify", "sigstore_verify": verify, "load": { "rate": "40/s", "operations": 200 } }],
        "phases": { "drain": "60s" },
    });
    let Filled { services, .. } = &filled;
    fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
    let started = services.start(PLAN, &[]);
    let rekor = &services.lab.rekor;
    let read = || rekor.stats().requests.get("get-entry").map_or(0, |answers| answers[&200]);
    until(|| read() >= 5);
    rekor.target().lose_data();
    let report = started.ended().report();
    let of_flows = report.promises.by_kind.iter().find(|kind| kind.workload == "verify");
    let promises = &of_flows.unwrap().promises;
    assert_eq!((promises.made, promises.kept), (200, read()), "{promises:?}");
    assert!(promises.broken > 0 && promises.broken == 200 - read(), "{promises:?}");
    let is_expected = |breach: &Breach| match breach.workload.as_str() {
        "verify" => breach.kind == "lost-entry",
        _ => ["shrinking-tree", "forked-checkpoint"].contains(&breach.kind.as_str()),
    };
    assert!(report.breaches.iter().all(is_expected), "{:?}", report.breaches);
    assert_eq!(report.verdict.exit_code, 4, "{:?}", report.verdict);
}

const ENTRIES: usize = 40;
const FLOWS: u64 = 800;
const PLAN: &str = "plan.yaml";
