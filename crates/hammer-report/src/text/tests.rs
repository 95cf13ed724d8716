use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::LazyLock;

use hammer_measure::headline::Headline;
use hammer_measure::health::Finding;
use hammer_measure::promise::{KindLedger, by_workload};
use hammer_measure::snapshot::{Observation, RunResult};
use hammer_measure::{ConnectionLog, Detail, Fate, Ledger, Nanos, Outcome, Phase, SeriesInfo};
use proptest::prelude::*;

use super::page::{INDENT, WIDTH};
use super::*;
use crate::builder::ReportBuilder;
use crate::fixture::any::{any_run, events};
use crate::fixture::{
    PEER, Story, breach, build, disaster, interrupt, operation, quickstart, report_of, step, tree_size,
    verdict,
};
use crate::report::{Durations, Nanoseconds};

mod notes;

fn assert_fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= WIDTH, "{} columns: {line}", line.chars().count());
        assert!(line.is_ascii(), "{line}");
        assert_eq!(line, line.trim_end());
    }
}

#[test]
fn a_run_that_passed_reads_so() {
    let text = render(&report_of(&quickstart()));
    assert_fits(&text);
    assert!(text.starts_with("PASS, exit 0\nhealth"));
    insta::assert_snapshot!(text);
}

#[test]
fn a_run_that_passed_although_operations_failed_says_so_at_once() {
    let mut report = report_of(&quickstart());
    let all: u64 = report.operations().map(|series| series.measurement.counts.fates.ended()).sum();
    let series = report.series.iter_mut().find(|series| series.kind == SeriesKind::Operation).unwrap();
    series.measurement.counts.fates.refused += 7;
    let told = format!("PASS, exit 0, though 7 of {} operations failed\n", grouped(all + 7));
    assert!(render(&report).starts_with(&told), "{told}");
    let series = report.series.iter_mut().find(|series| series.kind == SeriesKind::Operation).unwrap();
    series.refusals_meant = true;
    assert!(render(&report).starts_with("PASS, exit 0\n"));
}

