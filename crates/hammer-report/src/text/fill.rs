//! The fill ahead of a run.

use super::number::{grouped, per_second};
use super::page::Page;
use super::{broken, ledger};
use crate::report::Fill;

pub(super) fn render(page: &mut Page, fill: &Fill) {
    let before = match fill.filled_before {
        0 => String::new(),
        before => format!(" ({} before)", grouped(before)),
    };
    let rate = fill.filled_per_s.map_or_else(String::new, |rate| format!(", {}", per_second(rate)));
    let text = format!(
        "{} of {} of {}{before} in {:.1} s{rate}, {} failed",
        grouped(fill.filled_before + fill.filled),
        grouped(fill.operations),
        fill.workload,
        fill.seconds,
        grouped(fill.failed),
    );
    page.paragraph("fill", &text);
    fill.incomplete.iter().for_each(|why| page.paragraph("", &format!("NOT COMPLETE: {why}")));
    if let Some(corpus) = &fill.corpus {
        let lost = match corpus.lost {
            0 => String::new(),
            lost => format!(", {} NOT WRITTEN", grouped(lost)),
        };
        let entries = grouped(corpus.entries);
        let text = match &corpus.file {
            Some(file) => format!("  corpus {file}: {entries} entries{lost}"),
            None => format!("  corpus of this run alone: {entries} entries{lost}"),
        };
        page.paragraph("", &text);
    }
    if fill.promises.all.made > 0 {
        page.paragraph("", &format!("  promises {}", ledger(&fill.promises.all)));
    }
    for text in broken::sentences(&fill.breaches).0 {
        page.paragraph("broken", &format!("fill: {text}"));
    }
}
