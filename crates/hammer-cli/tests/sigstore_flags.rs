//! What the arguments of `hammer sigstore` become, and what `hammer lab sigstore` leaves for them.

#[path = "sigstore_flags/answers.rs"]
mod answers;
#[path = "support/attended.rs"]
mod attended;
#[path = "sigstore_flags/bundles.rs"]
mod bundles;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "sigstore_flags/issuers.rs"]
mod issuers;
#[path = "sigstore_flags/lab.rs"]
mod lab;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/plan.rs"]
#[expect(dead_code, reason = "other tests refuse whole plans")]
mod plan;
#[path = "sigstore_flags/preflight.rs"]
mod preflight;
#[path = "sigstore_flags/refusals.rs"]
mod refusals;
#[path = "support/sigstore.rs"]
mod sigstore;
#[path = "sigstore_flags/tokens.rs"]
mod tokens;

use std::fs;

use hammer_oauth::jwt;
use hammer_report::Report;
use rustix::process::Signal;
use serde_json::{Value, json};

use answers::get;
use folder::Folder;
use hammer::{Ended, Started, command, hammer};
use on_time::exit_if_on_time;
use plan::refused;
use sigstore::{Lab, kept};

fn recorded(name: &str) -> String {
    format!("{}/../hammer-sigstore/testdata/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A run's plan, below `path`.
fn planned<'a>(report: &'a Report, path: &str) -> &'a Value {
    report.plan.pointer(path).unwrap_or(&Value::Null)
}

fn series(report: &Report) -> Vec<&str> {
    report.series.iter().map(|series| series.name.as_str()).collect()
}

#[test]
fn a_line_signs_with_the_token_that_the_lab_left_and_its_answers_are_verified() {
    let lab = Lab::of(&[]);
    let (rekor, token) = (lab.at("rekor_url"), lab.token());
    let args = [
        "--rekor",
        rekor,
        "--token-file",
        token,
        "--timestamp-entry",
        "-q",
        "20",
        "--for",
        "1s",
        "--seed",
        "7",
    ];
    let report = kept(&lab.sigstore("sign", &args));
    assert_eq!(report.totals.all.offered, 20);
    assert_eq!(series(&report), ["sign", "fulcio", "rekor", "timestamp", "rekor-timestamp"]);
    assert_eq!(report.promises.all.kept, 4 * report.totals.all.fates.accepted);
    assert_eq!(
        (planned(&report, "/seed"), planned(&report, "/workloads/0/timeout")),
        (&json!(7), &json!("30s"))
    );
}

#[test]
fn rekor_v2_is_audited_unless_the_line_says_otherwise_and_without_a_log_there_is_no_entry() {
    let lab = Lab::of(&[]);
    let (tiles, token) = (lab.at("rekor_tiles_url"), lab.token());
    let args = ["--rekor-tiles", tiles, "--token-file", token, "-q", "20/s", "-z", "500ms"];
    for (more, is_audited) in [(None, true), (Some("--no-audit"), false)] {
        let args: Vec<&str> = args.iter().copied().chain(more).collect();
        let report = kept(&lab.sigstore("sign", &args));
        assert_eq!(series(&report), ["sign", "fulcio", "rekor-tiles", "timestamp"]);
        assert_eq!(report.observations.iter().any(|observed| observed.name == "audited"), is_audited);
    }
    let report = kept(&lab.sigstore("sign", &["--token-file", token, "-q", "20/s", "-z", "500ms"]));
    assert_eq!(series(&report), ["sign", "fulcio", "timestamp"]);
}

