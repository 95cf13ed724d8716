//! The page of a report says what the report says, takes nothing of it for markup, and stays small.

use std::path::PathBuf;

use hammer_html::{LivePage, document, summary_document, window_document};
use hammer_measure::Nanos;
use hammer_measure::histogram::Distribution;
use hammer_report::report::timeline::ObservationPoint;
use hammer_report::report::{Cause, Disruption, DisruptionKind, Fates, Nanoseconds, Pace, ResponseStretch};
use hammer_report::summary::{KeyFigures, SummaryRun};
use hammer_report::text::number::grouped;
use hammer_report::{LoggedTimes, Report, Summary, Window};

fn report() -> Report {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/report.json");
    Report::parse(&std::fs::read_to_string(&file).unwrap()).unwrap()
}

/// The text of all cells of tables with these names above their columns, row by row.
fn rows(page: &str, header: &[&str]) -> Vec<Vec<String>> {
    let head: String = header.iter().map(|name| format!("<th scope=\"col\">{name}</th>")).collect();
    let tables = page.split("<table").filter(|table| table.contains(&head));
    let rows = tables.flat_map(|table| table.split("<tr data-at").skip(1));
    let cells = |row: &str| {
        let cells = row.split("<td>").skip(1).map(|cell| cell.split_once('<').unwrap().0.to_owned());
        cells.collect::<Vec<_>>()
    };
    rows.map(cells).collect()
}

fn number(text: &str) -> u64 {
    text.replace(',', "").parse().unwrap()
}

#[test]
fn what_the_report_says_stands_on_its_page() {
    let report = report();
    let page = document(&report).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("FAIL, exit 4: "), "{}", &page[..2_000]);
    for series in &report.series {
        for (name, durations) in series.measurement.durations.entries() {
            for figure in [durations.mean_ns, durations.p50_ns, durations.p99_ns, durations.max_ns] {
                let figure = format!("<td>{figure}</td>").replace('>', "&gt;");
                let figure = figure.replace("<td&gt;", "<td>").replace("</td&gt;", "</td>");
                assert!(page.contains(&figure), "{} {name}: {figure}", series.path);
            }
        }
    }
    let promises = report.promises.all;
    for count in [promises.made, promises.kept, promises.broken] {
        assert!(page.contains(&format!("<td>{}</td>", grouped(count))), "{count}");
    }
    assert!(promises.broken > 0 && report.breaches.iter().all(|breach| page.contains(&breach.kind)));
    assert_eq!(page.matches("<tr class=\"fails\">").count(), 1);
    assert!(page.contains(">p99(response) &lt; 1us</td>"));
}

#[test]
fn the_figures_behind_charts_add_up_to_those_of_the_report() {
    let report = report();
    let page = document(&report).unwrap();
    let timed = rows(&page, &["until", "count", "never ended", "p50", "p99", "p99.9", "max"]);
    let ended: u64 = timed.iter().map(|row| number(&row[1])).sum();
    let completed = report
        .series
        .iter()
        .map(|series| series.warm_up.counts.completed + series.measurement.counts.completed);
    assert_eq!(ended, completed.sum::<u64>());
    // A rate by how long it lasted.
    let rates = rows(&page, &["until", "offered", "completed", "not accepted"]);
    assert_eq!(rates.len(), report.intervals.len() * report.series.len());
    let spans: Vec<f64> = report.intervals.iter().map(|interval| interval.span_ns as f64 / 1e9).collect();
    let offered = rates.iter().zip(spans.iter().cycle());
    let offered: f64 = offered
        .map(|(row, span)| row[1].trim_end_matches("/s").replace(',', "").parse::<f64>().unwrap() * span)
        .sum();
    let expected: u64 = report
        .series
        .iter()
        .map(|series| series.warm_up.counts.offered + series.measurement.counts.offered)
        .sum();
    assert!((offered - expected as f64).abs() < 1.0, "{offered} of {expected}");
    // Each of a chart's lines, and a curve that goes up to the longest.
    let curve = rows(&page, &["share", "no longer", "response time"]);
    let longest = report.series[0].measurement.durations.response_time.as_ref().unwrap();
    assert!(curve.iter().any(|row| row[0] == "100 %" && number(&row[1]) == longest.count), "{curve:?}");
}

