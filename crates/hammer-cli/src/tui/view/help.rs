//! The page of keys and words.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::pager;
use super::palette::Palette;
use crate::tui::spec::{PanelLabel, PanelSide, PanelSpec};
use crate::tui::state::DashboardState;

/// Draws it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    pager::draw(frame, area, lines(state, palette, area.width), state.screen.above, palette);
}

/// All lines of it, on a page of so many columns.
pub(super) fn lines(state: &DashboardState, palette: &Palette, columns: u16) -> Vec<Line<'static>> {
    let columns = usize::from(columns).max(1);
    let mut lines: Vec<Line<'static>> =
        keys(state).iter().flat_map(|(keys, does)| entry(keys, does, columns)).collect();
    lines.extend(wrapped(BY_HAND, columns));
    lines.push(Line::from(""));
    lines.extend(state.panel.iter().flat_map(|panel| words(panel, palette, columns)));
    // The panel's words are not those of the rest, but there is no rest without a panel.
    let response_time = if state.panel.is_some() { "Elsewhere: response" } else { "Response" };
    lines.extend(wrapped(&format!("{response_time}{RESPONSE_TIME}"), columns));
    lines.extend(wrapped(HEAT, columns));
    lines
}

/// Those that do something in this plan, each with what it does.
fn keys(state: &DashboardState) -> Vec<(&'static str, String)> {
    let written = state.written();
    let (reads, writes) = (state.plural(PanelSide::Reads), state.plural(written));
    let mut keys = Vec::new();
    if state.has_rate(PanelSide::Reads) {
        keys.push(("+ -", format!("rate of {reads} up, down by a tenth")));
    }
    if state.has_rate(written) {
        keys.push(("> <", format!("rate of {writes} up, down by a tenth")));
    }
    if state.has(written) {
        keys.push(("w W", format!("limit of {writes} in flight up, down by a tenth")));
    }
    keys.push(("space", "suspend arrivals, resume".to_owned()));
    keys.push((
        "tab right, shift-tab left",
        format!("next page, the one before; 1 to {} by number", state.tabs().count()),
    ));
    keys.extend(KEYS.map(|(keys, does)| (keys, does.to_owned())));
    keys
}

/// The words of the panel, each with its meaning.
fn words(panel: &PanelSpec, palette: &Palette, columns: usize) -> Vec<Line<'static>> {
    let labels = FORM.into_iter().chain([panel.service_time]).chain(panel.times.map(|times| times.name));
    let labels = labels.flat_map(|PanelLabel { label, means }| entry(label, means, columns));
    std::iter::once(Line::styled(panel.heading, palette.strong())).chain(labels).collect()
}

/// What something is called, and beside it what that means.
fn entry(label: &str, means: &str, columns: usize) -> Vec<Line<'static>> {
    let mut before = format!("{label:<LABEL$} ");
    let parts = textwrap::wrap(means, columns.saturating_sub(LABEL + 1).max(1));
    let line = |part| Line::from(std::mem::replace(&mut before, format!("{:1$}", "", LABEL + 1)) + part);
    parts.iter().map(AsRef::as_ref).map(line).collect()
}

fn wrapped(text: &str, columns: usize) -> impl Iterator<Item = Line<'static>> {
    textwrap::wrap(text, columns).into_iter().map(|part| Line::from(part.into_owned()))
}

/// What stands in every panel.
const FORM: [PanelLabel; 3] = [
    PanelLabel { label: "workers", means: "most operations in flight" },
    PanelLabel { label: "Current max", means: "the rate to be offered, whatever the answers" },
    PanelLabel {
        label: "Oversupply in last second",
        means: "arrivals of it that were shed or not yet started",
    },
];

/// Those of every plan.
const KEYS: [(&str, &str); 6] = [
    ("? h", "this page; Esc leaves it"),
    ("up down, k j", "scroll by a line; Series: mark another one"),
    ("PgUp PgDn, Home End", "scroll by ten lines, to the start, to the end"),
    ("m", "Series: the last interval, or all of measurement"),
    ("q", "twice: arrivals end, drain, report; again: no drain"),
    ("ctrl-c", "likewise, unasked; the third leaves without a report"),
];

const BY_HAND: &str = "What is changed by hand stands in the report.";

const RESPONSE_TIME: &str = " time is from the instant that the plan named; a shed arrival has none (never, > x); a percentile in `> x` falls on what never ended.";

const HEAT: &str = "Heat map, share of its column:  · below 1 %  ░ 10 %  ▒ 30 %  ▓ 60 %  █ above";

/// Columns of what is explained.
const LABEL: usize = 27;
