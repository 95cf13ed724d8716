//! Logs that are followed without load: what is told of their heads, and when.

#[expect(dead_code, reason = "other tests send signals")]
#[path = "support/attended.rs"]
mod attended;
#[expect(dead_code, reason = "other tests have fronts that refuse")]
#[path = "support/front.rs"]
mod front;
#[expect(dead_code, reason = "other tests have fronts of other kinds")]
#[path = "accusations/fronts.rs"]
mod fronts;
#[expect(dead_code, reason = "other tests read reports")]
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/log.rs"]
mod log;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests have servers of their own")]
mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hammer_lab::clock::Sleep;
use hammer_lab::ct::{Flavour, Lie, LieKind};
use hammer_lab::{Clock, CtLabPlan, SystemClock};
use hammer_measure::Nanos;
use hammer_values::TimeSpan;
use serde_json::{Value, json};

use front::{Passed, front, read};
use fronts::lagging;
use hammer::{Ended, Started, command};
use log::{FLAVOURS, Log};

/// What a follower told, line by line.
fn lines(ended: &Ended) -> Vec<Value> {
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The kinds of promises that it found broken.
fn broken(lines: &[Value]) -> Vec<&str> {
    let broken = lines.iter().filter(|line| line["event"] == "broken");
    broken.map(|line| line["kind"].as_str().unwrap()).collect()
}

/// `hammer ct follow` on the log, read at `url`.
fn follow(log: &Log, url: &str, time: &str) -> Started {
    follow_every(log, url, "50ms", time)
}

fn follow_every(log: &Log, url: &str, interval: &str, time: &str) -> Started {
    let named = ["ct", "follow", url, "--key", &log.key, "--origin", log.lab.origin(), "--kind", log.kind];
    let how = ["--interval", interval, "-z", time, "--json"];
    let mut process = command(&[&named[..], &how].concat());
    process.current_dir(log.folder.path());
    Started::of(process)
}

/// The machine's clock, which says that it is 1970 once it is told to.
#[derive(Debug)]
struct LostClock(SystemClock, Arc<AtomicBool>);

impl Clock for LostClock {
    fn unix_ms(&self) -> u64 {
        if self.1.load(Ordering::Relaxed) { 0 } else { self.0.unix_ms() }
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep_until(&self, at: Duration) -> Sleep {
        self.0.sleep_until(at)
    }
}

#[test]
fn a_follower_finds_a_head_of_the_future_and_one_that_is_dated_back_and_goes_on() {
    for (kind, name) in [
        (LieKind::FutureCheckpoint, "future-checkpoint"),
        (LieKind::BackdatedCheckpoint, "backdated-checkpoint"),
    ] {
        let lie = Lie { after: 50, ..Lie::of(kind) };
        let checkpoint_interval = TimeSpan::from_millis(500);
        let plan = CtLabPlan { lies: vec![lie], checkpoint_interval, ..CtLabPlan::default() };
        let log = Log::of_plan(plan);
        let follow = log.start("follow", &["--interval", "50ms", "-z", "5s", "--json"]);
        log.submit("2s");
        let ended = follow.ended();
        assert_eq!(ended.code, 4, "{ended:?}");
        let lines = lines(&ended);
        assert_eq!(broken(&lines), [name], "{}", ended.stdout);
        let last = lines.iter().rfind(|line| line["event"] == "head").unwrap();
        assert_eq!(last["size"], 400, "it is followed to the end: {}", ended.stdout);
    }
}

#[test]
fn a_head_that_is_dated_at_the_epoch_is_dated_back() {
    for flavour in FLAVOURS {
        let is_lost = Arc::new(AtomicBool::new(false));
        let plan = CtLabPlan { flavour, ..CtLabPlan::default() };
        let log = Log::by_clock(plan, LostClock(SystemClock::new(), is_lost.clone()));
        assert_eq!(log.submit("1s"), 200);
        let follow = log.start("follow", &["--interval", "50ms", "-z", "4s", "--json"]);
        follow.line_with("\"head\"");
        is_lost.store(true, Ordering::Relaxed);
        log.submit("1s");
        let ended = follow.ended();
        assert_eq!((ended.code, broken(&lines(&ended))), (4, vec!["backdated-checkpoint"]), "{ended:?}");
        let audit = log.hammer("audit", &["--json"]);
        let audited: Value = serde_json::from_str(&audit.stdout).unwrap();
        let flaws = audited["flaws"].as_array().unwrap();
        let told: Vec<_> = flaws.iter().map(|flaw| (&flaw["kind"], &flaw["index"])).collect();
        assert_eq!(told, [(&json!("backdated-checkpoint"), &json!(0))], "{audited}");
        assert_eq!((audit.code, &audited["read"]["is_proved"]), (4, &json!(true)), "{audited}");
    }
}

#[test]
fn a_log_whose_consistency_proofs_are_none_is_told_to_whoever_follows_it() {
    for answer in ["{}", "<html>"] {
        let log = Log::of(Flavour::Rfc6962, Vec::new());
        let url = front(&log.lab.url, move |path| match path.contains("get-sth-consistency") {
            true => Passed::Answered(answer.into()),
            false => Passed::On,
        });
        assert_eq!(log.submit("1s"), 200);
        let follow = follow(&log, &url, "8s");
        log.submit("1s");
        let ended = follow.ended();
        assert_eq!((ended.code, broken(&lines(&ended))), (4, vec!["unproved-checkpoint"]), "{ended:?}");
    }
}

#[test]
fn a_log_that_proves_none_of_the_heads_that_it_signs_is_told_while_it_goes_on() {
    let log = Log::of(Flavour::Rfc6962, Vec::new());
    let url = log.lab.url.clone();
    // What a server proves that has a leaf less.
    let front = front(&log.lab.url, move |path| match path.split_once("&second=") {
        Some((first, second)) => {
            let path = format!("{first}&second={}", second.parse::<u64>().unwrap() - 1);
            Passed::Answered(read(&url, &path))
        }
        None => Passed::On,
    });
    let submit = log.start("submit", &["-q", "100/s", "-z", "15s"]);
    let followed = follow(&log, &front, "13s").ended();
    submit.ended();
    let lines = lines(&followed);
    assert_eq!((followed.code, broken(&lines)), (4, vec!["unproved-checkpoint"]), "{followed:?}");
}

#[test]
fn two_servers_that_answer_by_turns_are_not_accused_of_what_one_of_them_has_a_moment_later() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    assert_eq!(log.submit("1s"), 200);
    let url = lagging(&log, Nanos::from_millis(1500));
    let submit = log.start("submit", &["-q", "100/s", "-z", "8s"]);
    let followed = ["250ms", "1s"].map(|interval| follow_every(&log, &url, interval, "7s"));
    for followed in followed {
        let followed = followed.ended();
        assert_eq!((followed.code, broken(&lines(&followed))), (0, vec![]), "{followed:?}");
    }
    submit.ended();
}
