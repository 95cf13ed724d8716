//! What is wrong with a log's key, origin and roots is found before the first arrival, and said with what mends it.

#[path = "support/front.rs"]
#[expect(dead_code, reason = "other tests pass on more")]
mod front;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/log.rs"]
#[expect(dead_code, reason = "other tests start commands on it")]
mod log;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests have servers of their own")]
mod server;

use std::sync::atomic::{AtomicU64, Ordering};

use hammer_lab::ct::Flavour;
use hammer_tlog::encoding::base64;

use front::{Passed, front};
use hammer::{DEADLINE, Ended, Started, command, hammer};
use log::{FLAVOURS, Log};

/// `hammer ct COMMAND` on a log, of that key and origin, for half a second.
fn load(log: &Log, command: &str, (key, origin): (&str, &str), more: &[&str]) -> Ended {
    let url = log.lab.url.as_str();
    let args =
        ["ct", command, url, "--key", key, "--origin", origin, "-q", "20/s", "-z", "500ms", "--out", "-"];
    hammer(&[&args, more].concat())
}

/// Asserts that the command was refused, without a chain or a read sent, in these words.
#[track_caller]
fn is_refused(log: &Log, ended: &Ended, words: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    for words in words {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
    assert!(ended.stderr.contains("--no-preflight"), "{}", ended.stderr);
    let asked = log.lab.stats().requests;
    assert!(asked.keys().all(|path| !path.contains("add-") && !path.contains("tile")), "{asked:?}");
}

#[test]
fn an_origin_that_is_not_the_logs_is_refused_with_what_says_it() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let signs = log.lab.origin();
    for command in ["submit", "read"] {
        let ended = load(&log, command, (&log.key, "another.test/log"), &[]);
        let says = format!("the log signs as {signs}, and the plan says another.test/log");
        is_refused(
            &log,
            &ended,
            &[&says, &format!("--set target.log.origin={signs}"), &format!("--origin {signs}")],
        );
    }
    let ended = load(&log, "submit", (&log.key, signs), &[]);
    assert_ne!(ended.code, 2, "{}", ended.stderr);
}

#[test]
fn a_key_that_is_not_the_logs_is_refused() {
    let another = Log::of_plan(hammer_lab::CtLabPlan { key_seed: 7, ..Default::default() });
    for flavour in FLAVOURS {
        let log = Log::of(flavour, Vec::new());
        let kind = if flavour == Flavour::StaticCt { "static-ct" } else { "rfc6962" };
        let key = base64(another.lab.log_key_spki());
        assert_ne!(key, log.key);
        let ended = load(&log, "submit", (&key, log.lab.origin()), &["--kind", kind]);
        is_refused(&log, &ended, &["key", "--set target.log.public_key=KEY"]);
        let ended = load(&log, "submit", (&key, log.lab.origin()), &["--kind", kind, "--no-preflight"]);
        assert_eq!(ended.code, 4, "{}", ended.stderr);
    }
}

#[test]
fn a_log_of_the_other_kind_is_refused_with_what_says_it() {
    for (flavour, is, says) in
        [(Flavour::StaticCt, "static-ct", "rfc6962"), (Flavour::Rfc6962, "rfc6962", "static-ct")]
    {
        let log = Log::of(flavour, Vec::new());
        for command in ["submit", "read"] {
            let ended = load(&log, command, (&log.key, log.lab.origin()), &["--kind", says]);
            let words = [
                format!("the log is of {is}: it has no tree head at "),
                format!(
                    "and the plan says {says}: `--set target.log.kind={is}` says so, and in one line `--kind {is}`"
                ),
            ];
            is_refused(&log, &ended, &words.each_ref().map(String::as_str));
        }
    }
}

#[test]
fn roots_that_the_log_lacks_are_refused_with_what_prints_them() {
    for flavour in FLAVOURS {
        let log = Log::of(flavour, Vec::new());
        let kind = if flavour == Flavour::StaticCt { "static-ct" } else { "rfc6962" };
        let of_seed = |command, more: &[&str]| {
            load(
                &log,
                command,
                (&log.key, log.lab.origin()),
                &[&["--kind", kind, "--seed", "9"], more].concat(),
            )
        };
        let words = ["lacks 1 of 1 roots that chains end in", "`hammer ct roots PLAN --seed 9 >roots.pem`"];
        is_refused(&log, &of_seed("submit", &[]), &words);
        let report = of_seed("submit", &["--no-preflight"]).report();
        let fates = report.totals.all.fates;
        assert!(fates.refused > 0 && fates.refused == fates.ended(), "{fates:?}");
    }
}

