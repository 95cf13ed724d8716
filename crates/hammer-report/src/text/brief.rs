//! The text of one screen: the verdict first and last, a line for each series, and of everything else what decides.

use crate::report::{KindPromises, PromiseCounts, Report};
use crate::verdict::Standing;

mod failures;
mod findings;
mod observed;
mod series_table;
mod toned_page;

use super::number::{grouped, plural};
use super::page::{Page, shortened};
use super::screen::{Screen, Tone};
use super::{ToldEvent, ledger, told_events};
use toned_page::TonedPage;

/// The whole text, ending in a newline; its last line is its first.
pub fn render(report: &Report, screen: Screen) -> String {
    let mut page = TonedPage::new(screen);
    verdict(&mut page, report);
    findings::health(&mut page, report);
    page.plain(|page| setting(page, report));
    page.blank();
    series_table::render(&mut page, report);
    page.blank();
    failures::render(&mut page, report);
    page.plain(|page| report.groups.iter().for_each(|of_workload| super::groups::render(page, of_workload)));
    findings::disturbed(&mut page, report);
    page.plain(|page| super::served(page, report));
    promises(&mut page, report);
    thresholds(&mut page, report);
    page.plain(|page| {
        if screen.has_histogram() {
            super::histogram::draw(page, report);
            page.blank();
        }
        observed::render(page, report);
        super::resources(page, report);
        report.server_resources.iter().for_each(|used| super::servers::render(page, used));
        events(page, report);
        page.paragraph("more", "--detail prints every wait, the bytes and all events");
    });
    verdict(&mut page, report);
    page.into_text()
}

fn verdict(page: &mut TonedPage, report: &Report) {
    let tone = match report.verdict.standing {
        Standing::Passed => Tone::Good,
        Standing::NoExpectation => Tone::Strong,
        Standing::Interrupted => Tone::Warning,
        Standing::Failed => Tone::Bad,
    };
    page.paragraph("", &super::verdict(report), tone);
}

/// The link, a fill, how the run was set up and how it ended.
fn setting(page: &mut Page, report: &Report) {
    report.link.iter().for_each(|link| super::link::render(page, link));
    report.fill.iter().for_each(|filled| super::fill::render(page, filled));
    super::run_and_phases(page, report);
    super::total(page, report);
}

/// The ledger, and that of each kind: in a word where all of it was kept.
fn promises(page: &mut TonedPage, report: &Report) {
    let promises = &report.promises;
    if promises.all.made == 0 {
        return page.paragraph("promises", "none made", Tone::Plain);
    }
    page.paragraph("promises", &ledger(&promises.all), Tone::bad_if(promises.all.broken > 0));
    let is_kept = |promises: &PromiseCounts| promises.kept == promises.made;
    let kinds = promises.by_kind.iter();
    let (kept, others): (Vec<_>, Vec<_>) = kinds.partition(|kind| is_kept(&kind.promises));
    if promises.by_kind.len() > 1 {
        for kind in others {
            let tone = Tone::bad_if(kind.promises.broken > 0);
            page.paragraph(
                "",
                &format!("  {}, {}: {}", kind.workload, kind.kind, ledger(&kind.promises)),
                tone,
            );
        }
        if !kept.is_empty() {
            page.paragraph("", &format!("  all kept: {}", by_workload(&kept)), Tone::Plain);
        }
    }
    page.of_tone(Tone::Bad, |page| super::broken_promises(page, report));
}

/// Kinds of promises that were kept, in the order of their workloads.
fn by_workload(kept: &[&KindPromises]) -> String {
    let of_workload = |kinds: &[&KindPromises]| {
        let of_kind = |kind: &&KindPromises| format!("{} {}", grouped(kind.promises.kept), kind.kind);
        let workload = kinds.first().map_or("", |kind| kind.workload.as_str());
        format!("{} of {workload}", kinds.iter().map(of_kind).collect::<Vec<_>>().join(", "))
    };
    kept.chunk_by(|one, other| one.workload == other.workload).map(of_workload).collect::<Vec<_>>().join("; ")
}

fn thresholds(page: &mut TonedPage, report: &Report) {
    for threshold in &report.thresholds {
        page.paragraph("threshold", &super::judged(threshold), Tone::bad_if(!threshold.holds));
    }
}

/// The first and the last things that happened besides the load: how it was set up, and what was found at the end.
fn events(page: &mut Page, report: &Report) {
    let told = told_events(report);
    let between = told.len().saturating_sub(2 * MOST_EVENTS);
    let is_shown = |place: usize| place < MOST_EVENTS || place >= MOST_EVENTS + between;
    for (_, event) in told.iter().enumerate().filter(|(place, _)| is_shown(*place)) {
        let ToldEvent { at, label, text } = event;
        page.paragraph(label, &format!("at {at}: {}", shortened(text, LONGEST_EVENT)));
    }
    let more = between as u64 + report.events_left_out;
    if more > 0 {
        page.paragraph("note", &format!("and {}: --detail", plural(more, "more event")));
    }
}

/// At the start, and at the end.
const MOST_EVENTS: usize = 3;
/// Six lines of 80 columns.
const LONGEST_EVENT: usize = 400;

#[cfg(test)]
mod tests;
