//! Receipts that a run left, looked up afterwards; and logs that are read in a folder.

#[expect(dead_code, reason = "other tests have fronts that refuse")]
#[path = "support/front.rs"]
mod front;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/log.rs"]
mod log;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests have servers of their own")]
mod server;

use std::fs;
use std::path::{Path, PathBuf};

use hammer_lab::CtLabPlan;
use hammer_lab::ct::{Flavour, Lie, LieKind};
use hammer_tlog::encoding::{base64, from_base64};
use hammer_values::{Count, TimeSpan};
use serde_json::{Value, json};

use front::{Passed, front, read};
use hammer::{Ended, hammer};
use log::{FLAVOURS, Log};

/// The key of no log here.
const OTHER_KEY: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqG51pjbkmFczWR9zrHs0sIVFt8ErBljJ8NcYFITKMsgMaf6+YjbKxA1OiWXWuLEnKTdx1KB6KqMcaDTzVbZ6Sg==";

/// Each takes a tenth of a second at least; the log publishes every two.
const LOOKS: usize = 500;

/// The receipts of the only run that left some in the log's folder.
fn receipts(log: &Log) -> (PathBuf, u64) {
    let files = fs::read_dir(log.folder.path()).unwrap().map(|file| file.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.to_string_lossy().ends_with("-receipts.jsonl")).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    (file.clone(), fs::read_to_string(file).unwrap().lines().count() as u64)
}

fn looked_up(ended: &Ended) -> Value {
    let found: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|why| panic!("{why}: {ended:?}"));
    assert_eq!(found["exit_code"], ended.code, "{found}");
    assert_eq!(found["schema"], "hammer.ct-receipts/1");
    found
}