#[test]
fn nothing_is_said_of_a_log_that_does_not_answer() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let args = ["ct", "submit", "http://127.0.0.1:9/log", "--key", &log.key, "-q", "20/s", "-z", "200ms"];
    assert_eq!(hammer(&args).code, 3);
}

#[test]
fn a_server_that_is_no_log_is_not_taken_for_one_that_breaks_its_promises() {
    for flavour in FLAVOURS {
        let log = Log::of(flavour, Vec::new());
        let kind = if flavour == Flavour::StaticCt { "static-ct" } else { "rfc6962" };
        let empty = front(&log.lab.url, |_| Passed::Answered(Vec::new()));
        let args = ["ct", "submit", &empty, "--key", &log.key, "--kind", kind, "-q", "20/s", "-z", "200ms"];
        is_refused(&log, &hammer(&args), &["is no log: what it answers to ", "and is empty"]);
        let url = front(&log.lab.url, |_| Passed::Answered("<html> Welcome\n\nto a site".into()));
        for command in ["submit", "read"] {
            let args = ["ct", command, &url, "--key", &log.key, "--kind", kind, "-q", "20/s", "-z", "200ms"];
            let ended = hammer(&args);
            let said = ["is no log: what it answers to ", "starts with: <html> Welcome to a site"];
            is_refused(&log, &ended, &[&[url.as_str()], said.as_slice()].concat());
        }
        let ended = hammer(&["ct", "audit", &url, "--key", &log.key, "--kind", kind]);
        assert_eq!(ended.code, 5, "{}", ended.stdout);
        assert!(ended.stdout.contains(&format!("{url} is no log: ")), "{}", ended.stdout);
    }
}

#[test]
fn a_log_with_roots_is_judged_by_its_run_whatever_its_head_is() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let url = front(&log.lab.url, |path| match path {
        "/checkpoint" => Passed::Answered("<html>".into()),
        _ => Passed::On,
    });
    for command in ["submit", "read"] {
        let args = ["ct", command, &url, "--key", &log.key, "--origin", log.lab.origin(), "-q", "20/s"];
        let ended = hammer(&[args.as_slice(), &["-z", "200ms", "--out", "-"]].concat());
        assert_ne!(ended.code, 2, "{}", ended.stderr);
    }
}

#[test]
fn a_head_that_was_wrong_before_the_run_alone_is_told() {
    for flavour in FLAVOURS {
        let log = Log::of(flavour, Vec::new());
        let kind = if flavour == Flavour::StaticCt { "static-ct" } else { "rfc6962" };
        let (own, asked) = (log.lab.url.clone(), AtomicU64::new(0));
        let url = front(&log.lab.url, move |path| {
            let is_head = path.ends_with("/checkpoint") || path.ends_with("/get-sth");
            if !is_head || asked.fetch_add(1, Ordering::Relaxed) > 0 {
                return Passed::On;
            }
            // Another size than the one that was signed.
            let head = String::from_utf8(front::read(&own, path)).unwrap();
            let head = head.replacen("\n0\n", "\n77\n", 1).replacen("\"tree_size\":0", "\"tree_size\":77", 1);
            Passed::Answered(head.into_bytes())
        });
        let args = ["ct", "submit", &url, "--key", &log.key, "--origin", log.lab.origin(), "--kind", kind];
        let ended = hammer(&[args.as_slice(), &["-q", "20/s", "-z", "200ms", "--out", "-"]].concat());
        assert_ne!(ended.code, 2, "{}", ended.stderr);
        for said in ["log: of the first head before the run, ", "; the next was as it should be"] {
            assert!(ended.stdout.contains(said), "{said}: {}", ended.stderr);
        }
    }
}

#[test]
fn that_a_log_takes_no_root_is_told() {
    let mut lab = Started::of(command(&["lab", "ct"]));
    let line = lab.stdout.recv_timeout(DEADLINE).unwrap();
    let log: serde_json::Value = serde_json::from_str(&line).unwrap();
    let said = lab.stderr.recv_timeout(DEADLINE).unwrap();
    assert!(said.contains("the log accepts no root") && said.contains("--roots roots.pem"), "{said}");
    let (url, key) = (log["submission_url"].as_str().unwrap(), log["public_key"].as_str().unwrap());
    let ended = hammer(&["ct", "submit", url, "--key", key, "-q", "20/s", "-z", "200ms", "--out", "-"]);
    lab.child.kill().unwrap();
    lab.child.wait().unwrap();
    assert!(ended.stdout.contains("get-roots is empty: the log says that it takes no root"), "{ended:?}");
}