#[test]
fn tokens_of_the_labs_seed_and_issuer_are_taken_and_those_of_another_seed_are_not() {
    for signer in [None, Some("--rs256")] {
        let set: &[&str] = if signer.is_some() { &["--set", "token_signature=rs256"] } else { &[] };
        let lab = Lab::of(&[set, &["--seed", "5"]].concat());
        let issuer =
            ["--issuer", "http://issuer.hammer.test", "--listen", "127.0.0.1:0", "--identities", "3"];
        let load = ["--users", "2", "-z", "300ms", "--fulcio-interface", "grpc"];
        let signer = signer.as_slice();
        let report =
            kept(&lab.sigstore("sign", &[&issuer, load.as_slice(), signer, &["--seed", "5"]].concat()));
        assert_eq!(planned(&report, "/workloads/0/load/users"), 2);
        assert_eq!(planned(&report, "/workloads/0/sigstore_sign/identities"), 3);

        let load = ["-q", "20/s", "-z", "300ms", "--fulcio-interface", "v2"];
        let other =
            lab.sigstore("sign", &[&issuer, load.as_slice(), signer, &["--seed", "6"]].concat()).report();
        let fates = &other.totals.all.fates;
        assert!(fates.accepted == 0 && fates.refused > 0, "{fates:?}");
    }
}

#[test]
fn verify_flows_of_a_line_read_what_its_sign_flows_got_logged() {
    let lab = Lab::of(&[]);
    let on = ["--rekor", lab.at("rekor_url"), "--token-file", lab.token(), "-z", "1s"];
    let open = ["--sign-rate", "20/s", "--verify-rate", "80/s", "--warm-up", "1s"];
    let report = lab.sigstore("mixed", &[on.as_slice(), &open].concat()).report();
    assert_eq!(report.promises.all.kept, report.promises.all.made);
    let closed = ["--sign-users", "1", "--verify-users", "3"];
    let users = kept(&lab.sigstore("mixed", &[on.as_slice(), &closed].concat()));
    assert_eq!(users.run.shards, 1, "verify flows read what users of their shard signed");
    for (report, least) in [(&report, 40), (&users, 1)] {
        let verified = report.operations().find(|operations| operations.workload == "verify").unwrap();
        assert!(verified.measurement.counts.fates.accepted >= least, "{:?}", verified.measurement.counts);
        assert_eq!(series(report)[4..], ["verify", "rekor-entry", "timestamp-chain"]);
    }
}

/// What a fill from one line says of itself.
fn filled(lab: &Lab, corpus: &str, more: &[&str]) -> Report {
    let args =
        ["--rekor", lab.at("rekor_url"), "--token-file", lab.token(), "--corpus", corpus, "--users", "4"];
    let ended = lab.sigstore("fill", &[args.as_slice(), more, &["--quiet"]].concat());
    let report = ended.report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{}", ended.stderr);
    let promises = &report.fill.as_ref().expect("a fill").promises.all;
    assert_eq!(promises.kept, promises.made, "{}", ended.stderr);
    report
}

#[test]
fn a_line_fills_a_log_and_another_verifies_what_it_left() {
    let lab = Lab::of(&[]);
    let corpus = lab.folder.path("entries.jsonl");
    let fill = |more: &[&str]| {
        let report = filled(&lab, &corpus, more);
        let fill = report.fill.unwrap();
        (fill.filled_before, fill.filled, fill.corpus.map(|corpus| corpus.entries))
    };
    assert_eq!(fill(&["--flows", "12", "--timestamp-entry"]), (0, 12, Some(12)));
    assert_eq!(fill(&["-n", "30"]), (12, 18, Some(30)), "it goes on");
    assert_eq!(fill(&["-n", "10", "--anew"]), (0, 10, Some(10)), "or starts anew");
    for (by, draw, plan) in [
        ("uuid", "uniform", json!("uniform")),
        ("index", "hot", json!("hot")),
        ("search", "zipf=1.1", json!({ "zipf": 1.1 })),
        ("uuid", "newest=50%", json!({ "newest": "50%" })),
        ("uuid", "newest=3", json!({ "newest": 3 })),
    ] {
        let (rekor, timestamp, root) = (lab.at("rekor_url"), lab.at("timestamp_url"), lab.at("trusted_root"));
        let on = ["sigstore", "verify", "--rekor", rekor, "--timestamp", timestamp, "--trusted-root", root];
        let what = ["--corpus", &corpus, "--by", by, "--draw", draw, "-q", "40", "-z", "500ms", "--out", "-"];
        let report = kept(&hammer(&[on.as_slice(), &what].concat()));
        assert_eq!(report.totals.all.offered, 20);
        assert_eq!(planned(&report, "/workloads/0/sigstore_verify/draw"), &plan);
        let steps: &[&str] = match by {
            "search" => &["verify", "rekor-search", "rekor-entry", "timestamp-chain"],
            _ => &["verify", "rekor-entry", "timestamp-chain"],
        };
        assert_eq!(series(&report), steps);
    }
}