#[test]
fn what_a_plan_or_a_server_says_is_no_markup() {
    const HOSTILE: &str = "<script>alert(1)</script>\"><img src=x onerror='alert(2)'>\u{1b}[2J\u{202e}";
    let mut report = report();
    report.series[0].path = HOSTILE.to_owned();
    report.response_times[0].path = HOSTILE.to_owned();
    let cause = Cause {
        fate: "refused".to_owned(),
        cause: HOSTILE.to_owned(),
        count: 1,
        answer: Some(HOSTILE.to_owned()),
    };
    report.series[0].measurement.causes = vec![cause];
    report.breaches[0].detail = HOSTILE.to_owned();
    report.thresholds[0].found = HOSTILE.to_owned();
    report.run.stopped = HOSTILE.to_owned();
    report.observations[0].name = HOSTILE.to_owned();
    report.plan = serde_json::json!({ HOSTILE: HOSTILE });
    let page = document(&report).unwrap();
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    for raw in ["<img", "\u{1b}", "\u{202e}"] {
        assert!(!page.contains(raw), "{raw:?}");
    }
    assert!(page.matches("&lt;script&gt;alert(1)").count() >= 8);
}

#[test]
fn when_a_series_was_served_otherwise_is_shaded_in_its_own_charts() {
    let mut report = report();
    let shaded = |report: &Report| document(report).unwrap().matches("fill=\"#000008\" stroke").count();
    assert_eq!(shaded(&report), 0);
    report.disruptions = vec![Disruption {
        path: report.series[0].path.clone(),
        kind: DisruptionKind::Outage,
        from_ns: 2_000_000_000,
        to_ns: Some(3_000_000_000),
        recovered_ns: None,
        fates: Fates::default(),
        before: None,
        within: Pace { accepted_per_s: 0.0, p99_ns: None },
        beside: Vec::new(),
    }];
    // Rates, response times and where they lie.
    assert_eq!(shaded(&report), 3);
    let page = document(&report).unwrap();
    assert!(
        page.contains("<h2>When it was served otherwise</h2><pre>outage ")
            && page.contains("when it was served otherwise</span>")
    );
}

#[test]
fn what_was_observed_is_there_whatever_it_was() {
    let mut report = report();
    let mut of = |place: usize, name: &str, values: &[f64]| {
        let seen = &mut report.observations[place];
        seen.name = name.to_owned();
        let point = |(at, value): (usize, &f64)| ObservationPoint {
            at_ns: (at as u64 + 1) * 1_000_000_000,
            value: *value,
        };
        seen.points = values.iter().enumerate().map(point).collect();
        seen.last = seen.points[values.len() - 1];
    };
    of(0, "falls below", &[-50.0, 20.0, -3.0, 1_000.0]);
    of(1, "below", &[-5.0, -2.0, -7.0]);
    of(2, "level", &[7.0, 7.0]);
    of(3, "once", &[-3.5]);
    let page = document(&report).unwrap();
    for name in [
        "<b>falls below</b>",
        "<b>below</b>",
        "<th scope=\"row\">level</th><td>7</td>",
        "<th scope=\"row\">once</th><td>-3.5</td>",
    ] {
        assert!(page.contains(name), "{name}");
    }
    assert!(page.contains("<td>-50</td>") && page.contains("\n-7\n"), "values, and a label below zero");
}

#[test]
fn what_never_ended_stands_above_what_did() {
    let mut report = report();
    let never = &mut report.response_times[0].stretches[1];
    (never.count, never.infinite) = (never.count + 1_000, 1_000);
    let page = document(&report).unwrap();
    assert!(page.contains("\nnever\n") && page.contains("1,000 never ended"));
    assert!(!document(&self::report()).unwrap().contains("\nnever\n"));
}

#[test]
fn a_page_names_no_other_place() {
    let page = document(&report()).unwrap();
    let named =
        page.split("://").skip(1).map(|behind| behind.split(['"', '&', '\'', '<', ' ']).next().unwrap());
    let elsewhere =
        |place: &&str| !place.starts_with("www.w3.org/2000/svg") && !place.starts_with("127.0.0.1");
    assert_eq!(named.filter(elsewhere).collect::<Vec<_>>(), Vec::<&str>::new());
    for fetched in ["<img", "@import", "url(", "src=", "<iframe", "fetch(", "XMLHttp"] {
        assert!(!page.contains(fetched), "{fetched}");
    }
}

