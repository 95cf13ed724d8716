//! A report that somebody altered: whatever stands in it can be told in every form for a person.

use hammer_report::text::{self, Screen};
use hammer_report::{Report, flat_csv, junit, markdown};

/// A report as JSON, in every form that draws nothing.
pub(crate) fn report(data: &[u8]) -> bool {
    let Ok(report) = Report::parse(&String::from_utf8_lossy(data)) else { return false };
    let brief = text::brief::render(&report, Screen::default());
    let wide = text::brief::render(&report, Screen::new(160, true));
    assert!(brief.ends_with('\n') && !brief.contains('\u{1b}'), "{brief}");
    assert!(wide.contains("\u{1b}["), "{wide}");
    let whole = text::render(&report) + &text::histogram::render(&report);
    assert!(whole.lines().count() >= 3, "{whole}");
    assert!(!markdown::document(&report).is_empty() && !flat_csv::document(&report).is_empty());
    let _ = junit::document(&report);
    true
}