#[test]
fn a_log_on_tiles_is_filled_and_verified_from_one_line_as_well() {
    let lab = Lab::of(&[]);
    let corpus = lab.folder.path("entries.jsonl");
    let tiles = lab.at("rekor_tiles_url");
    let args = ["--rekor-tiles", tiles, "--token-file", lab.token(), "--corpus", &corpus];
    let report =
        lab.sigstore("fill", &[args.as_slice(), &["-n", "8", "--users", "4", "--quiet"]].concat()).report();
    let fill = report.fill.unwrap();
    assert_eq!((fill.filled, fill.promises.all.kept), (8, fill.promises.all.made));
    let (root, timestamp) = (lab.at("trusted_root"), lab.at("timestamp_url"));
    let verify = ["sigstore", "verify", "--trusted-root", root, "--corpus", &corpus];
    let on = ["--rekor-tiles", tiles, "--timestamp", timestamp, "-q", "40", "-z", "500ms", "--out", "-"];
    let report = kept(&hammer(&[verify.as_slice(), &on].concat()));
    assert_eq!(
        (report.totals.all.offered, planned(&report, "/workloads/0/sigstore_verify/rekor")),
        (20, &json!("v2"))
    );
    let of_v1 = ["--rekor", lab.at("rekor_url")];
    refused(
        &hammer(&[verify.as_slice(), &of_v1].concat()),
        &["use --corpus: ", "it has no entry of Rekor v1"],
    );
    let search = ["--rekor-tiles", tiles, "--by", "search"];
    refused(&hammer(&[verify.as_slice(), &search].concat()), &["use --by: Rekor v2 has no index to search"]);
}

#[test]
fn what_is_wrong_with_a_line_that_fills_or_verifies_is_named_by_its_argument() {
    let folder = Folder::new();
    let (root, absent) = (recorded("trusted_root.json"), folder.path("absent"));
    let empty = folder.write("empty.jsonl", "{\"hammer_corpus\":1}\n");
    let nowhere = "http://127.0.0.1:9";
    let fill = ["sigstore", "fill", "--fulcio", nowhere, "--trusted-root", &root, "--token-file", &absent];
    for (more, part) in [
        (["--flows", "0"], "use --flows: it must be 1 at least"),
        (["--flows", "many"], "use --flows: "),
        (["--users", "0"], "use --users: it must be 1 at least"),
        (["--for", "long"], "use -z: `long` is no time"),
        (["-t", "long"], "use -t: `long` is no time"),
        (["--rekor", "nowhere"], "use --rekor: `nowhere` is no URL"),
    ] {
        refused(&hammer(&[fill.as_slice(), &more].concat()), &[part]);
    }
    let verify = ["sigstore", "verify", "--rekor", nowhere, "--trusted-root", &root];
    for (more, part) in [
        (["--corpus", &absent, "--draw", "hot"], "use --corpus: "),
        (["--corpus", &empty, "--draw", "hot"], "it has no entry of Rekor v1"),
        (["--corpus", &empty, "--draw", "cold"], "use --draw: "),
        (["--corpus", &empty, "--draw", "zipf=0"], "use --draw"),
        (["--corpus", &empty, "--draw", "newest=x"], "use --draw"),
        (["--corpus", &empty, "--draw", "newest=0"], "use --draw"),
        (["--corpus", &empty, "--draw", "newest=0%"], "use --draw: `newest` has to be more than 0%"),
        (["--corpus", &empty, "--timestamp", "nowhere"], "use --timestamp: `nowhere` is no URL"),
    ] {
        refused(&hammer(&[verify.as_slice(), &more].concat()), &[part]);
    }
    refused(&hammer(&[verify.as_slice(), &["--fill", "0"]].concat()), &["use --fill: it must be 1 at least"]);
    let both = hammer(&[verify.as_slice(), &["--fill", "5", "--corpus", &empty]].concat());
    assert!(both.code == 2 && both.stderr.contains("cannot be used with"), "{both:?}");
    let no_file = hammer(&[fill.as_slice(), &["--anew"]].concat());
    assert!(no_file.code == 2 && no_file.stderr.contains("--corpus <FILE>"), "{no_file:?}");
}

