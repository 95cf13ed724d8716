//! `hammer report`: what a run left behind, as text again, as Markdown, as JUnit's XML, as tables and as a curve for HdrHistogram's tools.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use std::process::Command;

use hammer_measure::Distribution;
use hammer_report::report::Nanoseconds;

use folder::Folder;
use hammer::hammer;

const PLAN: &str = "\
target: { lab: { http: {} } }
workloads: [ { name: web, http: {}, load: { rate: 400/s } } ]
phases: { measurement: 500ms }
thresholds: [ { expect: 'p99(response) < 1us', series: web/get }, 'count(accepted) > 10' ]
";

#[test]
fn the_text_of_a_report_is_that_of_the_run_and_a_curve_ends_at_its_longest() {
    let folder = Folder::new();
    let ended = hammer(&["run", "--tolerate-lag", &folder.write("plan.yaml", PLAN), "--out", "-"]);
    let report = ended.report();
    let path = folder.write("report.json", &ended.stdout);
    let printed = hammer(&["report", &path]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    assert!(ended.stderr.contains(printed.stdout.trim_end()), "{}\n{}", printed.stdout, ended.stderr);
    let detail = hammer(&["report", &path, "--detail"]).stdout;
    assert!(
        detail.contains("\n  dispatch lag ") && !printed.stdout.contains("\n  dispatch lag "),
        "{detail}"
    );
    let refused = hammer(&["report", &path, "--detail", "--as", "markdown"]);
    assert!(refused.code == 2 && refused.stderr.contains("--detail"), "{refused:?}");
    let curve = hammer(&["report", &path, "--as", "hgrm"]).stdout;
    let rows = curve.lines().skip(2).take_while(|line| !line.starts_with('#'));
    let rows: Vec<Vec<f64>> =
        rows.map(|row| row.split_whitespace().map(|cell| cell.parse().unwrap()).collect()).collect();
    let times = report.series[0].measurement.durations.response_time.clone().unwrap();
    let last = &rows[rows.len() - 1];
    let Nanoseconds::At(longest) = times.max_ns else { panic!("{times:?}") };
    assert!((last[0] - longest as f64 / 1e6).abs() <= 0.01 * last[0] + 0.001, "{last:?} {longest}");
    assert_eq!(last[2] as u64, times.count);
}

#[test]
fn a_threshold_that_failed_is_a_test_that_failed_to_readers_of_junit() {
    let folder = Folder::new();
    let ended = hammer(&["run", "--tolerate-lag", &folder.write("plan.yaml", PLAN), "--out", "-"]);
    let path = folder.write("report.json", &ended.stdout);
    let document = folder.write("report.xml", &hammer(&["report", &path, "--as", "junit"]).stdout);
    let script = "import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
for case in root.iter('testcase'):
    print(case.get('classname'), case.get('name'), *[failure.get('message') for failure in case.iter('failure')], sep='|')
print(root.get('tests'), root.get('failures'))";
    let read = Command::new("python3").args(["-c", script, &document]).output().unwrap();
    let read = String::from_utf8(read.stdout).unwrap();
    assert!(
        read.contains("\nweb/get|p99(response) < 1us|found ")
            && read.contains("\ntotal|count(accepted) > 10\n"),
        "{read}"
    );
    assert!(
        read.contains("verdict|no threshold failed|") && read.contains("verdict|no promise is broken\n"),
        "{read}"
    );
    assert!(read.ends_with("\n10 2\n"), "{read}");
}

/// A plan with a series whose name has to be quoted, an open and a closed loop, and a warm-up.
const QUOTED: &str = "\
target: { lab: { http: {} } }
workloads:
  - { name: 'web,\"hot\"', http: { path: /hot }, load: { rate: 400/s } }
  - { name: users, http: {}, load: { users: 2 } }
phases: { warm_up: 200ms, measurement: 500ms }
";

#[test]
fn python_reads_of_the_table_what_the_report_says() {
    let folder = Folder::new();
    let ended = hammer(&["run", "--tolerate-lag", &folder.write("plan.yaml", PLAN), "--out", "-"]);
    let path = folder.write("report.json", &ended.stdout);
    let table = folder.write("report.csv", &hammer(&["report", &path, "--as", "csv"]).stdout);
    let held = Command::new("python3").args(["-B", HELD, "csv", &path, &table]).output().unwrap();
    let told = [held.stdout, held.stderr].map(|said| String::from_utf8(said).unwrap());
    assert!(held.status.success() && told[0].starts_with("csv: "), "{told:?}");
    // It would say what differs.
    let altered =
        std::fs::read_to_string(&table).unwrap().replacen("web/get,web,get,", "web/get,web,got,", 1);
    let altered = folder.write("altered.csv", &altered);
    let held = Command::new("python3").args(["-B", HELD, "csv", &path, &altered]).output().unwrap();
    assert!(!held.status.success() && String::from_utf8(held.stderr).unwrap().contains("it has 'got'"));
}

/// What holds a form against its report, as others read it.
const HELD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/forms/held.py");

#[test]
fn a_report_has_the_statistics_for_locust_as_the_run_wrote_them() {
    let folder = Folder::new();
    let prefix = folder.path("run");
    let ended = hammer(&[
        "run",
        "--tolerate-lag",
        &folder.write("plan.yaml", QUOTED),
        "--out",
        "-",
        "--csv",
        &prefix,
    ]);
    let report = folder.write("report.json", &ended.stdout);
    let printed = hammer(&["report", &report, "--as", "locust-csv"]);
    let written = std::fs::read_to_string(folder.path("run_stats.csv")).unwrap();
    assert_eq!((printed.code, printed.stdout), (0, written), "{}", printed.stderr);
}

#[test]
fn markdown_begins_with_the_verdict_and_has_thresholds_in_a_table() {
    let folder = Folder::new();
    let ended = hammer(&["run", "--tolerate-lag", &folder.write("plan.yaml", PLAN), "--out", "-"]);
    let path = folder.write("report.json", &ended.stdout);
    let printed = hammer(&["report", &path, "--as", "markdown"]).stdout;
    assert!(printed.starts_with("# FAIL, exit 1: 1 of 2 thresholds failed"), "{printed}");
    let failed = "\n| FAILS | web/get | p99(response) \\< 1us | ";
    assert!(
        printed.contains(failed) && printed.contains("\n| holds | total | count(accepted) > 10 | "),
        "{printed}"
    );
}

#[test]
fn several_runs_are_a_table_with_what_was_swept_and_markdown() {
    let folder = Folder::new();
    let (plan, out) = (folder.write("plan.yaml", PLAN), folder.path("summary.json"));
    let sweep = "sweep={workloads.web.load.rate: [200/s, 400/s]}";
    hammer(&[
        "run",
        "--tolerate-lag",
        &plan,
        "--set",
        "phases.measurement=100ms",
        "--set",
        sweep,
        "--out",
        &out,
    ]);
    let table = hammer(&["report", &out, "--as", "csv"]).stdout;
    let (header, rows) = table.split_once("\r\n").unwrap();
    assert!(header.starts_with("run,labels.workloads.web.load.rate,verdict.exit_code,"), "{header}");
    let begins: Vec<&str> = rows.lines().map(|row| &row[..10]).collect();
    assert_eq!(begins, ["1,200/s,1,", "2,400/s,1,"]);
    let markdown = hammer(&["report", &out, "--as", "markdown"]).stdout;
    assert!(markdown.starts_with("# 0 of 2 runs passed, exit 1\n\n| run | series | offered |"), "{markdown}");
}

#[test]
fn what_is_no_report_and_what_has_no_such_form_is_told() {
    let folder = Folder::new();
    let several = PLAN.replace("thresholds", "rounds: 2\nthresholds").replace("500ms", "100ms");
    let ended = hammer(&[
        "run",
        "--tolerate-lag",
        &folder.write("plan.yaml", &several),
        "--out",
        &folder.path("summary.json"),
    ]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let summary = folder.path("summary.json");
    assert!(hammer(&["report", &summary]).stdout.contains("0 of 2 runs passed"));
    let one = ended_report(&folder);
    for (arguments, told) in [
        (
            vec!["report", &summary, "--as", "junit"],
            "it is of several runs, which are text, Markdown, a table (csv) or a page of HTML",
        ),
        (
            vec!["report", &one, "--as", "hgrm", "--series", "web/post"],
            "it has no series web/post: its series are web/get",
        ),
        (vec!["report", &one, "--series", "web/get"], "it is for `--as hgrm` alone"),
        (
            vec!["report", &folder.write("none.json", "{}")],
            "none.json: failed to read a report: its schema is `none`",
        ),
        (vec!["report", "nowhere.json"], "failed to read nowhere.json: "),
    ] {
        let ended = hammer(&arguments);
        assert!(ended.code == 2 && ended.stderr.contains(told), "{told}: {} {}", ended.code, ended.stderr);
    }
}

fn ended_report(folder: &Folder) -> String {
    let ended = hammer(&["run", "--tolerate-lag", &folder.write("one.yaml", PLAN), "--out", "-"]);
    folder.write("one.json", &ended.stdout)
}

#[test]
fn a_run_writes_its_page_and_a_report_has_the_same() {
    let folder = Folder::new();
    let (plan, page) = (folder.write("plan.yaml", PLAN), folder.path("page.html"));
    let ended = hammer(&["run", "--tolerate-lag", &plan, "--out", "-", "--html", &page]);
    let written = std::fs::read_to_string(&page).unwrap();
    let verdict = "FAIL, exit 1: 1 of 2 thresholds failed, first p99(response) ";
    assert!(ended.stderr.starts_with(verdict) && written.contains(&format!("<h1>{verdict}&lt;")));
    let report = folder.write("report.json", &ended.stdout);
    let again = folder.path("again.html");
    let told = hammer(&["report", &report, "--html", &again]);
    assert_eq!((told.code, told.stdout.as_str()), (0, ""), "{}", told.stderr);
    assert_eq!(std::fs::read_to_string(&again).unwrap(), written);
    // The report stays what it is.
    let told = hammer(&["report", &report, "--html", &report]);
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("it is read for the page"), "{}", told.stderr);
    assert_eq!(std::fs::read_to_string(&report).unwrap(), ended.stdout);
    let told = hammer(&["report", &report, "--html", "-"]);
    assert!(told.code == 2 && told.stderr.contains("--html"), "{}", told.stderr);
    // A page that cannot be written is known before the first request.
    let told = hammer(&["run", &plan, "--html", &folder.path("none/page.html")]);
    assert!(told.code == 2 && told.stderr.contains("--html"), "{}", told.stderr);
}

#[test]
fn several_runs_write_a_page_each_and_one_of_all() {
    let folder = Folder::new();
    let (plan, page) = (folder.write("plan.yaml", PLAN), folder.path("page.html"));
    let out = folder.path("summary.json");
    let sweep = "sweep={workloads.web.load.rate: [200/s, 400/s]}";
    hammer(&[
        "run",
        "--tolerate-lag",
        &plan,
        "--set",
        "rounds=2",
        "--set",
        sweep,
        "--out",
        &out,
        "--html",
        &page,
    ]);
    for run in ["page.1.html", "page.4.html"] {
        let written = std::fs::read_to_string(folder.path(run)).unwrap();
        assert!(written.starts_with("<!DOCTYPE html>"), "{run}");
    }
    let written = std::fs::read_to_string(&page).unwrap();
    assert!(written.contains("0 of 4 runs passed, exit 1") && written.contains("medians of 2 runs"));
    let again = folder.path("again.html");
    let told = hammer(&["report", &out, "--html", &again]);
    assert_eq!((told.code, told.stdout.as_str()), (0, ""), "{}", told.stderr);
    assert_eq!(std::fs::read_to_string(&again).unwrap(), written);
}

/// The start and the length of a line of a log, in milliseconds of the run.
fn placed(line: &str) -> (u64, u64) {
    let mut cells = line.trim_start_matches("Tag=web/get,").split(',');
    let mut millis = || (cells.next().unwrap().parse::<f64>().unwrap() * 1e3).round() as u64;
    (millis(), millis())
}

/// The lines of a log as a page has them, those alone whose interval has its middle within these milliseconds of the run.
fn logged(log: &str, from: u64, to: u64) -> Vec<Vec<String>> {
    let lines = log.lines().filter_map(|line| line.strip_prefix("Tag=web/get,"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let (start, span) = placed(line);
        let times = Distribution::from_payload(cells[3], 0).unwrap();
        let quantile = |share: f64| times.quantile(share).unwrap().to_string();
        let row = vec![
            format!("{:.2} s", (start + span) as f64 / 1e3),
            times.count().to_string(),
            quantile(0.5),
            quantile(0.99),
            quantile(0.999),
            times.longest().to_string(),
        ];
        (from..to).contains(&(start + span / 2)).then_some(row)
    };
    lines.filter_map(row).collect()
}

/// The figures behind the chart of response times of a page.
fn charted(page: &str) -> Vec<Vec<String>> {
    let (_, table) = page.split_once("<th scope=\"col\">until</th><th scope=\"col\">ended</th>").unwrap();
    let (table, _) = table.split_once("</table>").unwrap();
    let cells = |row: &str| {
        row.split("<td>").skip(1).map(|cell| cell.split('<').next().unwrap().to_owned()).collect()
    };
    table.split("<tr data-at").skip(1).map(cells).collect()
}

#[test]
fn charts_of_a_window_have_exactly_the_intervals_of_the_log_and_what_is_another_log_is_refused() {
    let folder = Folder::new();
    let plan =
        folder.write("plan.yaml", &PLAN.replace("phases", "interval: 50ms\nphases").replace("500ms", "1s"));
    let run = |name: &str| {
        let [log, report] = ["hlog", "json"].map(|form| folder.path(&format!("{name}.{form}")));
        hammer(&["run", "--tolerate-lag", &plan, "--hlog", &log, "--out", &report]);
        (log, report)
    };
    let ((log, report), (other, _)) = (run("one"), run("other"));
    let text = std::fs::read_to_string(&log).unwrap();
    let page = folder.path("page.html");
    let paged = |arguments: &[&str]| {
        let ended = hammer(&[&["report", &report, "--html", &page], arguments].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
        std::fs::read_to_string(&page).unwrap()
    };
    // Edges between intervals, wherever a late start put them: no middle is so near that the log's milliseconds could move it across.
    let starts: Vec<u64> =
        text.lines().filter(|line| line.starts_with("Tag=web/get,")).map(|line| placed(line).0).collect();
    let (first, behind) = (starts.len() / 4, starts.len() / 2);
    let (from, to) = (starts[first], starts[behind]);
    let window = paged(&["--hlog", &log, "--from", &format!("{from}ms"), "--to", &format!("{to}ms")]);
    let found = charted(&window);
    assert_eq!(found, logged(&text, from, to));
    assert_eq!(found.len(), behind - first, "{found:?}");
    assert!(found.len() > 1, "{text}");
    let window = paged(&["--hlog", &log, "--from", "300ms", "--to", "600ms"]);
    assert!(
        window.contains("Charts are of <b>0.3 s to 0.6 s</b> after the run's start"),
        "{}",
        &window[..3_000]
    );
    let whole = paged(&["--hlog", &log]);
    assert_eq!(charted(&whole), logged(&text, 0, u64::MAX));
    assert!(
        paged(&["--from", "300ms"]).contains("<th scope=\"col\">never ended</th>"),
        "of the report itself"
    );
    // What is made of a report is a log of the same run.
    let own = folder.write("own.hlog", &hammer(&["report", &report, "--as", "hlog"]).stdout);
    assert_eq!(charted(&paged(&["--hlog", &own])), charted(&whole));

    let cut = folder.write("cut.hlog", &text[..text.len() - 40]);
    let empty = folder.write("empty.hlog", "");
    let first = text.lines().position(|line| line.starts_with("Tag=")).unwrap() + 1;
    let damaged = folder.write("damaged.hlog", &text.replacen(",HIST", ",HISt", 1));
    let foreign = folder.write("foreign.hlog", &std::fs::read_to_string(&report).unwrap());
    for (arguments, told) in [
        (vec!["--hlog", &other], "other.hlog: line 3: its StartTime is ".to_owned()),
        (vec!["--hlog", &cut], format!("cut.hlog: line {}: it is cut off", text.lines().count())),
        (vec!["--hlog", &empty], "empty.hlog: line 0: no line says StartTime and BaseTime".to_owned()),
        (vec!["--hlog", &damaged], format!("damaged.hlog: line {first}: failed to read an HDR V2 payload: ")),
        (vec!["--hlog", &foreign], "foreign.hlog: line 1: it is no line of an interval log".to_owned()),
        (vec!["--hlog", "/dev/zero"], "/dev/zero: line 1: it is longer than 1048576 bytes".to_owned()),
        (vec!["--hlog", "none.hlog"], "failed to read none.hlog: ".to_owned()),
        (vec!["--from", "2h"], "failed to chart the run from 2h00m on: it ended ".to_owned()),
        (
            vec!["--from", "500ms", "--to", "400ms"],
            "from 500ms to 400ms: nothing lies between them".to_owned(),
        ),
    ] {
        std::fs::remove_file(&page).ok();
        let ended = hammer(&[&["report", &report, "--html", &page], &arguments[..]].concat());
        assert!(ended.code == 2 && ended.stderr.contains(&told), "{told}: {} {}", ended.code, ended.stderr);
        assert!(!std::path::Path::new(&page).exists(), "{told}");
    }
    // The log stays what it is, and a window is one of a page.
    let told = hammer(&["report", &report, "--hlog", &log, "--html", &log]);
    assert!(told.code == 2 && told.stderr.contains("it is read for the page"), "{}", told.stderr);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), text);
    assert!(hammer(&["report", &report, "--from", "1s"]).stderr.contains("--html"));
}

#[test]
fn a_window_is_of_one_run() {
    let folder = Folder::new();
    let plan = folder
        .write("plan.yaml", &PLAN.replace("thresholds", "rounds: 2\nthresholds").replace("500ms", "100ms"));
    let (summary, page) = (folder.path("summary.json"), folder.path("page.html"));
    hammer(&["run", "--tolerate-lag", &plan, "--out", &summary]);
    let told = hammer(&["report", &summary, "--html", &page, "--from", "50ms"]);
    assert!(
        told.code == 2
            && told.stderr.contains("it is of several runs, and --hlog, --from and --to are of one")
    );
    assert_eq!(hammer(&["report", &summary, "--html", &page]).code, 0);
}