/// `hammer ct audit --receipts` on the log.
fn audit(log: &Log, file: &Path, more: &[&str]) -> Value {
    let file = file.to_str().unwrap();
    looked_up(&log.hammer("audit", &[&["--receipts", file, "--json"], more].concat()))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
fn what_was_pending_when_a_run_ended_is_found_once_the_log_has_published_it() {
    let storage = tempfile::tempdir().unwrap();
    let plan = CtLabPlan { storage_dir: Some(storage.path().join("log")), ..CtLabPlan::default() };
    let log = Log::of_plan(plan);
    assert_eq!(log.submit("500ms"), 100);
    // Who reads this folder sees nothing of what comes.
    let stale = storage.path().join("stale");
    copy(&storage.path().join("log"), &stale);
    let stale = format!("file://{}", stale.display());
    let target = json!({ "log": {
        "submission_url": log.lab.url.as_str(),
        "monitoring_url": stale,
        "origin": log.lab.origin(),
        "public_key": log.key,
    }});
    let workload =
        json!({ "name": "late", "ct_submit": { "precert_percent": 30 }, "load": { "rate": "100/s" } });
    let plan = json!({
        "target": target,
        "workloads": [workload],
        "phases": { "measurement": "500ms", "drain": "3s" },
    });
    let file = log.folder.path().join("plan.yaml");
    fs::write(&file, plan.to_string()).unwrap();
    let report = log.folder.path().join("report.json");
    hammer(&["run", file.to_str().unwrap(), "--out", report.to_str().unwrap()]);
    let (file, lines) = receipts(&log);
    assert_eq!(lines, 50);

    let origin = ["ct", "audit", &stale, "--key", &log.key, "--origin", log.lab.origin()];
    let args = ["--receipts", file.to_str().unwrap()];
    let pending = looked_up(&hammer(&[&origin, args.as_slice(), &["--json"]].concat()));
    assert_eq!(
        (&pending["exit_code"], &pending["pending"], &pending["found"]),
        (&json!(5), &json!(50), &json!(0))
    );
    let text = hammer(&[&origin, args.as_slice()].concat());
    assert!(
        text.stdout.starts_with("FAIL, exit 5: 50 receipts still pending\n")
            && text.stdout.contains("\nhead       size 100, "),
        "{text:?}"
    );
    assert!(text.stdout.contains("50: 0 found, 0 broken, 50 still pending, 0 unknown"), "{text:?}");
    // By another key nothing is known of any of them.
    let foreign =
        [&["ct", "audit", &stale, "--key", OTHER_KEY, "--origin", log.lab.origin()], args.as_slice()]
            .concat();
    let unknown = looked_up(&hammer(&[foreign.as_slice(), &["--json"]].concat()));
    assert_eq!(
        (&unknown["exit_code"], &unknown["unknown"], &unknown["found"]),
        (&json!(4), &json!(50), &json!(0))
    );
    assert_eq!(unknown["scts"], json!({ "verified": 0, "bad": 0, "unverified": 50 }));
    let overdue = looked_up(&hammer(&[&origin, args.as_slice(), &["--json", "--mmd", "0s"]].concat()));
    assert_eq!((&overdue["exit_code"], &overdue["broken"]), (&json!(4), &json!({ "mmd-missed": 50 })));

    let found = audit(&log, &file, &[]);
    assert_eq!(
        (&found["exit_code"], &found["found"], &found["receipts"]),
        (&json!(0), &json!(50), &json!(50))
    );
    assert_eq!((&found["scts"]["verified"], &found["not_found"]), (&json!(50), &json!([])), "{found}");
    let text = log.hammer("audit", &args);
    assert!(text.stdout.starts_with("PASS, exit 0\n") && text.stdout.contains("50: 50 found"), "{text:?}");
}

#[test]
fn a_leaf_that_came_too_late_is_found_all_the_same() {
    for flavour in FLAVOURS {
        // There are looks at what lacks the leaves that were promised last.
        let checkpoint_interval = TimeSpan::from_secs(2);
        let plan = CtLabPlan { flavour, checkpoint_interval, ..CtLabPlan::default() };
        let log = Log::of_plan(CtLabPlan { enable_publication_awaiter: false, ..plan });
        log.hammer("submit", &["-q", "100/s", "-z", "2s", "--precerts", "30", "--mmd", "0s"]);
        let (file, lines) = receipts(&log);
        assert!(lines > 10, "{flavour:?}: {lines}");
        // Those that were promised last are covered by a head to come.
        let mut looks = (0..LOOKS).map(|_| audit(&log, &file, &[]));
        let found = looks.find(|found| found["pending"] == json!(0)).expect("a head that covers them");
        assert_eq!((&found["exit_code"], &found["found"]), (&json!(0), &json!(lines)), "{found}");
        assert_eq!(found["scts"], json!({ "verified": lines, "bad": 0, "unverified": 0 }));
    }
}

#[test]
fn an_entry_that_is_served_as_another_one_is_altered_though_the_tree_has_the_promised_leaf() {
    let checkpoint_interval = TimeSpan::from_secs(2);
    let plan = CtLabPlan { flavour: Flavour::Rfc6962, checkpoint_interval, ..CtLabPlan::default() };
    let log = Log::of_plan(CtLabPlan { enable_publication_awaiter: false, ..plan });
    log.hammer("submit", &["-q", "100/s", "-z", "2s", "--mmd", "0s"]);
    let (file, lines) = receipts(&log);
    let mut looks = (0..LOOKS).map(|_| audit(&log, &file, &[]));
    looks.find(|found| found["pending"] == json!(0)).expect("a head that covers them");
    let lab = log.lab.url.clone();
    let altered = front(&log.lab.url, move |path| {
        let Some((_, index)) = path.split_once("/get-entries?start=") else { return Passed::On };
        let index: u64 = index.split('&').next().unwrap().parse().unwrap();
        match index % 100 {
            // What cannot be read is none of the promised entry; each such one is asked for again, some seconds long.
            41 => return Passed::Answered(b"<html>".into()),
            42 => return Passed::Refused(404),
            rest if rest % 5 == 0 => {}
            _ => return Passed::On,
        }
        let mut answer: Value = serde_json::from_slice(&read(&lab, path)).unwrap();
        let leaf = &mut answer["entries"][0]["leaf_input"];
        let (time, rest) = leaf.as_str().unwrap().split_at(12);
        *leaf = format!("{}{}{rest}", &time[..11], if time.ends_with('A') { 'B' } else { 'A' }).into();
        Passed::Answered(answer.to_string().into())
    });
    let file = file.to_str().unwrap();
    let named =
        ["ct", "audit", &altered, "--key", &log.key, "--origin", log.lab.origin(), "--kind", log.kind];
    let found = looked_up(&hammer(&[&named[..], &["--receipts", file, "--json"]].concat()));
    let broken = found["broken"]["altered-leaf"].as_u64().unwrap_or_default();
    let unknown = found["unknown"].as_u64().unwrap_or_default();
    assert!(found["found"] == json!(lines - broken - unknown), "{found}");
    assert!(broken > lines / 5 && (1..=2).contains(&unknown), "{lines} {found}");
    assert_eq!(found["exit_code"], 4, "{found}");
}

#[test]
fn a_leaf_that_is_lost_or_misplaced_stays_so() {
    for (kind, name) in [(LieKind::LostLeaf, "lost-leaf"), (LieKind::WrongIndex, "wrong-index")] {
        let log = Log::of(
            Flavour::StaticCt,
            vec![Lie { after: 10, every: Count::at_least_one(40), ..Lie::of(kind) }],
        );
        assert_eq!(log.submit("1s"), 200);
        let (file, lines) = receipts(&log);
        let found = audit(&log, &file, &[]);
        assert_eq!((&found["exit_code"], &found["broken"]), (&json!(4), &json!({ name: lines })), "{found}");
        let first = &found["not_found"][0];
        assert_eq!((&first["workload"], &first["standing"]), (&json!("submit"), &json!(name)));
        assert!(first["detail"].as_str().unwrap().contains(": the tree has "), "{first}");
        let text = log.hammer("audit", &["--receipts", file.to_str().unwrap()]);
        assert!(text.stdout.contains(&format!("\nBROKEN     submit {}: {name}: ", first["seq"])), "{text:?}");
    }
}

#[test]
fn in_a_log_without_indices_a_leaf_is_lost_when_the_merge_delay_is_over() {
    let log = Log::of(
        Flavour::Rfc6962,
        vec![Lie { after: 10, every: Count::at_least_one(40), ..Lie::of(LieKind::LostLeaf) }],
    );
    log.hammer("submit", &["-q", "200/s", "-z", "1s", "--mmd", "2s"]);
    let (file, lines) = receipts(&log);
    assert!((1..=10).contains(&lines), "{lines}");
    let lost = audit(&log, &file, &["--mmd", "1s"]);
    assert_eq!((&lost["exit_code"], &lost["broken"]), (&json!(4), &json!({ "mmd-missed": lines })), "{lost}");
    let pending = audit(&log, &file, &[]);
    assert_eq!((&pending["exit_code"], &pending["pending"]), (&json!(5), &json!(lines)), "{pending}");
}

#[test]
fn a_receipt_of_another_log_or_without_a_leaf_is_unknown() {
    let log = Log::of(
        Flavour::StaticCt,
        vec![Lie { after: 50, times: Some(1), ..Lie::of(LieKind::BadSctSignature) }],
    );
    log.submit("1s");
    let (file, lines) = receipts(&log);
    assert_eq!(lines, 1);
    let found = audit(&log, &file, &[]);
    assert_eq!((&found["exit_code"], &found["unknown"]), (&json!(5), &json!(1)));
    let detail = found["not_found"][0]["detail"].as_str().unwrap();
    assert_eq!(detail, "no leaf is known, since the SCT was bad-sct-signature");
    let other = Log::of_plan(CtLabPlan { key_seed: 9, ..CtLabPlan::default() });
    let found = audit(&other, &file, &[]);
    assert_eq!((&found["exit_code"], &found["unknown"]), (&json!(5), &json!(1)));
    assert!(
        found["not_found"][0]["detail"].as_str().unwrap().starts_with("the SCT is of the log "),
        "{found}"
    );
}

#[test]
fn a_receipt_whose_sct_was_altered_is_one_that_the_log_never_signed() {
    for flavour in FLAVOURS {
        let plan = CtLabPlan { flavour, enable_publication_awaiter: false, ..CtLabPlan::default() };
        let log = Log::of_plan(CtLabPlan { checkpoint_interval: TimeSpan::from_secs(2), ..plan });
        log.hammer("submit", &["-q", "100/s", "-z", "2s", "--precerts", "30", "--mmd", "0s"]);
        let (file, lines) = receipts(&log);
        assert!(lines > 10, "{flavour:?}: {lines}");
        let mut looks = (0..LOOKS).map(|_| audit(&log, &file, &[]));
        looks.find(|found| found["pending"] == json!(0)).expect("a head that covers them");
        let text = fs::read_to_string(&file).unwrap();
        let honest: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let alter = |sct: &mut Value, part: &str| match part {
            "timestamp" => sct[part] = json!(sct[part].as_u64().unwrap() + 1),
            _ => {
                let mut bytes = from_base64(sct[part].as_str().unwrap()).unwrap();
                // An index or a signature that can be read, and is another one.
                match bytes.last_mut() {
                    Some(last) => *last ^= 1,
                    None => bytes.push(1),
                }
                sct[part] = json!(base64(&bytes));
            }
        };
        for part in ["timestamp", "extensions", "signature"] {
            let altered: String = honest
                .iter()
                .map(|line| {
                    let mut line = line.clone();
                    alter(&mut line["sct"], part);
                    format!("{line}\n")
                })
                .collect();
            let altered_file = log.folder.path().join("altered.jsonl");
            fs::write(&altered_file, altered).unwrap();
            let found = audit(&log, &altered_file, &[]);
            assert_eq!(
                (&found["exit_code"], &found["broken"]),
                (&json!(4), &json!({ "bad-sct-signature": lines })),
                "{flavour:?} {part}: {found}"
            );
        }
    }
}

#[test]
fn a_head_that_another_key_signed_is_a_broken_promise_to_either_audit_in_the_same_words() {
    let lie = Lie { after: 50, times: Some(1), ..Lie::of(LieKind::BadSctSignature) };
    let log = Log::of(Flavour::StaticCt, vec![lie]);
    log.submit("1s");
    let (file, _) = receipts(&log);
    let other = Log::of_plan(CtLabPlan { key_seed: 9, ..CtLabPlan::default() });
    let (url, origin) = (log.lab.url.as_str(), log.lab.origin());
    let audit = ["ct", "audit", url, "--origin", origin, "--key", &other.key];
    let broken = |more: &[&str]| {
        let ended = hammer(&[&audit, more].concat());
        assert!(ended.code == 4 && ended.stdout.starts_with("FAIL, exit 4: "), "{ended:?}");
        assert!(!ended.stdout.contains("\nended"), "{ended:?}");
        let line = ended.stdout.lines().find(|line| line.starts_with("BROKEN     checkpoint-signature: "));
        line.unwrap_or_else(|| panic!("{ended:?}")).to_owned()
    };
    assert_eq!(broken(&[]), broken(&["--receipts", file.to_str().unwrap()]));
}

#[test]
fn a_folder_is_followed_audited_and_read_without_a_server() {
    let storage = tempfile::tempdir().unwrap();
    let plan = CtLabPlan { storage_dir: Some(storage.path().to_owned()), ..CtLabPlan::default() };
    let log = Log::of_plan(plan);
    assert_eq!(log.submit("1500ms"), 300);
    let url = format!("file://{}", storage.path().display());
    let on = |command: &str, more: &[&str]| {
        let log = ["ct", command, &url, "--key", &log.key, "--origin", log.lab.origin()];
        hammer(&[&log, more].concat())
    };
    let audit = on("audit", &[]);
    assert!(
        audit.stdout.starts_with("PASS, exit 0\nlog ")
            && audit.stdout.contains("\nhead       size 300, root "),
        "{audit:?}"
    );
    assert!(
        audit.stdout.contains("entries    300 read, from 0 to 300; they lead to the root\n"),
        "{audit:?}"
    );
    let follow = on("follow", &["-z", "200ms", "--interval", "50ms"]);
    assert!(follow.stdout.starts_with("size 300  first  root "), "{follow:?}");
    let args =
        ["-q", "100/s", "-z", "500ms", "--mix", "bundle=2,tile=1", "--pattern", "sequential", "--out", "-"];
    let report = on("read", &args).report();
    assert_eq!(report.totals.all.fates.accepted, 50);
    assert!(report.promises.all.made > 0 && report.promises.all.kept == report.promises.all.made);
    // What nobody writes into, so that it would be waited for without end.
    let checkpoint = fs::read(storage.path().join("checkpoint")).unwrap();
    fs::remove_file(storage.path().join("checkpoint")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        storage.path().join("checkpoint"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let audit = on("audit", &[]);
    assert_eq!(audit.code, 3, "{audit:?}");
    let said = "failed to read /checkpoint: it is a pipe, a socket or a device, and no regular file";
    assert!(audit.stdout.contains(said), "{audit:?}");
    fs::remove_file(storage.path().join("checkpoint")).unwrap();
    fs::write(storage.path().join("checkpoint"), checkpoint).unwrap();
    // An entry that somebody altered on the disk.
    let bundle = storage.path().join("tile/data/000");
    let mut bytes = fs::read(&bundle).unwrap();
    bytes[200] ^= 1;
    fs::write(&bundle, bytes).unwrap();
    let audit = on("audit", &[]);
    assert_eq!(audit.code, 4, "{audit:?}");
}