#[test]
fn a_user_who_finds_nothing_to_verify_waits_for_the_first_entry() {
    // It comes after those who verify.
    let lab = Lab::of(&["--set", "rekor.integration_delay=3s"]);
    let on = ["--rekor", lab.at("rekor_url"), "--token-file", lab.token()];
    let load = ["--sign-users", "1", "--verify-users", "3", "--warm-up", "2500ms", "-z", "500ms"];
    let report = lab.sigstore("mixed", &[on.as_slice(), &load].concat()).report();
    let verified = report.operations().find(|operations| operations.workload == "verify").unwrap();
    let (warm_up, measured) = (&verified.warm_up.counts.fates, &verified.measurement.counts.fates);
    assert_eq!(warm_up.abandoned + measured.abandoned, 0, "{warm_up:?} {measured:?}");
    assert!(warm_up.accepted + measured.accepted > 0, "{warm_up:?} {measured:?}");
}

#[test]
fn the_published_tests_are_plans_that_the_embedded_services_can_stand() {
    let configs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs");
    let files = fs::read_dir(configs).unwrap().map(|file| file.unwrap().path());
    // A fill is a test of its own.
    let is_load = |file: &std::path::PathBuf| {
        file.to_str().unwrap().contains("/rhtas-") && !file.ends_with("rhtas-fill.yaml")
    };
    let files: Vec<_> = files.filter(is_load).collect();
    assert_eq!(files.len(), 16, "{files:?}");
    let folder = Folder::new();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let mut args =
            vec!["run", file.to_str().unwrap(), "--set", "target={lab: {sigstore: {}}}", "--out", "-"];
        args.extend(["--set", "phases.measurement=300ms", "--set", "interval=100ms"]);
        let corpus = folder.path(&format!("{name}.jsonl"));
        let reads =
            [format!("fill.corpus={corpus}"), format!("workloads.verify.sigstore_verify.corpus={corpus}")];
        let is_filled = name.contains("verify");
        if is_filled {
            reads.iter().for_each(|change| args.extend(["--set", change]));
            args.extend(["--set", "fill.operations=20", "--set", "fill.users=4"]);
            args.extend([
                "--set",
                "workloads.verify.load={users: 2, think: 1ms}",
                "--set",
                "phases.warm_up=0s",
            ]);
        } else {
            args.extend(["--set", "workloads.sign.load={users: 1}", "--set", "phases.warm_up=1500ms"]);
        }
        if name.contains("mixed") {
            let load =
                "workloads.verify.load={stages: [{users: 0, over: 1s}, {users: 2, over: 0s}], think: 1ms}";
            args.extend(["--set", load]);
        }
        let ended = hammer(&args);
        let report = kept(&ended);
        assert!(ended.stderr.contains("\ncompat     as rhtas-benchmark counts, "), "{}", ended.stderr);
        is_counted_as_published(&report);
        let of_each = planned(&report, "/workloads/0/sigstore_sign");
        assert_eq!([&of_each["identities"], &of_each["artifacts"]].map(|pool| *pool == 1), [!is_filled; 2]);
        assert_eq!(
            report.fill.as_ref().map(|fill| (fill.filled, fill.promises.all.kept)),
            is_filled.then_some((20, 80))
        );
        let operations: Vec<&str> =
            report.operations().map(|operations| operations.workload.as_str()).collect();
        assert_eq!(operations.contains(&"sign"), !is_filled, "{name}: what fills does nothing else");
        assert_eq!(operations.contains(&"verify"), is_filled || name.contains("mixed"), "{name}");
        assert!(
            report.operations().all(|operations| operations.measurement.counts.fates.accepted > 0),
            "{name}"
        );
    }
}