#[test]
fn that_nothing_was_accepted_and_what_is_pending_stands_beside_the_verdict_whatever_that_is() {
    let refused = |interrupted: bool| {
        let mut story = Story::new(vec![operation("get", "get")]);
        let end = (Outcome::Refused, Detail::Status(404));
        story.end((0, Phase::Measurement), 400, Nanos(20), end);
        story.promises = Ledger { made: 100, pending: 100, ..Ledger::default() };
        story.interval(Phase::Measurement);
        let cut = |result: &mut RunResult| {
            if interrupted {
                interrupt(result);
            }
        };
        render(&report_of(&story.finish(cut)))
    };
    let first = |text: &str| {
        let verdict = text.split("\nhealth").next().unwrap();
        verdict.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told = "FAIL, exit 1: nothing of get was accepted: 400 refused (HTTP 404); \
                0 of 400 accepted; 100 of 100 promises pending";
    assert_eq!(first(&refused(false)), told);
    assert!(first(&refused(true)).contains("; interrupted by a signal; 0 of 400 accepted; "));
    let mut accepted = Story::new(vec![operation("get", "get")]);
    accepted.accept(0, Phase::Measurement, 5, Nanos(20));
    accepted.promises = Ledger { made: 1, pending: 1, ..Ledger::default() };
    accepted.interval(Phase::Measurement);
    let text = render(&report_of(&accepted.finish(|_| {})));
    assert!(first(&text).starts_with("no expectation, exit 0: "), "{text}");
    assert!(first(&text).ends_with("; 1 of 1 promise pending"), "{text}");
}

#[test]
fn a_run_that_failed_says_why_before_its_figures() {
    let text = render(&report_of(&disaster()));
    assert_fits(&text);
    assert!(text.starts_with("FAIL, exit 4: 8 promises broken; not to be believed for 2"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn of_many_findings_the_first_are_told_and_how_many_there_are_more() {
    let mut story = Story::new(vec![operation("http", "get")]);
    story.accept(0, Phase::Measurement, 10, Nanos(20));
    story.interval(Phase::Measurement);
    story.health.findings = (1..=8).map(|count| Finding::Starved { count }).collect();
    let text = render(&report_of(&story.finish(|_| {})));
    assert_eq!(text.matches("health     NOT OK, ").count(), 5, "{text}");
    assert!(text.contains("health     and 3 findings more\n"), "{text}");
}

#[test]
fn a_closed_loop_says_that_waiting_is_not_in_its_figures() {
    let closed = SeriesInfo { closed_loop: true, ..operation("http", "get") };
    let mut story = Story::new(vec![closed]);
    story.accept(0, Phase::Measurement, 200_000, Nanos(20));
    story.users(0, 50);
    story.interval(Phase::Measurement);
    let text = render(&build(ReportBuilder::new(), &story.finish(|_| {})));
    assert_fits(&text);
    insta::assert_snapshot!(text);
}

/// What is said of 600 answers over connections that carry `each` of them, two at a time, after which `end` is noted.
fn connections_said(each: u64, end: fn(&ConnectionLog)) -> String {
    let mut story = Story::new(vec![operation("http", "get")]);
    story.accept(0, Phase::Measurement, 600, Nanos(20));
    let log = story.connections("shop");
    let (mut open, micros) = (VecDeque::new(), Nanos::from_micros);
    for dial in 0..600 / each {
        open.push_back(log.dialled(PEER, micros(40 + dial)));
        log.handshaken(micros(900 + dial), dial > 0);
        (0..each).for_each(|_| log.answered_first_byte(micros(200)));
        (1..each).for_each(|_| log.reused());
        if open.len() == 2 && dial + 1 < 600 / each {
            open.pop_front();
        }
    }
    end(&log);
    story.interval(Phase::Measurement);
    let text = render(&build(ReportBuilder::new(), &story.finish(|_| {})));
    assert_fits(&text);
    let said = text.lines().skip_while(|line| !line.starts_with("connections"));
    said.take_while(|line| !line.starts_with("promises")).collect::<Vec<_>>().join("\n")
}

#[test]
fn connections_that_were_dialled_once_and_kept_are_not_worth_a_line() {
    assert_eq!(connections_said(300, |_| ()), "");
    assert_eq!(connections_said(600, |_| ()), "");
}

#[test]
fn a_dial_for_each_answer_shows() {
    insta::assert_snapshot!(connections_said(1, ConnectionLog::closed_idle));
}

#[test]
fn whatever_is_amiss_with_connections_shows() {
    insta::assert_snapshot!(connections_said(300, |log| {
        log.dial_failed(PEER);
        log.reset();
        log.closed();
        log.refused_stream();
        (0..1_200).for_each(|_| log.resent());
        log.redialled();
        log.look_up_failed();
        log.unstamped();
    }));
}

#[test]
fn how_requests_were_spread_shows_where_there_are_two_peers_or_more() {
    let mut story = Story::new(vec![operation("http", "get")]);
    story.accept(0, Phase::Measurement, 600, Nanos(20));
    let log = story.connections("shop");
    let other = SocketAddr::from(([127, 0, 0, 2], 18_090));
    let open = [log.dialled(PEER, Nanos(9)), log.dialled(other, Nanos(9))];
    (0..1_400u64).for_each(|n| open[0].exchange().answered(Nanos::from_micros(300 + n), n == 7));
    drop(open[1].exchange());
    log.dial_failed(other);
    drop(story.connections("mirror").dialled(PEER, Nanos(9)));
    story.interval(Phase::Measurement);
    let text = render(&build(ReportBuilder::new(), &story.finish(|_| {})));
    assert_fits(&text);
    let said = text.lines().skip_while(|line| !line.starts_with("peers"));
    let said = said.take_while(|line| !line.starts_with("promises")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(said);
}

#[test]
fn a_shed_percentile_prints_as_beyond() {
    let text = render(&report_of(&disaster()));
    let row = text.lines().find(|line| line.starts_with("  response time")).unwrap();
    assert!(row.contains("> 2.00s"), "{row}");
    assert!(!text.lines().any(|line| line.starts_with("  service time") && line.contains('>')));
}

/// The lines of the first table, the header first.
fn table(text: &str) -> Vec<&str> {
    let header = |line: &str| line.split_whitespace().eq(COLUMNS);
    let lines = text.lines().skip_while(|line| !header(line));
    let figures = |line: &str| TABLE.iter().any(|name| line.starts_with(name));
    lines.take_while(|line| header(line) || figures(line)).collect()
}

static PASSED: LazyLock<Report> = LazyLock::new(|| report_of(&quickstart()));

const COLUMNS: [&str; 7] = ["count", "mean", "p50", "p90", "p99", "p99.9", "max"];
const TABLE: [&str; 8] = [
    "  response time",
    "   accepted alone",
    "  dispatch lag",
    "  backlog wait",
    "  connection wait",
    "  service time",
    "  client time",
    "  read lag",
];

/// Each figure ends where its header ends, and a space parts it from what stands before it.
fn assert_is_aligned(table: &[&str]) {
    let ends: Vec<usize> =
        table[0].match_indices(|c: char| !c.is_whitespace()).map(|(at, _)| at + 1).collect();
    let ends: Vec<usize> =
        ends.iter().copied().filter(|end| !table[0][*end..].starts_with(|c: char| c != ' ')).collect();
    assert_eq!(ends.len(), 7, "{table:?}");
    for row in &table[1..] {
        assert!(row.len() <= WIDTH, "{row}");
        assert_eq!(row.len(), table[0].len(), "{row}");
        for end in &ends {
            assert_ne!(row.as_bytes()[end - 1], b' ', "nothing under {}: {row}", &table[0][..*end]);
            assert!(row.len() == *end || row.as_bytes()[*end] == b' ', "no gap at {end}: {row}");
        }
        assert_eq!(row.as_bytes()[17], b' ', "the name runs into the count: {row}");
    }
}

/// The text after a label, lines that continue it joined.
fn paragraphs(text: &str, label: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let (start, rest) = line.split_at(line.len().min(INDENT));
        if start.trim_end() == label && !rest.is_empty() {
            found.push(rest.to_owned());
            open = true;
        } else if open && start.trim().is_empty() && !rest.is_empty() {
            found.last_mut().unwrap().push_str(&format!(" {rest}"));
        } else {
            open = false;
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_run_fits_the_page_and_starts_with_its_verdict(chapters in any_run()) {
        let report = report_of(&events(&chapters));
        let text = render(&report);
        assert_fits(&text);
        let verdict = report.verdict.to_string();
        prop_assert!(text.starts_with(verdict.split_at(verdict.len().min(40)).0), "{}", text);
        prop_assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
        let table = table(&text);
        if !table.is_empty() {
            assert_is_aligned(&table);
        }
        for series in &report.series {
            prop_assert!(text.lines().any(|line| line.starts_with(&series.path)), "{}", series.path);
        }
    }

    #[test]
    fn figures_of_any_length_stay_in_their_columns(
        (count, power) in (1..10u64, 0..12u32),
        figures in prop::array::uniform6((0..7_200_000_000_000u64, any::<bool>())),
    ) {
        let count = count * 10u64.pow(power);
        let figures = figures.map(|(nanos, unbounded)| {
            if unbounded { Nanoseconds::Beyond { beyond_ns: nanos } } else { Nanoseconds::At(nanos) }
        });
        let mut report = PASSED.clone();
        let table_of = &mut report.series[0].measurement.durations;
        for durations in [&mut table_of.connection_wait, &mut table_of.response_time] {
            let [mean_ns, p50_ns, p90_ns, p99_ns, p99_9_ns, max_ns] = figures;
            let all = durations.clone().unwrap();
            *durations = Some(Durations { count, mean_ns, p50_ns, p90_ns, p99_ns, p99_9_ns, max_ns, ..all });
        }
        assert_is_aligned(&table(&render(&report)));
    }
}

#[test]
fn a_million_operations_do_not_run_into_the_name_of_their_row() {
    let mut report = report_of(&quickstart());
    report.series[0].measurement.durations.connection_wait.as_mut().unwrap().count = 1_234_567;
    let text = render(&report);
    assert!(text.contains("  connection wait    1.23M"), "{text}");
    assert_is_aligned(&table(&text));
}

#[test]
fn the_time_of_the_client_is_a_row_of_flows_alone() {
    let rows = |flows: u64| {
        let mut story = Story::new(vec![operation("sign", "flow")]);
        story.accept(0, Phase::Measurement, 1, Nanos::from_millis(1));
        (0..flows).for_each(|_| story.flow(0, Nanos::from_millis(7)));
        story.interval(Phase::Measurement);
        let text = render(&report_of(&story.finish(|_| {})));
        assert_is_aligned(&table(&text));
        let of_client = |line: &&str| line.starts_with("  client time");
        text.lines().filter(of_client).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows(0), Vec::<String>::new());
    let row = "  client time            3   7.00ms   7.00ms   7.00ms   7.00ms   7.00ms   7.00ms";
    assert_eq!(rows(3), [row]);
}

#[test]
fn answers_that_were_read_late_have_a_row_where_the_server_could_be_blamed_for_it() {
    let rows = |service: Nanos| {
        let mut story = Story::new(vec![operation("http", "get")]);
        story.accept(0, Phase::Measurement, 1, service);
        story.interval(Phase::Measurement);
        let text = render(&report_of(&story.finish(|_| {})));
        assert_is_aligned(&table(&text));
        let of_reading = |line: &&str| line.starts_with("  read lag");
        text.lines().filter(of_reading).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows(Nanos::from_micros(70)), Vec::<String>::new());
    let row = "  read lag               1   3.01us   3.07us   3.07us   3.07us   3.07us   3.07us";
    assert_eq!(rows(Nanos::from_micros(50)), [row]);
}

#[test]
fn promises_are_told_apart_by_workload_and_by_kind() {
    let ledger = |kept, broken| Ledger { made: kept + broken, kept, broken, ..Ledger::default() };
    let mut story = Story::new(vec![operation("submit", "add-chain"), operation("reads", "tile")]);
    story.accept(0, Phase::Measurement, 1, Nanos(10));
    story.promises = ledger(2_600, 1);
    story.interval(Phase::Measurement);
    let text = render(&report_of(&story.finish(|result| {
        let kind = |workload: &str, kind: &str, ledger| KindLedger {
            workload: workload.to_owned(),
            kind: kind.to_owned(),
            ledger,
        };
        result.promises_by_kind = vec![
            kind("submit", "sct", ledger(1_500, 0)),
            kind("submit", "tree-head", ledger(500, 1)),
            kind("submit", "inclusion", Ledger::default()),
            kind("reads", "inclusion", ledger(600, 0)),
        ];
        result.promises_by_workload = by_workload(&result.promises_by_kind);
        result.breaches = vec![hammer_measure::promise::Breach { seq: None, ..breach(7) }];
    })));
    assert_fits(&text);
    for line in [
        "promises   2,601 made = 2,600 kept + 1 broken + 0 pending + 0 unchecked",
        "  submit: 2,001 made = 2,000 kept + 1 broken + 0 pending + 0 unchecked",
        "  reads: 600 made = 600 kept + 0 broken + 0 pending + 0 unchecked",
        "  submit, sct: 1,500 made = 1,500 kept + 0 broken + 0 pending + 0 unchecked",
        "  submit, tree-head: 501 made = 500 kept + 1 broken + 0 pending + 0 unchecked",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
    }
    assert!(!text.contains("reads, inclusion"), "the only kind of a workload is told with it: {text}");
    assert!(!text.contains("submit, inclusion"), "of which none was received: {text}");
    let broken = paragraphs(&text, "broken");
    assert_eq!(
        broken,
        ["leaf index of submit: index 7 holds another leaf at tree size 12,000"],
        "to everyone"
    );
}

#[test]
fn many_broken_promises_are_a_line_for_each_kind_and_all_are_counted() {
    for (broken, named, first, more) in [
        (1, 1, "leaf index of submit #0: index 0 holds another leaf at tree size 12,000", None),
        (6, 6, "6 leaf index of submit, the first #0: index 0 holds another leaf at tree size 12,000", None),
        (
            1_234,
            3,
            "3 leaf index of submit, the first #0: index 0 holds another leaf at tree size 12,000",
            Some("and 1,231 more"),
        ),
    ] {
        let mut story = Story::new(vec![operation("submit", "add-chain")]);
        story.accept(0, Phase::Measurement, 1, Nanos(10));
        story.promises = Ledger { made: broken, broken, ..Ledger::default() };
        story.interval(Phase::Measurement);
        let text = render(&report_of(
            &story.finish(|result| result.breaches = (0..named).rev().map(breach).collect()),
        ));
        let told = paragraphs(&text, "broken");
        assert_eq!(told.len(), 1 + usize::from(more.is_some()), "{text}");
        assert_eq!(told[0], first);
        assert_eq!(told.last().map(String::as_str).filter(|last| last.starts_with("and ")), more);
    }
}

#[test]
fn what_lies_behind_the_fates_is_bounded_and_says_how_much_is_left_out() {
    let mut story = Story::new(vec![operation("get", "get")]);
    for status in 0..9 {
        let refused = (Outcome::Refused, Detail::Status(400 + status));
        story.end((0, Phase::Measurement), u64::from(100 - status), Nanos(10), refused);
    }
    story.interval(Phase::Measurement);
    let text = render(&report_of(&story.finish(|_| {})));
    let causes = paragraphs(&text, "  causes");
    assert_eq!(
        causes,
        ["100 HTTP 400 (refused), 99 HTTP 401 (refused), 98 HTTP 402 (refused), 97 HTTP 403 (refused), \
          96 HTTP 404 (refused), 95 HTTP 405 (refused), and 3 more"]
    );
}

#[test]
fn what_the_server_said_first_is_told_once_and_with_the_verdict() {
    let mut story =
        Story::new(vec![operation("sign", "sign"), step("sign", "fulcio"), operation("get", "get")]);
    let said = r#"{"code":3,"message":"There was an error processing the identity token"}"#;
    for place in [0, 1, 2] {
        let at = (place, Phase::Measurement);
        story.end(at, 3, Nanos(10), (Outcome::Refused, Detail::Status(400)));
        story.said(at, (Fate::Refused, Detail::Status(400)), said);
        story.said(at, (Fate::Refused, Detail::Status(400)), "~ later by its text");
    }
    story.interval(Phase::Measurement);
    let report = report_of(&story.finish(|_| {}));
    assert_eq!(report.series[0].measurement.causes[0].answer.as_deref(), Some(said));
    let text = render(&report);
    let first = format!("HTTP 400, said: {said}");
    assert_eq!(
        paragraphs(&text, "  answer"),
        [first.as_str(), first.as_str()],
        "of the step, and not of its flow"
    );
    // Half of them failed in the step, and the others had none.
    let verdict = format!("6 refused (HTTP 400, {said})");
    assert!(report.verdict.to_string().contains(&verdict), "{text}");
}

#[test]
fn that_all_was_accepted_by_one_status_goes_without_saying_but_two_do_not() {
    let accepted = |statuses: &[u16]| {
        let mut story = Story::new(vec![operation("get", "get")]);
        for status in statuses {
            story.end((0, Phase::Measurement), 3, Nanos(10), (Outcome::Accepted, Detail::Status(*status)));
        }
        story.interval(Phase::Measurement);
        paragraphs(&render(&report_of(&story.finish(|_| {}))), "  causes")
    };
    assert_eq!(accepted(&[200]), Vec::<String>::new());
    let mut story = Story::new(vec![operation("provision", "provision")]);
    story.end((0, Phase::Measurement), 3, Nanos(10), (Outcome::Accepted, Detail::Failure("in store before")));
    story.interval(Phase::Measurement);
    let text = render(&report_of(&story.finish(|_| {})));
    assert_eq!(paragraphs(&text, "  causes"), ["3 in store before (accepted)"]);
    assert_eq!(accepted(&[200, 204]), ["3 HTTP 200 (accepted), 3 HTTP 204 (accepted)"]);
}

#[test]
fn a_run_without_a_measurement_says_so() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, Phase::WarmUp, 3, Nanos(10));
    story.interval(Phase::WarmUp);
    let text = render(&report_of(&story.finish(|result| {
        result.phases.truncate(1);
        result.stopped = String::new();
    })));
    assert_eq!(paragraphs(&text, "  rates"), ["none, no time measured"]);
    assert_eq!(paragraphs(&text, "phases"), ["warm-up 1.00s"], "nothing is said of why it ended");
    assert_eq!(paragraphs(&text, "  fates"), ["0 offered = 0 accepted"]);
    assert!(table(&text).is_empty(), "{text}");
}

#[test]
fn thresholds_say_whether_they_hold_and_whether_they_ended_the_run() {
    let mut story = Story::new(vec![operation("submit", "add-chain")]);
    story.accept(0, Phase::Measurement, 3, Nanos(10));
    story.interval(Phase::Measurement);
    let text = render(&report_of(&story.finish(|result| {
        let failed = verdict("p99(response) < 1ms", "> 2.00s", false);
        let aborted = hammer_measure::threshold::Verdict { aborted: true, ..failed };
        result.verdicts = vec![verdict("count(accepted) == 3", "3", true), aborted];
    })));
    assert_eq!(
        paragraphs(&text, "threshold"),
        [
            "holds: count(accepted) == 3 on submit/add-chain, found 3",
            "FAILS: p99(response) < 1ms on submit/add-chain, found > 2.00s, and ended the run",
        ]
    );
}

#[test]
fn every_observation_is_told_once_and_a_headline_by_its_label() {
    let told = |names: &[&str]| {
        let level = Headline::level("queue_depth", "depth of the queue");
        let mut story = Story::headed(vec![tree_size(), level], vec![operation("get", "get")]);
        story.accept(0, Phase::Measurement, 1, Nanos(10));
        let seen =
            |(place, name): (usize, &&str)| Observation::new(*name, Nanos(5), (place + 1) as f64 * 1_000.0);
        story.observations = names.iter().enumerate().map(seen).collect();
        story.interval(Phase::Measurement);
        let text = render(&report_of(&story.finish(|_| {})));
        assert_eq!(text.contains("depth of the queue 1,000 to 1,000\n"), names[0] == "queue_depth", "{text}");
        (paragraphs(&text, "tree size"), paragraphs(&text, "observed"))
    };
    let tree = || vec!["1,000 to 1,000, grown by 0".to_owned()];
    assert_eq!(told(&["tree_size"]), (tree(), vec![]));
    assert_eq!(told(&["tree_size", "ratio"]), (tree(), vec!["ratio 2,000".to_owned()]));
    assert_eq!(told(&["log/tree_size", "subtree_size"]), (tree(), vec!["subtree_size 2,000".to_owned()]));
    let both = ["a: 1,000 to 1,000, grown by 0", "b: 2,000 to 2,000, grown by 0"].map(str::to_owned).to_vec();
    assert_eq!(told(&["a/tree_size", "b/tree_size"]), (both, vec![]), "each tree under its name");
    assert_eq!(told(&["queue_depth"]), (vec![], vec![]), "a level does not grow");
}

#[test]
fn a_retry_is_said_beside_the_bytes_and_no_cpu_beside_no_operation() {
    let mut report = report_of(&quickstart());
    report.series[0].measurement.counts.resent = 1_000;
    report.series[0].measurement.counts.redialled = 2;
    report.resources.cpu_ns_per_completed = None;
    let text = render(&report);
    let again = "10.0 MB out (1.0 MB/s), 2.0 MB in (200.0 kB/s); 1,000 sent twice; 2 moved to another connection unsent";
    assert_eq!(paragraphs(&text, "  bytes")[0], again);
    assert!(text.contains("1.25 CPU seconds user, 0.50 system; memory 28.4"), "{text}");
}