#[test]
fn an_hour_is_less_than_two_megabytes() {
    let mut report = report();
    let interval = report.intervals[1].clone();
    report.intervals = (1..=3_600)
        .map(|second| {
            let mut interval = interval.clone();
            interval.at_ns = second * 1_000_000_000;
            interval
        })
        .collect();
    for times in &mut report.response_times {
        times.stretches = (1..=600)
            .map(|stretch| {
                let mut times = Distribution::default();
                (0..500).for_each(|of| {
                    times.record(Nanos::from_micros(300 + (stretch * 7_919 + of * of * 31) % 2_000_000));
                });
                ResponseStretch {
                    at_ns: stretch * 6_000_000_000,
                    span_ns: 6_000_000_000,
                    count: 500,
                    infinite: 0,
                    hdr: times.payload(),
                }
            })
            .collect();
    }
    let page = document(&report).unwrap();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("\n60 min\n"));
}

#[test]
fn a_run_of_which_nothing_ended_has_a_page() {
    let mut report = report();
    for times in &mut report.response_times {
        times.stretches.iter_mut().for_each(|of| (of.count, of.infinite, of.hdr) = (3, 3, None));
    }
    report
        .series
        .iter_mut()
        .for_each(|series| series.measurement.durations = hammer_report::report::DurationTable::default());
    assert!(document(&report).unwrap().contains("<h2>submit/add-chain</h2>"));
    report.intervals.clear();
    report.response_times.clear();
    report.phases.clear();
    report.observations.clear();
    assert!(document(&report).unwrap().contains("<h2>submit/add-chain</h2>"));
}

#[test]
fn what_a_hook_printed_is_no_markup_on_the_page_of_several_runs() {
    const HOSTILE: &str = "<script>alert(1)</script>\u{1b}[2J\u{202e}";
    let run = |place: usize| {
        let figures = KeyFigures {
            path: HOSTILE.to_owned(),
            completed_per_s: Some(50.0 * (place + 1) as f64),
            response_p50_ns: Some(Nanoseconds::At(1_000_000)),
            ..KeyFigures::default()
        };
        let labels = [("size".to_owned(), format!("{HOSTILE}{place}").into())].into();
        SummaryRun { labels, series: vec![figures], ..SummaryRun::default() }
    };
    let summary = Summary::of(vec![run(0), run(1)]).by(Some("size".to_owned()));
    let page = summary_document(&summary).unwrap();
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert!(
        page.contains("<td>100/s</td>") && page.contains("&lt;script&gt;"),
        "{}",
        &page[page.len() - 3_000..]
    );
}