/// Five requests a sign flow, one of which is not sent, and two a verify flow; a flow that was cut off has less.
fn is_counted_as_published(report: &Report) {
    let jobs = &report.compat.as_ref().unwrap().jobs;
    assert_eq!(jobs.len(), report.operations().count());
    for flows in report.operations() {
        let (name, each, helped) = match flows.workload.as_str() {
            "sign" => ("signing", 5, 1),
            _ => ("verifying", 2, 0),
        };
        let job = jobs.iter().find(|job| job.job == name).unwrap();
        let counts = [&flows.warm_up.counts, &flows.measurement.counts];
        let accepted: u64 = counts.iter().map(|counts| counts.fates.accepted).sum();
        let begun: u64 = counts.iter().map(|counts| counts.dispatched).sum();
        assert!((accepted * each..=begun * each).contains(&job.requests), "{job:?}: {accepted} of {begun}");
        assert_eq!(job.not_sent, begun * helped);
        assert_eq!(job.operations_per_s, flows.measurement.rates.map(|rates| rates.accepted_per_s));
        assert!(job.requests_per_s > 0.0 && job.p95_ns.is_some(), "{job:?}");
        assert!(job.mean_requests_per_s.is_some_and(|mean| mean > 0.0), "{job:?}");
    }
}

#[test]
fn a_line_asks_for_timestamps_in_either_form() {
    let lab = Lab::of(&[]);
    let (url, root) = (lab.at("timestamp_url"), lab.at("trusted_root"));
    let chain = lab.folder.write("chain.pem", &get(url, "/api/v1/timestamp/certchain"));
    for (form, trust) in [("json", ["--trusted-root", root, "--json"]), ("der", ["--chain", &chain, "-q20"])]
    {
        let ended =
            hammer(&[&["sigstore", "tsa", url, "-z", "500ms", "--out", "-"], trust.as_slice()].concat());
        let report = kept(&ended);
        assert_eq!(report.totals.all.offered, 10, "20/s unless it says otherwise");
        assert_eq!(planned(&report, "/workloads/0/sigstore_timestamp/format"), form);
    }
    let absent = lab.folder.path("absent");
    let more = ["--trusted-root", root, "--cacert", &absent];
    refused(
        &hammer(&[&["sigstore", "tsa", url], more.as_slice()].concat()),
        &["use --cacert: failed to read"],
    );
}

#[test]
fn a_line_that_verifies_without_a_corpus_fills_the_log_first_and_says_so() {
    let lab = Lab::of(&[]);
    for (flag, url, more, filled) in [
        ("--rekor", "rekor_url", ["--fill", "12"], 12),
        ("--rekor-tiles", "rekor_tiles_url", ["--draw", "hot"], 100),
    ] {
        let on = ["sigstore", "verify", flag, lab.at(url), "--trusted-root", lab.at("trusted_root")];
        let ended = hammer(&[on.as_slice(), &more, &["-q", "20", "-z", "1s", "--out", "-"]].concat());
        let report = kept(&ended);
        let fill = report.fill.as_ref().unwrap();
        assert_eq!((fill.filled, fill.promises.all.kept), (filled, fill.promises.all.made));
        assert_eq!(report.totals.all.offered, 20);
        let said = format!("no --corpus is given: logs {filled} entries first, and reads those");
        assert!(ended.stderr.starts_with(&said), "{}", ended.stderr);
        assert_eq!(fill.corpus.as_ref().unwrap().file, None, "it is gone");
    }
}

