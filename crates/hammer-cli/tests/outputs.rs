//! Files that a command opens for what it will say: those of `--csv`, beside the report of the same run, and those to which nothing comes.

#[path = "support/attended.rs"]
mod attended;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "outputs/nowhere.rs"]
mod nowhere;

use std::fs;

use folder::Folder;
use hammer::{Started, command, hammer};
use rustix::process::Signal;

/// Users whose requests fail once in four times.
const PLAN: &str = "\
target: { lab: { http: { faults: { rules: [ { refuse: { share: 0.25, status: 503 } } ] } } } }
workloads:
  - name: web
    http: {}
    load: { users: 3, think: 10ms }
phases: { measurement: 3s }
";

fn rows(path: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.split_terminator("\r\n").map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

fn cell(rows: &[Vec<String>], row: usize, column: &str) -> u64 {
    let place = rows[0].iter().position(|name| name == column).unwrap();
    rows[row][place].parse().unwrap()
}

#[test]
fn the_files_tell_what_the_report_tells() {
    let folder = Folder::new();
    let prefix = folder.path("out");
    let plan = folder.write("plan.yaml", PLAN);
    let ended = hammer(&["run", &plan, "--out", "-", "--csv", &prefix]);
    let report = ended.report();
    let (completed, failed) = (report.totals.all.completed, report.totals.all.fates.pushback);
    assert!(failed > 0, "{}", ended.stderr);
    let stats = rows(&format!("{prefix}_stats.csv"));
    let names: Vec<_> = stats.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    assert_eq!(names, [("Type", "Name"), ("web", "get"), ("", "Aggregated")]);
    for row in [1, 2] {
        let counts = ["Request Count", "Failure Count"].map(|column| cell(&stats, row, column));
        assert_eq!(counts, [completed, failed], "{stats:?}");
    }
    let history = rows(&format!("{prefix}_stats_history.csv"));
    assert!(history.len() > 2 * 3, "{history:?}");
    assert_eq!(cell(&history, 3, "User Count"), 3, "{history:?}");
    let last = history.len() - 1;
    let totals = ["Total Request Count", "Total Failure Count"].map(|column| cell(&history, last, column));
    assert!(totals[0] <= completed && totals[1] <= failed, "{history:?}");
    let failures = rows(&format!("{prefix}_failures.csv"));
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert_eq!((failures[1][2].as_str(), cell(&failures, 1, "Occurrences")), ("HTTP 503", failed));
}

#[test]
fn each_run_of_several_has_files_of_its_own_and_none_is_written_over_what_is_read() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let prefix = folder.path("out");
    let several = ["--set", "rounds=2", "--set", "phases.measurement=1s"];
    hammer(&[&["run", &plan, "--quiet", "--csv", &prefix], &several[..]].concat());
    for run in [1, 2] {
        let stats = rows(&format!("{prefix}.{run}_stats.csv"));
        assert!(cell(&stats, 2, "Request Count") > 0, "{stats:?}");
    }
    let taken = folder.path("taken_stats.csv");
    let refused = hammer(&["run", &plan, "--csv", &folder.path("taken"), "--out", &taken]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("--csv") && refused.stderr.contains("--out"), "{}", refused.stderr);
}

#[test]
fn the_report_of_a_round_is_not_written_over_what_is_read_or_written_besides() {
    let folder = Folder::new();
    let (plan, out) = (folder.write("out.2.json", ROUNDS), folder.path("out.json"));
    let over_plan = hammer(&["run", &plan, "--out", &out]);
    let plan = folder.write("plan.yaml", ROUNDS);
    let over_events = hammer(&["run", &plan, "--out", &out, "--events", &folder.path("out.1.json")]);
    let body = format!("workloads.web.http.body_file={}", folder.path("out.3.json"));
    folder.write("out.3.json", "a body");
    let over_body = hammer(&["run", &plan, "--out", &out, "--set", &body]);
    for refused in [over_plan, over_events, over_body] {
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("would be written over"), "{}", refused.stderr);
    }
    assert_eq!(fs::read_to_string(folder.path("out.3.json")).unwrap(), "a body");
    assert_eq!(fs::read_to_string(folder.path("out.2.json")).unwrap(), ROUNDS);
    // A device takes the summary alone.
    let short = ["--set", "phases.measurement=200ms", "--set", "rounds=2"];
    let device = hammer(&[&["run", &plan, "--out", "/dev/null"], short.as_slice()].concat());
    assert!(device.code != 2 && !fs::exists("/dev/null.1").unwrap(), "{}", device.stderr);
}

/// Rounds of which each takes its time.
const ROUNDS: &str = "\
target: { lab: { http: {} } }
rounds: 3
workloads: [ { name: web, http: {}, load: { rate: 20/s } } ]
phases: { measurement: 60s, drain: 5s }
";

/// The files of a folder, in order, and how long each is.
fn files(folder: &Folder) -> Vec<(String, u64)> {
    let entries = fs::read_dir(folder.path(".")).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    files
}

#[test]
fn runs_that_never_came_leave_no_empty_reports() {
    let folder = Folder::new();
    let (plan, out, csv) = (folder.write("plan.yaml", ROUNDS), folder.path("out.json"), folder.path("table"));
    let args =
        ["run", &plan, "--out", &out, "--csv", &csv, "--events", "/dev/stdout", "--set", "interval=200ms"];
    let started = Started::of(command(&args));
    started.line_with("\"index\":2");
    started.signal(Signal::INT);
    let ended = started.ended();
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    let names: Vec<(String, u64)> = files(&folder);
    assert!(names.iter().all(|(_, length)| *length > 0), "{names:?}");
    let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "out.1.json",
        "out.json",
        "plan.yaml",
        "table.1_failures.csv",
        "table.1_stats.csv",
        "table.1_stats_history.csv",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_run_that_is_refused_leaves_no_empty_report_and_takes_none_away_that_was_there() {
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        &ROUNDS.replace("http: {} } }", "http: { faults: { rules: [ { endpoints: [ nowhere ] } ] } } } }"),
    );
    let (new, old, empty) =
        (folder.path("new.json"), folder.write("old.json", "old"), folder.write("empty.json", ""));
    for out in [&new, &old, &empty] {
        assert_eq!(hammer(&["run", &plan, "--out", out]).code, 2);
    }
    let files = files(&folder);
    let of = |name: &str| files.iter().find(|(known, _)| known == name).map(|(_, length)| *length);
    assert_eq!((of("new.json"), of("old.json"), of("empty.json")), (None, Some(3), Some(0)), "{files:?}");
}
