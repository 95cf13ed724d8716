//! The keys that do something now, in this plan and on this page.

use hammer_measure::Phase;
use ratatui::text::Line;

use super::palette::Palette;
use crate::tui::spec::PanelSide;
use crate::tui::state::{DashboardState, RunEnding, Tab};

/// What a next key does where the run is about to end, else the keys.
pub(super) fn line(state: &DashboardState, palette: &Palette, columns: usize) -> Line<'static> {
    let asked = match state.ending {
        RunEnding::None => return Line::styled(fitting(keys(state), columns), palette.faint()),
        RunEnding::Asked => "q again ends the run and writes the report; Esc goes on",
        RunEnding::Draining => "draining, then the report; q ends the drain",
        RunEnding::Reporting => "the drain has ended; the report follows",
    };
    Line::styled(asked, palette.warning())
}

/// The keys in a line. Where it is too short, what changes the load gives way, the pause last, then the pages and the help; the end of the run stays.
fn fitting(mut keys: Vec<String>, columns: usize) -> String {
    while keys.len() > 1 && keys.join(GAP).chars().count() > columns {
        keys.remove(keys.len().saturating_sub(LASTING + 1));
    }
    keys.join(GAP)
}

fn keys(state: &DashboardState) -> Vec<String> {
    let mut keys = match state.screen.tab {
        Tab::Overview => steering(state),
        Tab::Series if has_more_series(state) => vec!["up down mark a series".to_owned(), WHOLE.to_owned()],
        Tab::Series => vec![WHOLE.to_owned()],
        Tab::Log | Tab::Protocol | Tab::Help => vec!["up down pgup pgdn scroll".to_owned()],
    };
    keys.push("tab pages".to_owned());
    if state.screen.tab != Tab::Help {
        keys.push("? help".to_owned());
    }
    keys.push("q quit".to_owned());
    keys
}

fn has_more_series(state: &DashboardState) -> bool {
    state.run.as_ref().is_some_and(|run| run.series.len() > 1)
}

/// What changes the load: no arrival is left to steer in drain, and a closed loop has no rate.
fn steering(state: &DashboardState) -> Vec<String> {
    if state.phase() == Some(Phase::Drain) {
        return Vec::new();
    }
    let mut keys = Vec::new();
    if state.has_rate(PanelSide::Reads) {
        keys.push(format!("+ - {}", state.plural(PanelSide::Reads)));
    }
    let written = state.written();
    if state.has_rate(written) {
        keys.push(format!("> < {}", state.plural(written)));
    }
    if state.has(written) {
        keys.push("w W in flight".to_owned());
    }
    keys.push(if state.paused { "space resume" } else { "space pause" }.to_owned());
    keys
}

const GAP: &str = "  ";
/// Keys at the end that stay longest: the pause, the pages, the help, the end.
const LASTING: usize = 4;
const WHOLE: &str = "m last interval or measurement";
