//! What the arguments of `hammer sigstore` become, and what `hammer lab sigstore` leaves for them.

#[path = "support/attended.rs"]
mod attended;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/plan.rs"]
#[expect(dead_code, reason = "other tests refuse whole plans")]
mod plan;
#[path = "support/sigstore.rs"]
mod sigstore;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use hammer_oauth::jwt;
use hammer_report::Report;
use rustix::process::Signal;
use serde_json::{Value, json};

use folder::Folder;
use hammer::{Ended, Started, command, hammer};
use on_time::exit_if_on_time;
use plan::refused;
use sigstore::{Lab, kept};

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
fn the_issuer_publishes_the_key_of_its_seed_and_prints_what_fulcio_needs_of_it() {
    let lab = Lab::of(&["--seed", "9"]);
    let token = fs::read_to_string(lab.token()).unwrap();
    let minted_by = jwt::parse(token.trim()).unwrap().header.key_id;
    for (seed, is_same) in [("9", true), ("8", false)] {
        let args =
            ["sigstore", "issuer", "https://sso.test/realms/tas", "--listen", "127.0.0.1:0", "--seed", seed];
        let issuer = Started::of(command(&args));
        let served = issuer.line_with("# served at ");
        let url = served.trim_end().trim_start_matches("# served at ");
        let printed: String = (0..5).map(|_| issuer.stdout.recv_timeout(hammer::DEADLINE).unwrap()).collect();
        let entry = "\"https://sso.test/realms/tas\"";
        let expected = format!(
            "oidc-issuers:\n  {entry}:\n    issuer-url: {entry}\n    client-id: \"sigstore\"\n    type: email\n"
        );
        assert_eq!(printed, expected);

        let discovery: Value = json_at(url, "/realms/tas/.well-known/openid-configuration");
        assert_eq!(discovery["issuer"], "https://sso.test/realms/tas");
        let jwks = json_at(url, "/realms/tas/jwks.json");
        assert_eq!(jwks["keys"][0]["kid"] == json!(minted_by), is_same, "{jwks} {minted_by:?}");
        issuer.signal(Signal::INT);
        let ended = issuer.ended();
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    }
}

#[test]
fn the_lab_says_at_its_end_what_each_service_has_answered() {
    let folder = Folder::new();
    let lab = Started::of(command(&["lab", "sigstore", "--set", "has_ct_log=false"]));
    let target: Value = serde_json::from_str(&lab.line_with("fulcio_url")).unwrap();
    assert!(target.get("identity").is_none() && target.get("trusted_root").is_none(), "nothing was written");
    let chain = folder
        .write("chain.pem", &get(target["timestamp_url"].as_str().unwrap(), "/api/v1/timestamp/certchain"));
    assert!(fs::read_to_string(chain).unwrap().contains("BEGIN CERTIFICATE"));
    lab.signal(Signal::TERM);
    let ended = lab.ended();
    let stats: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(stats["timestamp_authority"]["requests"]["certchain"]["200"], 1, "{stats}");
    assert!(stats["ct_log"].is_null() && stats["rekor"].is_object(), "{stats}");
    assert_eq!(ended.code, 0);
}

#[test]
fn the_lab_prints_how_cosign_signs_and_verifies_with_the_files_that_it_left() {
    for (has_ct_log, is_ignored) in
        [("has_ct_log=true", false), ("has_ct_log=false", true), ("fulcio.sct=detached", true)]
    {
        let folder = Folder::new();
        let out = folder.path("with space");
        let lab = Started::of(command(&["lab", "sigstore", "--out", &out, "--set", has_ct_log]));
        lab.line_with("fulcio_url");
        lab.signal(Signal::TERM);
        let said = lab.ended().stderr;
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("    cosign ")).collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].contains("sign-blob") && lines[1].contains("verify-blob"), "{said}");
        assert_eq!(lines[1].ends_with("--insecure-ignore-sct"), is_ignored, "{said}");
        let files = lines.iter().flat_map(|line| line.split('\'')).filter(|word| word.starts_with('/'));
        let there: Vec<bool> = files.map(|path| std::path::Path::new(path).is_file()).collect();
        // The bundle is what is made by them.
        assert_eq!(there, [true, false, true, true, true, true, false, true], "{said}");
        let token = fs::read_to_string(format!("{out}/token")).unwrap();
        assert!(!token.contains(char::is_whitespace), "cosign sends it as it stands");
    }
}