#[test]
fn a_line_signs_and_verifies_in_rekor_v2_at_once() {
    let lab = Lab::of(&[]);
    let on = ["--rekor-tiles", lab.at("rekor_tiles_url"), "--token-file", lab.token(), "-z", "1s"];
    let load = ["--sign-rate", "20/s", "--verify-rate", "40/s", "--warm-up", "1s"];
    let ended = lab.sigstore("mixed", &[on.as_slice(), &load].concat());
    let report = ended.report();
    assert_eq!(report.promises.all.kept, report.promises.all.made, "{}", ended.stderr);
    let steps = ["verify", "rekor-checkpoint", "rekor-bundle", "rekor-tile", "timestamp-chain"];
    assert!(steps.iter().all(|step| series(&report).contains(step)), "{:?}", series(&report));
    let verified = report.operations().find(|operations| operations.workload == "verify").unwrap();
    assert!(verified.measurement.counts.fates.accepted > 0, "{}", ended.stderr);
}

#[test]
fn a_line_finds_the_services_in_a_signing_configuration_and_trusts_what_they_say_of_themselves() {
    let lab = Lab::of(&[]);
    let config = lab.folder.path("lab/signing_config.json");
    let root = ["--trusted-root", lab.at("trusted_root")];
    let load = ["--token-file", lab.token(), "-q", "20/s", "-z", "500ms", "--out", "-"];
    let sign = ["sigstore", "sign", "--signing-config", &config];
    let report = kept(&hammer(&[sign.as_slice(), &root, &load].concat()));
    assert_eq!(series(&report), ["sign", "fulcio", "rekor-tiles", "timestamp"], "the later version");
    let v1 = ["--rekor", lab.at("rekor_url")];
    let report = kept(&hammer(&[sign.as_slice(), &root, &v1, &load].concat()));
    assert_eq!(series(&report), ["sign", "fulcio", "rekor", "timestamp"], "what is named wins");
    let verify =
        ["sigstore", "verify", "--signing-config", &config, "--fill", "5", "-q", "20/s", "-z", "500ms"];
    let report = kept(&hammer(&[verify.as_slice(), &root, &["--out", "-"]].concat()));
    assert!(series(&report).contains(&"rekor-bundle"), "{:?}", series(&report));

    let served = hammer(&[sign.as_slice(), &["--trust", "servers"], &v1, &load].concat());
    let report = kept(&served);
    assert!(served.stderr.contains("ANSWERS ARE HELD TO WHAT THE SERVERS"), "{}", served.stderr);
    assert_eq!(planned(&report, "/target/sigstore/trust"), "servers");
    let absent = lab.folder.path("absent");
    refused(
        &hammer(&[&["sigstore", "sign", "--signing-config", &absent], root.as_slice(), &load].concat()),
        &["use --signing-config: failed to read ", &absent],
    );
    let neither = hammer(&[sign.as_slice(), &load].concat());
    let expected = "<--trusted-root <FILE>|--trust <WHOM>>";
    assert!(neither.code == 2 && neither.stderr.contains(expected), "{}", neither.stderr);
    let no_identity = hammer(&[sign.as_slice(), &root].concat());
    let expected = "<--issuer <URL>|--token-file <FILE>|--token-env <NAME>>";
    assert!(no_identity.code == 2 && no_identity.stderr.contains(expected), "{}", no_identity.stderr);
    let elsewhere = hammer(&[sign.as_slice(), &root, &["--issuer", "https://sso.test"]].concat());
    refused(&elsewhere, &["use --listen: ", "127.0.0.1:0 where it is served already"]);
}

