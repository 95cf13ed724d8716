//! What observers saw, as text.

use hammer_measure::event::READY;

use crate::report::{HeadlineFigures, ObservationSeries, Report};

use super::number::plain;
use super::page::Page;

/// The headlines, and how each went.
pub(super) fn headlines(page: &mut Page, report: &Report) {
    for headline in &report.headlines {
        let of_others = report.headlines.iter().filter(|other| other.label == headline.label).count() > 1;
        let target = headline.target.as_ref().filter(|_| of_others);
        let whose = target.map_or_else(String::new, |target| format!("{target}: "));
        page.paragraph(&headline.label, &format!("{whose}{}", went(headline)));
    }
}

/// What observers saw that has no other place.
pub(super) fn others(report: &Report) -> impl Iterator<Item = &ObservationSeries> {
    let is_headline = move |name: &str| report.headlines.iter().any(|headline| headline.observation == name);
    // What servers used has a table of its own, and whether they were ready a row.
    let has_own = |name: &str| ["resources/", READY].iter().any(|own| name.starts_with(own));
    let is_other = move |name: &str| !is_headline(name) && !has_own(name);
    report.observations.iter().filter(move |seen| is_other(&seen.name))
}

fn went(headline: &HeadlineFigures) -> String {
    let grown = headline.grown.map_or_else(String::new, |grown| format!(", grown by {}", plain(grown)));
    format!("{} to {}{grown}", plain(headline.first), plain(headline.last))
}
