//! What stands below the title of every page: whether the run would pass now, and what is loaded.

use hammer_report::text::number::plural;
use hammer_report::{Standing, StandingSoFar};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::cut::cut_line;
use super::palette::Palette;
use crate::tui::state::DashboardState;

/// Draws the verdict so far, and the targets where there is room beside it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let verdict = cut_line(verdict(state, palette), area.width.into());
    let room = usize::from(area.width).saturating_sub(verdict.width() + GAP);
    let targets = Line::styled(targets(&state.targets, room), palette.faint());
    frame.render_widget(targets.right_aligned(), area);
    // The verdict is drawn over whatever does not fit beside it.
    let width = u16::try_from(verdict.width()).unwrap_or(u16::MAX).min(area.width);
    frame.render_widget(verdict, Rect { width, ..area });
}

fn verdict(state: &DashboardState, palette: &Palette) -> Line<'static> {
    let Some(StandingSoFar { verdict, tolerated }) = &state.standing else {
        return Line::styled("so far: nothing yet", palette.faint());
    };
    let (words, style) = match verdict.standing {
        Standing::Failed | Standing::Interrupted => (verdict.to_string(), palette.bad()),
        Standing::Passed => ("PASS".to_owned(), palette.good()),
        Standing::NoExpectation if state.thresholds > 0 => {
            ("nothing can be said yet".to_owned(), palette.faint())
        }
        Standing::NoExpectation => ("nothing is expected".to_owned(), palette.faint()),
    };
    let mut line =
        Line::from(vec![Span::raw("so far: "), Span::styled(words, style), Span::raw(held(state))]);
    if let Some(tolerated) = tolerated {
        let link = if verdict.standing == Standing::Passed { ", though " } else { "; " };
        line.push_span(Span::styled(format!("{link}{tolerated}"), palette.warning()));
    }
    line
}

/// How many thresholds hold, where there are any and all do.
fn held(state: &DashboardState) -> String {
    let thresholds = state.last.as_ref().map_or(&[][..], |last| &last.thresholds);
    if thresholds.is_empty() || thresholds.iter().any(|threshold| !threshold.holds) {
        return String::new();
    }
    match thresholds.len() as u64 {
        1 => ", its threshold holds".to_owned(),
        count => format!(", {} hold", plural(count, "threshold")),
    }
}

/// As many as there is room for; of none that fits nothing is said.
fn targets(targets: &[String], room: usize) -> String {
    let named = |count: usize| {
        let more = match targets.len() - count {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", targets[..count].join(", "))
    };
    (1..=targets.len()).rev().map(named).find(|text| text.chars().count() <= room).unwrap_or_default()
}

const GAP: usize = 2;