#[test]
fn arguments_that_cannot_be_are_named() {
    let folder = Folder::new();
    let empty = r#"{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1"}"#;
    let (empty, absent) = (folder.write("empty.json", empty), folder.path("absent"));
    let nowhere = "http://127.0.0.1:9";
    let sign =
        ["sigstore", "sign", "--fulcio", nowhere, "--trusted-root", &empty, "--issuer", "http://127.0.0.1:9"];
    for (more, part) in [
        (["--rekor", "nowhere"], "use --rekor: `nowhere` is no URL of a service"),
        (["--rekor-tiles", "nowhere"], "use --rekor-tiles: `nowhere` is no URL"),
        (["--timestamp", "nowhere"], "use --timestamp: `nowhere` is no URL"),
        (["--identities", "0"], "use --identities: it must be 1 at least"),
        (["--artifacts", "0"], "use --artifacts: it must be 1 at least"),
        (["--rate", "fast"], "use --rate: `fast` is no rate"),
        (["--users", "0"], "use --users: there must be at least one user"),
        (["--for", "long"], "use -z: `long` is no time"),
        (["-t", "long"], "use -t: `long` is no time"),
        (["-c", "0"], "use -c: it must be 1 at least"),
    ] {
        refused(&hammer(&[sign.as_slice(), &more].concat()), &[part]);
    }
    let token = ["sigstore", "sign", "--fulcio", nowhere, "--trusted-root", &empty, "--token-file", &absent];
    refused(&hammer(&token), &["failed to read a secret from", &absent]);
    // By the name that it had at first.
    let timestamp = ["sigstore", "timestamp", nowhere];
    refused(
        &hammer(&[&timestamp, ["--chain", &absent].as_slice()].concat()),
        &["use --chain: failed to read"],
    );
    let no_chain = "use --trusted-root: failed to find the chain of the timestamp authority";
    refused(&hammer(&[&timestamp, ["--trusted-root", &empty].as_slice()].concat()), &[no_chain]);
    for (url, part) in [
        ("nowhere", "use URL: `nowhere` is no URL of a service"),
        ("https://sso.test", "use URL: it is no address of loopback with a port; say by --listen"),
        ("http://127.0.0.1:0", "use URL: it is no address of loopback with a port"),
    ] {
        refused(&hammer(&["sigstore", "issuer", url]), &[part]);
    }
    refused(
        &hammer(&["lab", "sigstore", "--set", "rekor1={}"]),
        &["--set rekor1={}", "unknown key `rekor1`"],
    );
}

#[test]
fn users_who_sign_and_those_who_verify_are_named_apart() {
    let folder = Folder::new();
    let token = folder.write("token", "unread");
    let on = [
        "sigstore",
        "mixed",
        "--fulcio",
        "http://127.0.0.1:9",
        "--trusted-root",
        &token,
        "--token-file",
        &token,
    ];
    let on = [on.as_slice(), &["--rekor", "http://127.0.0.1:9"]].concat();
    for (more, part) in [
        (["--sign-users", "0", "--verify-rate", "5"], "use --sign-users: there must be at least one user"),
        (["--sign-rate", "5", "--verify-users", "0"], "use --verify-users: there must be at least one user"),
        (["--sign-rate", "x", "--verify-users", "1"], "use --sign-rate: `x` is no rate"),
        (["--sign-users", "1", "--verify-rate", "x"], "use --verify-rate: `x` is no rate"),
    ] {
        refused(&hammer(&[on.as_slice(), &more].concat()), &[part]);
    }
    let half = hammer(&[on.as_slice(), &["--sign-users", "1"]].concat());
    assert!(half.code == 2 && half.stderr.contains("--verify-rate <RATE>"), "{half:?}");
}