#[test]
fn a_page_that_follows_a_run_is_given_the_parts_that_have_changed_and_no_others() {
    let whole = report();
    let mut earlier = whole.clone();
    earlier.thresholds.clear();
    earlier.verdict = hammer_report::verdict::Verdict::default();
    let running = LivePage::running("a-1", &earlier, &["<b>12s</b>".to_owned()]).unwrap();
    assert!(!running.has_ended());
    let document = running.document();
    assert!(document.contains("connect-src 'self'") && document.contains("EventSource('live')"));
    assert!(
        document.contains("&lt;b&gt;12s") && document.contains(r#"<body data-run="a-1">"#),
        "{}",
        &document[..900]
    );
    let parts = |update: &str| {
        let update: serde_json::Value = serde_json::from_str(update).unwrap();
        let parts = update["parts"].as_array().unwrap().iter();
        parts.map(|part| part["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = parts(&running.update(&LivePage::unmeasured("a-1", None, "about to start")));
    assert_eq!(all[0], "banner");
    for id in &all {
        assert_eq!(document.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    assert_eq!(parts(&running.update(&running)), [""; 0]);
    let ended = LivePage::ended("a-1", &whole).unwrap();
    assert!(ended.has_ended());
    assert_eq!(parts(&ended.update(&running)), ["banner", "thresholds"]);
    assert!(ended.update(&running).contains(r#""standing":"failed""#));
    // A run behind it has none of its parts.
    assert_eq!(parts(&LivePage::ended("a-2", &whole).unwrap().update(&ended)), all);
}

/// The report as that of a run whose first series has these stretches of a second, with as many response times of a millisecond as their number, and one that never ended.
fn by_seconds(mut report: Report, seconds: u64) -> Report {
    let stretch = |second: u64| {
        let mut times = Distribution::default();
        (0..second).for_each(|_| times.record(Nanos::from_millis(1)));
        let (at_ns, span_ns) = (second * 1_000_000_000, 1_000_000_000);
        ResponseStretch { at_ns, span_ns, count: second + 1, infinite: 1, hdr: times.payload() }
    };
    report.response_times.truncate(1);
    report.response_times[0].stretches = (1..=seconds).map(stretch).collect();
    let interval = report.intervals[1].clone();
    report.intervals = (1..=seconds)
        .map(|second| {
            let (at_ns, span_ns) = (second * 1_000_000_000, 1_000_000_000);
            hammer_report::report::Interval { at_ns, span_ns, ..interval.clone() }
        })
        .collect();
    report.phases.last_mut().unwrap().end_ns = seconds * 1_000_000_000;
    report
}

#[test]
fn charts_of_a_window_have_what_lies_in_it_and_say_so() {
    let mut report = by_seconds(report(), 100);
    let seen = &mut report.observations[0];
    seen.name = "sizes".to_owned();
    let point = |second: u64| ObservationPoint { at_ns: second * 1_000_000_000, value: second as f64 };
    seen.points = (1..=100).map(point).collect();
    (seen.first, seen.last) = (point(1), point(100));
    let window = Window::of(&report, Some(Nanos::from_secs(40)), Some(Nanos::from_secs(50))).unwrap();
    let page = window_document(&report, window, None).unwrap();
    assert!(page.contains("Charts are of <b>40 s to 50 s</b> after the run's start"), "{}", &page[..3_000]);
    let timed = rows(&page, &["until", "count", "never ended", "p50", "p99", "p99.9", "max"]);
    let found: Vec<_> = timed.iter().map(|row| (row[0].clone(), number(&row[1]))).collect();
    let expected: Vec<_> = (41..=50).map(|second| (format!("{second}.00 s"), second + 1)).collect();
    assert_eq!(found, expected);
    let rates = rows(&page, &["until", "offered", "completed", "not accepted"]);
    assert_eq!(rates.len(), 10 * report.series.len());
    assert_eq!((rates[0][0].as_str(), rates[9][0].as_str()), ("41.00 s", "50.00 s"));
    let seen: Vec<_> = rows(&page, &["at", "seen"]).into_iter().map(|row| row[1].clone()).collect();
    assert!(seen.starts_with(&(40..=50).map(|second| second.to_string()).collect::<Vec<_>>()), "{seen:?}");
    // The curve is of the window too: what ended of it, and what did not.
    let curve = rows(&page, &["share", "no longer", "response time"]);
    let ended: u64 = (41..=50).sum();
    assert_eq!(number(&curve.last().unwrap()[1]), ended);
    assert!(
        page.contains("Percentiles over the window")
            && page.contains(&format!("10 of {} never ended", ended + 10))
    );
    assert!(page.contains("\n42 s\n") && !page.contains("\n20 s\n"), "labels of the axis");
    // All of it is what it was.
    let whole = window_document(&report, Window::whole(&report), None).unwrap();
    assert_eq!(whole, document(&report).unwrap());
}

#[test]
fn response_times_of_a_log_are_shown_by_its_own_intervals() {
    let mut report = by_seconds(report(), 400);
    let mut logged = LoggedTimes { series: report.response_times.clone(), intervals: 400, merged: 0 };
    logged.series[0].stretches.iter_mut().for_each(|of| (of.count, of.infinite) = (of.count - 1, 0));
    // The report has them in tens.
    let tens = |all: &[ResponseStretch]| {
        let last = all[all.len() - 1].clone();
        ResponseStretch { span_ns: 10 * last.span_ns, ..last }
    };
    report.response_times[0].stretches = report.response_times[0].stretches.chunks(10).map(tens).collect();
    let header = ["until", "ended", "p50", "p99", "p99.9", "max"];
    let counts = |page: &str| rows(page, &header).iter().map(|row| number(&row[1])).collect::<Vec<_>>();
    let window = Window::of(&report, Some(Nanos::from_secs(100)), Some(Nanos::from_secs(350))).unwrap();
    let page =
        window_document(&report, window, Some(&LoggedTimes { intervals: 250, ..logged.clone() })).unwrap();
    assert_eq!(counts(&page), (101..=350).collect::<Vec<_>>());
    assert!(page.contains("A point is an interval of the log. What never ended is in no log."));
    assert!(page.contains("those of the interval log, of 250 intervals."));
    // Of more than a chart has points several are added up, and none is lost.
    let page = window_document(&report, Window::whole(&report), Some(&logged)).unwrap();
    let counted = counts(&page);
    assert!(counted.len() <= 300 && counted.iter().sum::<u64>() == (1..=400).sum::<u64>(), "{counted:?}");
    assert!(page.contains("A point is of several intervals of the log, whose histograms are added up."));
    assert!(page.contains("Percentiles over measurement"));
}
