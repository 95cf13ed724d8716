use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::*;
use crate::fixture::any::{any_run, events};
use crate::fixture::{disaster, quickstart, report_of};
use crate::summary::SummaryRun;

/// A document as a reader of Markdown has it.
#[derive(Debug, Default)]
struct Read {
    headings: Vec<String>,
    paragraphs: Vec<String>,
    items: Vec<String>,
    tables: Vec<Vec<Vec<String>>>,
    /// Anything else than these, plain text and what is strong.
    other: Vec<String>,
}

fn read(markdown: &str) -> Read {
    let mut read = Read::default();
    let mut text = String::new();
    for event in Parser::new_ext(
        markdown,
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH,
    ) {
        match event {
            Event::Text(part) => text.push_str(&part),
            Event::Start(Tag::Heading { .. } | Tag::Paragraph | Tag::Item | Tag::TableCell) => text.clear(),
            Event::End(TagEnd::Heading(_)) => read.headings.push(std::mem::take(&mut text)),
            Event::End(TagEnd::Paragraph) => read.paragraphs.push(std::mem::take(&mut text)),
            Event::End(TagEnd::Item) => read.items.push(std::mem::take(&mut text)),
            Event::Start(Tag::Table(_)) => read.tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => read.tables.last_mut().unwrap().push(Vec::new()),
            Event::End(TagEnd::TableCell) => {
                let rows = read.tables.last_mut().unwrap();
                rows.last_mut().unwrap().push(std::mem::take(&mut text));
            }
            Event::Start(Tag::List(_) | Tag::Strong)
            | Event::End(
                TagEnd::List(_) | TagEnd::Strong | TagEnd::Table | TagEnd::TableHead | TagEnd::TableRow,
            ) => {}
            other => read.other.push(format!("{other:?}")),
        }
    }
    read
}

#[test]
fn a_reader_of_markdown_finds_the_verdict_first_and_the_figures_of_each_series_in_a_row() {
    let report = report_of(&quickstart());
    let found = read(&document(&report));
    assert_eq!(found.headings[0], "PASS, exit 0");
    assert_eq!(
        found.headings[1..],
        ["Series over measurement", "What was not accepted", "Promises", "Thresholds", "Observed"]
    );
    assert_eq!(found.items[0], "health: ok, the generator kept its plan");
    let (header, rows) = found.tables[0].split_first().unwrap();
    assert_eq!(rows.len(), report.series.len());
    for (series, row) in report.series.iter().zip(rows) {
        let times = series.measurement.durations.response_time.as_ref().unwrap();
        let cell = |column: &str| row[header.iter().position(|name| name == column).unwrap()].as_str();
        assert!(cell("series").starts_with(&series.path), "{row:?}");
        assert_eq!(cell("offered"), grouped(series.measurement.counts.offered));
        assert_eq!(cell("accepted"), grouped(series.measurement.counts.fates.accepted));
        assert_eq!(cell("failed"), "0");
        assert_eq!(
            ["p50", "p95", "p99", "max"].map(cell),
            [times.p50_ns, times.p95_ns, times.p99_ns, times.max_ns].map(|time| time.to_string())
        );
    }
    let refused = ["submit/add-chain", "warm-up", "unreachable", "20", "20 connection refused"];
    assert_eq!(found.tables[1][1..], [refused.map(str::to_owned)]);
    assert_eq!(found.tables[2][1], ["submit", "sct", "5,080", "5,080", "0", "0", "0"]);
    assert_eq!(found.tables[3][1], ["holds", "submit/add-chain", "p99(response) < 500ms", "4.96ms"]);
    assert_eq!(found.items.last().unwrap(), "tree size: 1,000 to 6,080, grown by 5,080");
    assert_eq!((found.other, found.paragraphs), (vec![], vec![]));
}