/// Carries out the lines for hammer that the lab printed, each for a second, as a shell does; their reports.
fn carried_out(said: &str, folder: &Folder) -> Vec<(String, Report)> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("    hammer "));
    let carry_out = |line: &str| {
        let line = line.replace("--for 10s", "--for 1s");
        let script = format!("exec \"$HAMMER\" {line} --out - --quiet");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).env("HAMMER", env!("CARGO_BIN_EXE_hammer")).current_dir(folder.path("."));
        let ended = Started::of(shell).ended();
        let report = ended.report();
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{line}: {}", ended.stderr);
        let promises = &report.promises.all;
        assert!(promises.made > 0 && promises.kept == promises.made, "{line}: {}", ended.stderr);
        (line.split(' ').nth(1).unwrap_or_default().to_owned(), report)
    };
    lines.map(carry_out).collect()
}

#[test]
fn the_lines_that_the_lab_prints_for_hammer_work_as_they_stand() {
    for has_files in [true, false] {
        let folder = Folder::new();
        let out = folder.path("with space");
        let files: &[&str] = if has_files { &["--out", &out] } else { &["--seed", "3"] };
        let quick = ["--set", "rekor_tiles.checkpoint_interval=50ms"];
        let mut lab = Started::of(command(&[["lab", "sigstore"].as_slice(), files, &quick].concat()));
        lab.line_with("fulcio_url");
        let mut said = String::new();
        while !said.contains("hammer sigstore tsa ") {
            said += &lab.stderr.recv_timeout(hammer::DEADLINE).unwrap();
        }
        let reports = carried_out(&said, &folder);
        let commands: Vec<&str> = reports.iter().map(|(command, _)| command.as_str()).collect();
        let expected: &[&str] = match has_files {
            true => &["sign", "fill", "verify", "mixed", "tsa"],
            false => &["sign", "verify", "mixed", "tsa"],
        };
        assert_eq!(commands, expected);
        lab.child.kill().unwrap();
        lab.child.wait().unwrap();
    }
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
        let corpus = std::path::Path::new(&fill.corpus.as_ref().unwrap().file);
        assert!(!corpus.exists(), "nothing of it is left");
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
fn an_issuer_alone_publishes_the_next_key_ahead_and_more_as_time_goes_by() {
    let args =
        ["sigstore", "issuer", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--rotate-every", "1s"];
    let issuer = Started::of(command(&args));
    let served = issuer.line_with("# served at ");
    let url = served.trim_end().trim_start_matches("# served at ");
    let keys = || json_at(url, "/jwks.json")["keys"].as_array().unwrap().len();
    assert!(keys() >= 2);
    // Each look waits a tenth of a second for a line that does not come.
    let looks = hammer::DEADLINE.as_millis() / 100;
    let is_there = (0..looks).any(|_| {
        let _ = issuer.stderr.recv_timeout(std::time::Duration::from_millis(100));
        keys() >= 4
    });
    assert!(is_there, "no key came");
    issuer.signal(Signal::INT);
    assert_eq!(issuer.ended().code, 0);
    refused(
        &hammer(&[&args[..6], &["100ms"]].concat()),
        &["use --rotate-every: a key is used for a second at least"],
    );
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
    refused(&hammer(&token), &["failed to read a token from", &absent]);
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
        &["--set rekor1={}", "unknown field `rekor1`"],
    );
    refused(&hammer(&["lab", "sigstore", "--out", &format!("{empty}/below")]), &["failed to open", "below"]);
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

fn json_at(url: &str, path: &str) -> Value {
    serde_json::from_str(&get(url, path)).unwrap()
}

/// The body of what stands there.
fn get(url: &str, path: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    body.to_owned()
}

fn recorded(name: &str) -> String {
    format!("{}/../hammer-sigstore/testdata/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn bundles_that_cosign_wrote_are_verified_offline_and_told() {
    let (v1, v2) = (recorded("cosign-bundle-rekor-v1.json"), recorded("cosign-bundle-rekor-v2.json"));
    let root = recorded("trusted_root.json");
    let on = ["sigstore", "verify-bundle", &v1, &v2, "--trusted-root", &root];
    let ended = hammer(&[on.as_slice(), &["--identity", "jdoe@redhat.com", "--json"]].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let said: Value = serde_json::from_str(&ended.stdout).unwrap();
    let told = |key: &str| -> Vec<Value> {
        said["bundles"].as_array().unwrap().iter().map(|bundle| bundle[key].clone()).collect()
    };
    assert_eq!(told("entry"), [json!("hashedrekord 0.0.1"), json!("hashedrekord 0.0.2")]);
    assert_eq!(told("signed_at"), [json!("2026-11-21T07:07:12.000Z"), json!("2026-11-21T07:08:35.000Z")]);
    let ended = hammer(&on);
    assert!(ended.stdout.starts_with("PASS, exit 0\nverified "), "{}", ended.stdout);
    assert!(ended.stdout.contains("by jdoe@redhat.com of http://127.0.0.1:18888"), "{}", ended.stdout);
}

#[test]
fn a_bundle_that_does_not_hold_is_named_beside_one_that_does() {
    let folder = Folder::new();
    let (broken, garbage) = (folder.path("broken.json"), folder.path("garbage.json"));
    let (v1, v2) = (recorded("cosign-bundle-rekor-v1.json"), recorded("cosign-bundle-rekor-v2.json"));
    let mut bundle: Value = serde_json::from_str(&fs::read_to_string(&v1).unwrap()).unwrap();
    bundle["verificationMaterial"]["tlogEntries"][0]["integratedTime"] = json!("1795244833");
    fs::write(&broken, bundle.to_string()).unwrap();
    fs::write(&garbage, "[").unwrap();
    let root = recorded("trusted_root.json");
    let ended = hammer(&["sigstore", "verify-bundle", &v2, &broken, &garbage, "--trusted-root", &root]);
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    for said in [
        "FAIL, exit 4\n",
        "cosign-bundle-rekor-v2.json: by jdoe",
        "broken.json: bad-set: ",
        "garbage.json: malformed-bundle: ",
    ] {
        assert!(ended.stdout.contains(said), "{said} is not in {}", ended.stdout);
    }
}

#[test]
fn a_bundle_that_does_not_hold_is_named_beside_one_that_cannot_be_looked_at() {
    let folder = Folder::new();
    let (broken, foreign) = (folder.path("broken.json"), folder.path("foreign.json"));
    let v1 = recorded("cosign-bundle-rekor-v1.json");
    let mut bundle: Value = serde_json::from_str(&fs::read_to_string(&v1).unwrap()).unwrap();
    bundle["verificationMaterial"]["tlogEntries"][0]["integratedTime"] = json!("1795244833");
    fs::write(&broken, bundle.to_string()).unwrap();
    bundle["verificationMaterial"]["tlogEntries"][0]["kindVersion"] =
        json!({ "kind": "intoto", "version": "0.0.2" });
    fs::write(&foreign, bundle.to_string()).unwrap();
    let root = recorded("trusted_root.json");
    let on = |bundles: &[&str]| {
        let rest = ["--trusted-root", root.as_str()];
        hammer(&[["sigstore", "verify-bundle"].as_slice(), bundles, &rest].concat())
    };
    let unknown = on(&[&foreign]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("entries of its kind"), "{}", unknown.stderr);
    for others in [["/nowhere/b.json", foreign.as_str()], [foreign.as_str(), "/nowhere/b.json"]] {
        let ended = on(&[&[broken.as_str()], others.as_slice()].concat());
        assert_eq!(ended.code, 4, "{}", ended.stderr);
        for said in [
            "FAIL, exit 4\n",
            "broken.json: bad-set: ",
            "unverified failed to ",
            "/nowhere/b.json",
            "foreign.json",
        ] {
            assert!(ended.stdout.contains(said), "{said} is not in {}", ended.stdout);
        }
    }
}

#[test]
fn what_keeps_a_bundle_from_being_looked_at_is_no_fault_of_it() {
    let (v1, root) = (recorded("cosign-bundle-rekor-v1.json"), recorded("trusted_root.json"));
    let missing = hammer(&["sigstore", "verify-bundle", "/nowhere/b.json", "--trusted-root", &root]);
    assert_eq!(missing.code, 2, "{}", missing.stdout);
    assert!(missing.stderr.contains("/nowhere/b.json"), "{}", missing.stderr);
    let no_root = hammer(&["sigstore", "verify-bundle", &v1, "--trusted-root", &v1]);
    assert_eq!(no_root.code, 2, "{}", no_root.stdout);
    assert!(
        no_root.stderr.contains("use --trusted-root") && no_root.stderr.contains("mediaType"),
        "{}",
        no_root.stderr
    );
}

/// The recorded trusted root with nothing under `key`.
fn root_without(folder: &Folder, key: &str) -> String {
    let mut root: Value =
        serde_json::from_str(&fs::read_to_string(recorded("trusted_root.json")).unwrap()).unwrap();
    root[key] = json!([]);
    folder.write(&format!("no-{key}.json"), &root.to_string())
}

#[test]
fn an_entry_of_no_log_that_the_trusted_root_knows_is_neither_accused_nor_believed() {
    let folder = Folder::new();
    let root = root_without(&folder, "tlogs");
    let broken = folder.write("broken.json", "[");
    for bundle in ["cosign-bundle-rekor-v1.json", "cosign-bundle-rekor-v2.json"] {
        let bundle = recorded(bundle);
        let on = ["sigstore", "verify-bundle", &bundle, "--trusted-root", &root];
        for more in [[].as_slice(), &["--json"]] {
            refused(
                &hammer(&[on.as_slice(), more].concat()),
                &[&bundle, "its entry cannot be verified without a log among the trusted root's `tlogs`"],
            );
        }
        let ended = hammer(&[on.as_slice(), &[broken.as_str()]].concat());
        assert_eq!(ended.code, 4, "{}", ended.stdout);
        let said = format!("unverified failed to verify {bundle}: its entry cannot be verified");
        assert!(ended.stdout.contains(&said), "{said} is not in {}", ended.stdout);
    }
}

#[test]
fn a_certificate_whose_scts_nobody_looked_at_is_said_to_be_one() {
    let folder = Folder::new();
    let bundle = recorded("cosign-bundle-rekor-v2.json");
    for (root, scts) in
        [(recorded("trusted_root.json"), "verified"), (root_without(&folder, "ctlogs"), "unverified")]
    {
        let on = ["sigstore", "verify-bundle", &bundle, "--trusted-root", &root];
        let ended = hammer(&on);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let told = ended.stdout.contains("; the SCTs of its certificate were not verified, since no CT log");
        assert_eq!(told, scts == "unverified", "{}", ended.stdout);
        let said: Value =
            serde_json::from_str(&hammer(&[on.as_slice(), &["--json"]].concat()).stdout).unwrap();
        assert_eq!(said["bundles"][0]["scts"], scts);
    }
}

/// `hammer sigstore verify-bundle` on bundles of the lab's own.
fn verified(lab: &Lab, bundles: &[&str], more: &[&str]) -> Ended {
    let on = ["sigstore", "verify-bundle", "--trusted-root", lab.at("trusted_root")];
    hammer(&[on.as_slice(), bundles, more].concat())
}

#[test]
fn a_line_leaves_the_bundle_of_a_file_that_either_rekor_logged_and_it_is_verified() {
    let lab = Lab::of(&[]);
    let (artifact, other) = (lab.folder.path("artifact"), lab.folder.path("other"));
    fs::write(&artifact, "what is signed").unwrap();
    fs::write(&other, "what is not").unwrap();
    for (flag, url, entry) in [
        ("--rekor", "rekor_url", "hashedrekord 0.0.1"),
        ("--rekor-tiles", "rekor_tiles_url", "hashedrekord 0.0.2"),
    ] {
        let bundle = lab.folder.path(&format!("{url}.sigstore.json"));
        let args =
            [flag, lab.at(url), "--token-file", lab.token(), "--bundle", &bundle, "--artifact", &artifact];
        let report = kept(&lab.sigstore("sign", &args));
        assert_eq!(report.totals.all.offered, 1);
        let by_kind = &report.promises.by_kind;
        assert!(by_kind.iter().any(|kind| kind.kind == "bundle" && kind.promises.kept == 1), "{by_kind:?}");
        let events = serde_json::to_string(&report.events).unwrap();
        assert!(events.contains("1 bundle is in "), "{events}");
        let ended = verified(&lab, &[&bundle], &["--artifact", &artifact, "--identity", "lab@hammer.test"]);
        assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains(entry) && !ended.stdout.contains("not at hand"), "{}", ended.stdout);
        let ended = verified(&lab, &[&bundle], &["--artifact", &other]);
        assert_eq!(ended.code, 4, "{}", ended.stdout);
        assert!(ended.stdout.contains("another-artifact"), "{}", ended.stdout);
    }
}

#[test]
fn a_line_attests_a_file_and_whoever_has_the_bundle_knows_of_which() {
    let lab = Lab::of(&[]);
    let (artifact, other) = (lab.folder.path("artifact"), lab.folder.path("other"));
    fs::write(&artifact, "what is attested").unwrap();
    fs::write(&other, "what is not").unwrap();
    for (flag, url, entry) in
        [("--rekor", "rekor_url", "dsse 0.0.1"), ("--rekor-tiles", "rekor_tiles_url", "hashedrekord 0.0.2")]
    {
        let bundle = lab.folder.path(&format!("{url}.sigstore.json"));
        let signed = [flag, lab.at(url), "--token-file", lab.token(), "--bundle", &bundle];
        let attested = ["--artifact", &artifact, "--attest", "--csr"];
        kept(&lab.sigstore("sign", &[signed.as_slice(), &attested].concat()));
        let ended = verified(&lab, &[&bundle], &["--artifact", &artifact, "--identity", "lab@hammer.test"]);
        assert!(ended.code == 0 && ended.stdout.contains(entry), "{}{}", ended.stdout, ended.stderr);
        let ended = verified(&lab, &[&bundle], &["--artifact", &other]);
        assert!(ended.code == 4 && ended.stdout.contains("another-artifact"), "{}", ended.stdout);
    }
    let ended = lab.sigstore("sign", &["--token-file", lab.token(), "--attest", "-q", "1", "--for", "1s"]);
    assert!(ended.code == 2 && ended.stderr.contains("--attest"), "{}", ended.stderr);
}

#[test]
fn a_folder_has_the_bundles_of_as_many_flows_as_are_wanted_with_what_they_signed() {
    let lab = Lab::of(&[]);
    let folder = lab.folder.path("bundles/");
    let args =
        ["--rekor", lab.at("rekor_url"), "--token-file", lab.token(), "--bundle", &folder, "--bundles", "3"];
    let report = kept(&lab.sigstore("sign", &[args.as_slice(), &["-q", "20", "--for", "1s"]].concat()));
    assert_eq!(report.totals.all.offered, 20);
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path().to_str().unwrap().to_owned());
    let bundles: Vec<String> = files.filter(|path| path.ends_with(".sigstore.json")).collect();
    assert_eq!(bundles.len(), 3);
    let ended = verified(&lab, &bundles.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert!(!ended.stdout.contains("not at hand"), "what was signed is beside each: {}", ended.stdout);
}

#[test]
fn what_cannot_make_a_bundle_is_refused_before_anything_is_sent() {
    let lab = Lab::of(&[]);
    let (file, artifact) = (lab.folder.path("b.json"), lab.folder.path("nothing"));
    let token = ["--token-file", lab.token()];
    let refused = |more: &[&str], said: &str| {
        let ended = lab.sigstore("sign", &[token.as_slice(), more].concat());
        assert!(ended.code == 2 && ended.stderr.contains(said), "{} {}", ended.code, ended.stderr);
    };
    refused(&["--bundle", &file], "a bundle holds an entry");
    let rekor = lab.at("rekor_url");
    refused(&["--rekor", rekor, "--bundle", &file, "--bundles", "2"], "a `file` has one bundle");
    refused(&["--rekor", rekor, "--bundle", "/nowhere/b.json"], "/nowhere/b.json");
    refused(&["--rekor", rekor, "--artifact", &artifact], &artifact);
}
