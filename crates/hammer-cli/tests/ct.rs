//! One log from one line: loaded, followed, and verified afterwards.

#[path = "support/attended.rs"]
mod attended;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/log.rs"]
mod log;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/shifted_clock.rs"]
mod shifted_clock;

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;

use hammer_lab::CtLabPlan;
use hammer_lab::ct::{Flavour, Lie, LieKind};
use hammer_values::Count;
use rustix::process::Signal;
use serde_json::{Value, json};

use hammer::{Started, command, hammer};
use log::{FLAVOURS, Log};
use on_time::exit_if_on_time;
use shifted_clock::ShiftedClock;

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}")))
        .collect()
}

#[test]
fn what_was_submitted_from_one_line_is_read_from_one_line() {
    for flavour in FLAVOURS {
        let log = Log::of(flavour, Vec::new());
        assert_eq!(log.submit("1s"), 200);
        let report = log.hammer("read", &["-q", "100/s", "-z", "1s", "--out", "-"]).report();
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
        assert_eq!(report.totals.all.fates.accepted, 100, "{:?}", report.totals.all.fates);
        assert!(report.promises.all.kept > 0 && report.promises.all.kept == report.promises.all.made);
    }
}

#[test]
fn a_plan_ends_when_the_tree_has_grown_beyond_what_it_had() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.yaml");
    let target = json!({ "log": {
        "submission_url": log.lab.url.as_str(),
        "origin": log.lab.origin(),
        "public_key": log.key,
    }});
    let workload = json!({ "name": "submit", "ct_submit": {}, "load": { "rate": "200/s" } });
    let plan = json!({
        "target": target,
        "workloads": [workload],
        "phases": { "measurement": "60s" },
        "stop": { "tree_growth": 60 },
    });
    fs::write(&file, plan.to_string()).unwrap();
    let report = hammer(&["run", file.to_str().unwrap(), "--out", "-"]).report();
    let tree = report.tree_size.unwrap();
    assert!((260.0..3_000.0).contains(&tree.last), "{tree:?}");
    assert!(report.run.measured_seconds < 50.0, "{}", report.run.stopped);
    assert!(report.run.stopped.contains("tree_size grew by 60 from 2"), "{}", report.run.stopped);
}

#[test]
fn an_honest_log_passes_the_audit_whole_and_in_part() {
    for flavour in FLAVOURS {
        let log = Log::of(flavour, Vec::new());
        assert_eq!(log.submit("2s"), 400);
        for (range, from, to) in
            [(vec![], 0, 400), (vec!["--from", "256"], 256, 400), (vec!["--to", "256"], 0, 256)]
        {
            let ended = log.hammer("audit", &[&["--json"], range.as_slice()].concat());
            let found = &lines(&ended.stdout)[0];
            assert_eq!((ended.code, &found["exit_code"]), (0, &json!(0)), "{found}");
            assert_eq!((&found["schema"], &found["flaws"]), (&json!("hammer.ct-audit/1"), &json!([])));
            let read = &found["read"];
            assert_eq!(
                (&read["from"], &read["to"], &read["is_proved"]),
                (&json!(from), &json!(to), &json!(true))
            );
            assert_eq!(read["chains"], json!({ "verified": to - from, "unverified": {} }), "{found}");
            assert_eq!(found["head"]["size"], 400);
            let issuers = if flavour == Flavour::StaticCt { 2 } else { 0 };
            assert!(read["issuers"].as_u64().is_some_and(|served| served >= issuers), "{found}");
        }
        let ended = log.hammer("audit", &[]);
        let log_and_head = format!("PASS, exit 0\nlog        {}\nhead       size 400, root ", log.lab.url);
        assert!(ended.stdout.starts_with(&log_and_head), "{}", ended.stdout);
        assert!(ended.stdout.contains("entries    400 read, from 0 to 400; they lead to the root\n"));
        assert!(ended.stdout.contains("\nchains     400 issued from certificate to certificate\n"));
        let beyond = log.hammer("audit", &["--from", "401"]);
        assert_eq!((beyond.code, beyond.stdout.as_str()), (2, ""));
        assert!(beyond.stderr.contains("failed to use --from 401: the tree has 400 leaves"), "{beyond:?}");
    }
}

