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
    pager::draw(frame, area, lines(state, palette), state.screen.above, palette);
}

/// All lines of it.
pub(super) fn lines(state: &DashboardState, palette: &Palette) -> Vec<Line<'static>> {
    let mut lines = keys(state);
    lines.push(Line::from(""));
    lines.extend(state.panel.iter().flat_map(|panel| words(panel, palette)));
    // The panel's words are not those of the rest, but there is no rest without a panel.
    let response_time = if state.panel.is_some() { "Elsewhere: response" } else { "Response" };
    lines.push(Line::from(format!("{response_time}{RESPONSE_TIME}")));
    lines.extend(MEANINGS.lines().map(Line::from));
    lines
}

fn keys(state: &DashboardState) -> Vec<Line<'static>> {
    let reads = state.plural(PanelSide::Reads);
    let writes = if state.has(PanelSide::Writes) { PanelSide::Writes } else { PanelSide::Neither };
    let writes = state.plural(writes);
    let rates = format!("+ -       rate of {reads} up, down by a tenth");
    let limits = format!("w W       limit of {writes} in flight up, down");
    let steering = [
        format!("{rates:<47} > <  rate of {writes} likewise"),
        format!("{limits:<47} space  suspend arrivals, resume"),
    ];
    steering.into_iter().map(Line::from).chain(KEYS.lines().map(Line::from)).collect()
}

/// The words of the panel, each with its meaning.
fn words(panel: &PanelSpec, palette: &Palette) -> Vec<Line<'static>> {
    let labels = FORM.into_iter().chain([panel.service_time]).chain(panel.times.map(|times| times.name));
    let labels = labels.map(|PanelLabel { label, means }| Line::from(format!("{label:<27} {means}")));
    std::iter::once(Line::styled(panel.heading, palette.strong())).chain(labels).collect()
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

const KEYS: &str = "\
tab 1-5   pages      up down  scroll, mark      m  Series: interval, measurement
q twice   end of arrivals, drain, report        q again  end of the drain
ctrl-c    the same without asking; the third time it leaves without a report
What is changed by hand stands in the report.";

const RESPONSE_TIME: &str = " time is from the instant that the plan named; a shed arrival";

const MEANINGS: &str = "\
has none (never, > x); a percentile in `> x` falls on what never ended.
Heat map, share of its column:  · below 1 %  ░ 10 %  ▒ 30 %  ▓ 60 %  █ above";
