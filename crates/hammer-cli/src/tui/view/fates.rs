//! What became of every arrival, and of every promise.

use hammer_measure::Fate;
use hammer_report::text::number::grouped;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::palette::Palette;
use crate::tui::state::State;

/// Columns of it.
pub(super) const WIDTH: u16 = 40;
/// Lines of it, with its title.
pub(super) const HEIGHT: u16 = 9;

/// Draws them, since the begin of the run.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, palette: &Palette) {
    let mut lines = fates(state, *palette);
    lines.extend(promises(state, *palette));
    let block = Block::new().borders(Borders::TOP).title("fates and promises so far");
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn fates(state: &State, palette: Palette) -> Vec<Line<'static>> {
    let half = Fate::COUNT / 2;
    let pair = |(left, right): (&Fate, &Fate)| {
        Line::from(vec![fate(state, *left, palette), Span::raw("  "), fate(state, *right, palette)])
    };
    Fate::ALL[..half].iter().zip(&Fate::ALL[half..]).map(pair).collect()
}

fn fate(state: &State, fate: Fate, palette: Palette) -> Span<'static> {
    let last = state.last.iter();
    let places = state.operations(None);
    let count: u64 = last
        .flat_map(|last| places.iter().filter_map(|place| last.series.get(*place)))
        .map(|series| series.warm_up.fate(fate) + series.measurement.fate(fate))
        .sum();
    let style = palette.bad_if(fate != Fate::Accepted && count > 0);
    Span::styled(format!("{:<11}{:>8}", fate.name().replace('_', " "), short(count)), style)
}

fn promises(state: &State, palette: Palette) -> [Line<'static>; 3] {
    let ledger = state.last.as_ref().map(|last| last.promises).unwrap_or_default();
    let overdue = state.observed(OVERDUE);
    let counted = |name: &str, count: u64| Span::raw(format!("{name:<11}{:>8}", short(count)));
    let bad = |name: &str, count: u64| {
        let name = if count > 0 { name.to_uppercase() } else { name.to_owned() };
        Span::styled(format!("{name:<11}{:>8}", short(count)), palette.bad_if(count > 0))
    };
    let overdue = match overdue {
        Some(count) => bad("overdue", count as u64),
        None => Span::raw(format!("{:<11}{:>8}", "overdue", "-")),
    };
    let line = |left, right| Line::from(vec![left, Span::raw("  "), right]);
    [
        line(counted("promised", ledger.made), counted("pending", ledger.pending)),
        line(counted("kept", ledger.kept), overdue),
        line(bad("broken", ledger.broken), bad("unchecked", ledger.unchecked)),
    ]
}

/// In eight columns: `999,999`, then `1.23M`.
fn short(count: u64) -> String {
    match count {
        0..1_000_000 => grouped(count),
        1_000_000..1_000_000_000 => format!("{:.2}M", count as f64 / 1e6),
        _ => format!("{:.2}G", count as f64 / 1e9),
    }
}

/// The name under which an audit tells the promises whose time is up and whose check is not done.
const OVERDUE: &str = "overdue";