#[test]
fn a_head_of_the_future_is_told_by_an_audit_and_one_that_is_dated_within_the_skew_is_not() {
    for flavour in FLAVOURS {
        for (ahead_ms, exit_code) in [(3_600_000, 4), (300, 0), (-3_600_000, 0)] {
            let plan = CtLabPlan { flavour, ..CtLabPlan::default() };
            let log = Log::by_clock(plan, ShiftedClock::ahead_by(ahead_ms));
            let ended = log.hammer("audit", &[]);
            assert_eq!(ended.code, exit_code, "{ended:?}");
            let told = ended.stdout.matches("BROKEN     future-checkpoint: a head of ").count();
            assert_eq!(told, usize::from(exit_code == 4), "{ended:?}");
            let found: Value = serde_json::from_str(&log.hammer("audit", &["--json"]).stdout).unwrap();
            assert_eq!(found["flaws"].as_array().unwrap().len(), told, "{found}");
            assert_eq!(found["flawed"], told, "{found}");
        }
    }
}

/// A log that says nothing does not hold up who would rather leave.
#[test]
fn an_audit_that_a_signal_ends_says_so() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let mut audit = command(&["ct", "audit", &url, "--key", &log.key, "--origin", log.lab.origin()]);
    audit.current_dir(log.folder.path());
    let started = Started::of(audit);
    let _asked = silent.accept().unwrap();
    started.signal(Signal::INT);
    let ended = started.ended();
    assert_eq!((ended.code, ended.stdout.as_str()), (130, ""), "{ended:?}");
    assert!(ended.stderr.contains("interrupted by a signal"), "{ended:?}");
}

/// Whoever looks at another log than was named is told so, with the argument that mends it.
#[test]
fn a_log_that_is_not_the_one_that_was_named_is_told_to_be_another() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let other = Log::of_plan(CtLabPlan { key_seed: 9, ..CtLabPlan::default() });
    let (key, origin) = (log.key.as_str(), log.lab.origin());
    let named = [
        (other.key.as_str(), origin, "static-ct", 4, "`--key KEY`"),
        (key, "another.example", "static-ct", 4, &format!("`--origin {origin}`")),
        (key, origin, "rfc6962", 5, "`--kind static-ct`"),
    ];
    for (key, origin, kind, code, mend) in named {
        let named = [log.lab.url.as_str(), "--key", key, "--origin", origin, "--kind", kind];
        for (command, more) in [("audit", None), ("follow", Some(["-z", "1500ms", "--interval", "200ms"]))] {
            let more = more.iter().flatten().copied();
            let args: Vec<&str> = ["ct", command].into_iter().chain(named).chain(more).collect();
            let ended = hammer(&args);
            assert_eq!(ended.code, code, "{command} {ended:?}");
            let hints: Vec<_> = ended.stdout.lines().filter(|line| line.starts_with("hint  ")).collect();
            assert!(hints.len() == 1 && hints[0].ends_with(mend), "{command} {ended:?}");
            assert!(ended.stdout.matches("BROKEN").count() <= 1, "{command} {ended:?}");
        }
    }
}

#[test]
fn a_log_that_has_a_chain_whose_certificates_did_not_issue_each_other_fails_the_audit() {
    for flavour in FLAVOURS {
        let lie = Lie { after: 50, every: Count::at_least_one(40), ..Lie::of(LieKind::ReversedChain) };
        let log = Log::of(flavour, vec![lie]);
        assert_eq!(log.submit("1s"), 200);
        let ended = log.hammer("audit", &["--json"]);
        let found = &lines(&ended.stdout)[0];
        assert_eq!((ended.code, &found["read"]["is_proved"]), (4, &json!(true)), "{found}");
        let told = log.lab.stats().lies;
        let told: BTreeSet<_> = told.iter().map(|lie| lie.index.unwrap()).collect();
        let flaws = found["flaws"].as_array().unwrap();
        let named: BTreeSet<_> = flaws.iter().map(|flaw| flaw["index"].as_u64().unwrap()).collect();
        assert!(told.len() >= 3 && flaws.iter().all(|flaw| flaw["kind"] == "invalid-chain"), "{found}");
        assert_eq!((&named, flaws.len()), (&told, told.len()), "{found}");
        let chains = json!({ "verified": 200 - told.len(), "unverified": {} });
        assert_eq!(found["read"]["chains"], chains, "{found}");
        let text = log.hammer("audit", &[]);
        assert!(
            text.stdout.contains("certificate 1 of its chain did not issue the one below it: "),
            "{text:?}"
        );
    }
}