#[test]
fn what_is_said_against_a_run_is_all_there() {
    let report = report_of(&disaster());
    let found = read(&document(&report));
    assert_eq!(found.headings[0], text::verdict(&report));
    let cell = |row: &[String], cells: &[&str]| cells.iter().all(|cell| row.iter().any(|own| own == cell));
    assert!(found.tables[1].iter().any(|row| cell(row, &["shed", "1,800"])), "{:?}", found.tables[1]);
    assert!(found.tables[1].iter().any(|row| cell(row, &["refused", "300", "300 HTTP 400"])));
    assert!(found.tables[0].iter().any(|row| row[9].starts_with("> ")), "what never ended is no figure");
    let broken = found.items.iter().find(|item| item.starts_with("broken: ")).unwrap();
    assert!(broken.contains("6 leaf index of submit, the first #41"), "{broken}");
    assert!(found.tables[3].iter().any(|row| cell(row, &["FAILS", "p99(response) < 500ms", "> 2.00s"])));
    assert!(
        found.items.iter().any(|item| item.contains("the backlog of submit is full")),
        "{:?}",
        found.items
    );
    let findings = found.items.iter().filter(|item| item.starts_with("health: NOT OK"));
    assert_eq!(findings.count(), report.health.findings.len());
}

#[test]
fn several_runs_have_the_rows_of_their_text() {
    let label = |round: u64| [("round".to_owned(), round.into())].into();
    let runs = [(1, quickstart()), (2, disaster())]
        .map(|(round, run)| SummaryRun::of(&report_of(&run), label(round), Vec::new()));
    let summary = Summary::of(runs.to_vec());
    let found = read(&summary_document(&summary));
    assert_eq!(found.headings, ["1 of 2 runs passed, exit 4"]);
    let text = summary.render();
    let lines = |row: &Vec<String>| {
        let words: Vec<&str> = row.iter().flat_map(|cell| cell.split_whitespace()).collect();
        text.lines().any(|line| line.split_whitespace().collect::<Vec<_>>() == words)
    };
    // In tables by round a series is named once.
    assert_eq!(found.tables[0].len(), 1 + 3);
    assert!(found.tables.iter().flatten().all(lines), "{:?}\n{text}", found.tables);
    assert!(found.paragraphs.iter().any(|text| text.starts_with("round 2: ")), "{:?}", found.paragraphs);
}

proptest! {
    #[test]
    fn any_report_is_headings_lists_and_tables_and_nothing_else(run in any_run()) {
        let report = report_of(&events(&run));
        let found = read(&document(&report));
        prop_assert!(found.other.is_empty(), "{:?}", found.other);
        prop_assert_eq!(found.tables[0].len(), 1 + report.series.len());
        for row in &found.tables {
            prop_assert!(row.iter().all(|cells| cells.len() == row[0].len()), "{:?}", row);
        }
    }

    #[test]
    fn no_text_is_markup(text in "([ -~é\n\t]|[-+*#>|`_~$&<.0-9]){0,30}") {
        let expected = text.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assume!(!expected.is_empty());
        let mut written = Written::default();
        written.heading(1, &text);
        written.paragraph(&text);
        written.table(&[vec!["a".to_owned(), "b".to_owned()], vec![text.clone(), text.clone()]], &[Side::Left; 2]);
        let mut page = Page::default();
        page.paragraph("label", &text);
        written.page(&page);
        let found = read(&written.into_text().replace('\u{2060}', ""));
        prop_assert!(found.other.is_empty(), "{:?} {:?}", text, found.other);
        prop_assert_eq!(&found.headings, std::slice::from_ref(&expected));
        prop_assert_eq!(&found.paragraphs, std::slice::from_ref(&expected));
        prop_assert_eq!(&found.tables[0][1], &[expected.clone(), expected.clone()]);
        prop_assert_eq!(&found.items, &[format!("label: {expected}")]);
    }
}

#[test]
fn nobody_is_mentioned_and_no_address_is_a_link() {
    let mut written = Written::default();
    written.paragraph("ask @team at https://evil.example, www.evil.example or a@b.example");
    let text = written.into_text();
    for joined in ["@\u{2060}team", "https:\u{2060}//evil", "www\u{2060}.evil", "a@\u{2060}b"] {
        assert!(text.contains(joined), "{text}");
    }
}
