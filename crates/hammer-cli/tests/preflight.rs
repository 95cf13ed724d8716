//! What is wrong with a log's key, origin and roots is found before the first arrival, and said with what mends it.

#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/log.rs"]
#[expect(dead_code, reason = "other tests start commands on it")]
mod log;

use hammer_lab::ct::Flavour;
use hammer_tlog::encoding::base64;

use hammer::{Ended, hammer};
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
                format!("the log is of {is}: it answers 404 to "),
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
