use hammer_measure::health::{Finding as FoundHealth, Health, LatenessKind};
use hammer_measure::{Detail, Nanos, Outcome, Phase, SeriesInfo};
use proptest::prelude::*;

use super::*;
use crate::fixture::any::{any_run, events as told};
use crate::fixture::{Story, disaster, late, operation, quickstart, report_of, step, written};

fn assert_fits(text: &str, width: usize) {
    for line in text.lines() {
        assert!(line.chars().count() <= width, "{} columns: {line}", line.chars().count());
        assert_eq!(line, line.trim_end());
    }
}

fn plain(report: &Report) -> String {
    render(report, Screen::default())
}

/// The text without what sets colours.
fn without_colour(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').expect("a sequence ends").1)
}

#[test]
fn a_run_that_passed_has_a_line_for_each_series_and_its_verdict_first_and_last() {
    let text = plain(&report_of(&quickstart()));
    assert_fits(&text, 80);
    assert!(text.starts_with("PASS, exit 0\n") && text.ends_with("\nPASS, exit 0\n"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_run_that_failed_fits_one_screen_too() {
    let text = plain(&report_of(&disaster()));
    assert_fits(&text, 80);
    insta::assert_snapshot!(text);
}

#[test]
fn a_wide_screen_has_further_columns() {
    let report = report_of(&quickstart());
    let columns = |width: usize| {
        let text = render(&report, Screen::new(width, false));
        assert_fits(&text, width.max(80));
        let head = text.lines().find(|line| line.contains("p50"));
        head.expect("a table").split_whitespace().skip(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(columns(0), "offered accepted failed p50 p95 p99 max");
    assert_eq!(columns(100), "offered accepted failed p50 p90 p95 p99 p99.9 max");
    assert_eq!(columns(300), "offered accepted failed mean p50 p90 p95 p99 p99.9 max lag p99");
}

#[test]
fn colour_repeats_what_the_words_say() {
    for report in [report_of(&quickstart()), report_of(&disaster())] {
        let coloured = render(&report, Screen::new(80, true));
        assert!(coloured.contains("\u{1b}[1m"), "{coloured}");
        assert_eq!(without_colour(&coloured), plain(&report));
        assert!(!plain(&report).contains('\u{1b}'));
    }
}

#[test]
fn what_servers_said_sets_no_colour() {
    let mut report = report_of(&disaster());
    report.series[0].measurement.causes[1].answer = Some("\u{1b}[32mfine".to_owned());
    assert!(!plain(&report).contains('\u{1b}'));
}

#[test]
fn the_same_finding_of_several_series_is_told_once_with_the_worst() {
    let mut story = Story::new(vec![operation("http", "get")]);
    story.accept(0, Phase::Measurement, 10, Nanos(20));
    story.interval(Phase::Measurement);
    let of = |millis| late(LatenessKind::Dispatch, Nanos::from_millis(millis));
    story.health = Health {
        findings: vec![of(2), of(4), FoundHealth::Starved { count: 3 }, of(3)],
        ..Health::default()
    };
    let text = plain(&report_of(&story.finish(|_| {})));
    assert_eq!(text.matches("health     NOT OK, ").count(), 2, "{text}");
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("is 4.00ms, over its bound of 1.00ms; and likewise 2 more series"), "{text}");
}

#[test]
fn steps_stand_below_the_operation_that_fails_as_they_do() {
    let mut story =
        Story::new(vec![step("sign", "fulcio"), operation("sign", "flow"), operation("read", "entry")]);
    let refused = (Outcome::Refused, Detail::Status(400));
    for series in [0, 1] {
        story.end((series, Phase::Measurement), 3, Nanos(20), refused);
    }
    story.accept(2, Phase::Measurement, 5, Nanos(20));
    story.interval(Phase::Measurement);
    let text = plain(&report_of(&story.finish(|_| {})));
    let place = |start: &str| text.lines().position(|line| line.starts_with(start)).expect(start);
    assert!(place("sign/flow ") < place("  fulcio ") && place("  fulcio ") < place("read/entry "), "{text}");
    assert!(text.contains("failed     3 of sign/fulcio: HTTP 400 (refused)\n"), "{text}");
    assert!(!text.contains("of sign/flow: HTTP"), "{text}");
}

#[test]
fn refusals_that_are_meant_are_no_failures() {
    let meant = SeriesInfo { refusals_meant: true, ..operation("bad", "chain") };
    let mut story = Story::new(vec![meant, operation("good", "chain")]);
    story.end((0, Phase::Measurement), 3, Nanos(20), (Outcome::Refused, Detail::Status(400)));
    story.accept(1, Phase::Measurement, 5, Nanos(20));
    story.interval(Phase::Measurement);
    let text = plain(&report_of(&story.finish(|_| {})));
    assert!(!text.contains("\nfailed "), "{text}");
}

#[test]
fn observations_are_put_together_by_what_their_names_share_and_have_units() {
    let mut report = report_of(&quickstart());
    let seen = |name: &str, value: f64| {
        let mut seen = report.observations[0].clone();
        seen.name = name.to_owned();
        seen.last.value = value;
        seen
    };
    report.observations = vec![
        seen("time_to_integrate_min", 0.05),
        seen("audit_requests", 1_204.0),
        seen("time_to_integrate_from_intended_max", 1.5),
        seen("audit_bytes", 2_500_000.0),
        seen("overdue", 0.0),
        seen("log/heads_joined", 7.0),
    ];
    let text = plain(&report);
    for line in [
        "observed   time to integrate: min 50.0ms, from intended max 1.50s\n",
        "observed   audit: requests 1,204, bytes 2.5 MB\n",
        "observed   overdue 0, log/heads joined 7\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn an_observation_has_the_unit_of_whole_words_of_its_name_and_may_have_no_name() {
    let mut report = report_of(&quickstart());
    let of_one = report.observations[0].clone();
    for (name, value, told) in [
        ("requests_delayed_total", 5.0, "requests delayed total 5"),
        ("user_agents", 3.0, "user agents 3"),
        ("log/publication_delay_max", 5.0, "log/publication delay max 5.00s"),
        ("head_age", 3.0, "head age 3.00s"),
        ("uptime_to_date", 3.0, "uptime to date 3"),
        ("kilobytes", 2_000.0, "kilobytes 2,000"),
        ("", 7.0, "7"),
        ("/", 7.0, "/ 7"),
    ] {
        let mut seen = of_one.clone();
        (seen.name, seen.last.value) = (name.to_owned(), value);
        report.observations = vec![seen];
        let text = plain(&report);
        assert!(text.contains(&format!("observed   {told}\n")), "{name}: {text}");
    }
}

#[test]
fn a_name_that_is_longer_than_its_column_has_a_line_of_its_own() {
    let name = "a-name-that-leaves-no-room-for-any-figure-of-a-series-whatever-that-is";
    let mut story = Story::new(vec![operation("w", name)]);
    story.accept(0, Phase::Measurement, 5, Nanos(20));
    story.interval(Phase::Measurement);
    let text = plain(&report_of(&story.finish(|_| {})));
    assert_fits(&text, 80);
    assert!(text.lines().any(|line| line == format!("w/{name}")), "{text}");
}

#[test]
fn of_many_events_the_first_and_the_last_are_told_and_how_many_more_there_are() {
    let mut report = report_of(&disaster());
    let note = |at_ns| crate::report::Event::Note { at_ns, text: format!("the {at_ns}th") };
    report.events = (0..9).map(note).collect();
    let text = plain(&report);
    let told: Vec<_> = (0..9).filter(|place| text.contains(&format!("the {place}th"))).collect();
    assert_eq!(told, [0, 1, 2, 6, 7, 8], "{text}");
    assert!(text.contains("note       and 3 more events: --detail\n"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_run_fits_any_screen_and_reads_the_same_from_its_json(chapters in any_run(), columns in 0..300_usize) {
        let report = report_of(&told(&chapters));
        let screen = Screen::new(columns, false);
        let text = render(&report, screen);
        assert_fits(&text, columns.clamp(80, 160));
        prop_assert!(text.ends_with('\n') && !text.contains("\n\n\n"));
        let read = Report::parse(&written(&report)).expect("it was written");
        prop_assert_eq!(render(&read, screen), text);
    }
}

#[test]
fn the_report_of_each_quickstart_reads_on_each_screen() {
    for (name, json) in [
        ("ct", include_str!("../../../testdata/quickstarts/ct.json")),
        ("http", include_str!("../../../testdata/quickstarts/http.json")),
        ("sigstore", include_str!("../../../testdata/quickstarts/sigstore.json")),
        ("attest", include_str!("../../../testdata/quickstarts/attest.json")),
        ("pki", include_str!("../../../testdata/quickstarts/pki.json")),
    ] {
        let report = Report::parse(json).expect("it was written");
        for width in [80, 120, 200] {
            let text = render(&report, Screen::new(width, false));
            assert_fits(&text, width);
            insta::assert_snapshot!(format!("{name}_{width}"), text);
        }
    }
}