#[test]
fn a_log_that_altered_an_entry_fails_the_audit() {
    for flavour in FLAVOURS {
        let log = Log::of(flavour, vec![Lie { after: 50, times: Some(1), ..Lie::of(LieKind::AlteredLeaf) }]);
        assert_eq!(log.submit("1s"), 200);
        let ended = log.hammer("audit", &["--json"]);
        let found = &lines(&ended.stdout)[0];
        assert_eq!((ended.code, &found["exit_code"]), (4, &json!(4)), "{found}");
        let kind = match flavour {
            Flavour::StaticCt => "altered-leaf",
            Flavour::Rfc6962 => "tampered-entries",
        };
        assert_eq!((&found["flaws"][0]["kind"], &found["flawed"]), (&json!(kind), &json!(1)), "{found}");
        let text = log.hammer("audit", &[]);
        assert_eq!(text.code, 4);
        assert!(
            text.stdout.starts_with("FAIL, exit 4: ")
                && text.stdout.contains(&format!("\nBROKEN     {kind}: "))
        );
        let entries = match flavour {
            Flavour::StaticCt => {
                "\nentries    from 0 to 200, but for what is broken; the tree leads to the root\n"
            }
            Flavour::Rfc6962 => "\nentries    from 0 to 200; THEY DO NOT LEAD to the root\n",
        };
        assert!(text.stdout.contains(entries), "{}", text.stdout);
    }
}

#[test]
fn a_log_is_followed_until_a_signal_with_a_line_for_each_new_head() {
    for flavour in FLAVOURS {
        let log = Log::of(flavour, Vec::new());
        let follow = log.start("follow", &["--interval", "50ms", "--json"]);
        let first: Value = serde_json::from_str(&follow.line_with("head")).unwrap();
        assert_eq!(
            (&first["size"], &first["grown"], &first["cosigners"]),
            (&json!(0), &json!(null), &json!([]))
        );
        assert_eq!(log.submit("1s"), 200);
        let mut size = 0;
        while size < 200 {
            let head: Value = serde_json::from_str(&follow.line_with("head")).unwrap();
            size += head["grown"].as_u64().unwrap();
            assert_eq!(head["size"], size);
            assert_eq!(head["root"].as_str().map(str::len), Some(64));
        }
        follow.signal(Signal::INT);
        let ended = follow.ended();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    }
}

#[test]
fn following_ends_by_its_duration_and_says_each_head_once() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("500ms"), 100);
    let ended = log.hammer("follow", &["--interval", "50ms", "-z", "1s"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let [line] = ended.stdout.lines().collect::<Vec<_>>()[..] else { panic!("{ended:?}") };
    assert!(line.starts_with("size 100  first  root ") && line.contains("  signed 20"), "{line}");
}

#[test]
fn following_a_log_that_never_serves_a_head_is_not_the_same_as_finding_nothing() {
    let refuse =
        json!({ "rules": [{ "endpoints": ["checkpoint"], "refuse": { "share": 1, "status": 503 } }] });
    let plan = CtLabPlan { faults: serde_json::from_value(refuse).unwrap(), ..CtLabPlan::default() };
    let ended = Log::of_plan(plan).hammer("follow", &["--interval", "50ms", "-z", "500ms"]);
    assert_eq!(ended.code, 5, "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("no head of the log was seen"), "{}", ended.stdout);
}

#[test]
fn a_fork_ends_the_following_with_both_heads_saved() {
    for (flavour, kind, lie) in [
        (Flavour::StaticCt, "forked-checkpoint", LieKind::ForkedCheckpoint),
        (Flavour::Rfc6962, "forked-checkpoint", LieKind::ForkedCheckpoint),
        (Flavour::StaticCt, "shrinking-tree", LieKind::ShrinkingTree),
    ] {
        // A tree that shrinks for the time between two looks is not seen to: it does so again.
        let times = (lie == LieKind::ShrinkingTree).then_some(100);
        let log = Log::of(flavour, vec![Lie { after: 50, times, ..Lie::of(lie) }]);
        let folder = tempfile::tempdir().unwrap();
        let heads = folder.path().join("heads");
        let heads = heads.to_str().unwrap();
        let follow = log.start("follow", &["--interval", "50ms", "--json", "--evidence", heads]);
        follow.line_with("head");
        let submit = log.start("submit", &["-q", "200/s", "-z", "20s"]);
        let broken: Value = serde_json::from_str(&follow.line_with("broken")).unwrap();
        assert_eq!((follow.ended().code, &broken["kind"]), (4, &json!(kind)), "{broken}");
        if lie == LieKind::ShrinkingTree {
            // That is over before the run looks again.
            submit.signal(Signal::KILL);
            submit.ended();
        } else {
            let ended = submit.ended();
            assert_eq!(ended.code, 4, "{ended:?}");
            assert!(
                !ended.stdout.contains("drain 30.0s"),
                "what nobody will judge is not waited for: {ended:?}"
            );
        }
        let saved: Vec<&str> = broken["saved"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let [older, newer] = saved[..] else { panic!("{broken}") };
        assert!(older.starts_with(heads) && newer.starts_with(heads), "{broken}");
        assert_ne!(fs::read(older).unwrap(), fs::read(newer).unwrap());
    }
}
