//! A page of more lines than the screen has: a part of it, which says that more follows.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::cut::cut_lines;
use super::palette::Palette;

/// Draws the lines from the one after so many on, at most as far as the last screen of them.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    lines: Vec<Line<'static>>,
    above: usize,
    palette: &Palette,
) {
    let (height, all) = (usize::from(area.height), lines.len());
    let lines = cut_lines(lines, area.width);
    if all <= height {
        frame.render_widget(Paragraph::new(lines), area);
        return;
    }
    let room = height.saturating_sub(1);
    let above = above.min(furthest(all, area.height));
    let mut shown: Vec<Line<'_>> = lines.into_iter().skip(above).take(room).collect();
    shown.push(Line::styled(place((above + 1, above + room, all)), palette.strong()));
    frame.render_widget(Paragraph::new(shown), area);
}

/// Lines above the last screen of so many: the last line of a screen says where in the page it is.
pub(super) fn furthest(all: usize, height: u16) -> usize {
    let height = usize::from(height);
    if all <= height { 0 } else { all - height.saturating_sub(1) }
}

/// From which line to which of how many, and the key that shows others.
pub(super) fn place((from, to, all): (usize, usize, usize)) -> String {
    let keys = match (from > 1, to < all) {
        (false, true) => ", more below: PgDn",
        (true, true) => ", more above and below: PgUp, PgDn",
        (true, false) => ", more above: PgUp",
        (false, false) => "",
    };
    format!("{from} to {to} of {all}{keys}")
}
