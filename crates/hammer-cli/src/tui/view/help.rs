//! The page of keys and words.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::palette::Palette;
use crate::tui::state::State;
use crate::tui::state::workload::Kind;

/// Draws it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, palette: &Palette) {
    let steered = if state.has(Kind::Write) { "writes" } else { "operations" };
    let text = KEYS.replace("WRITES", steered);
    let mut lines: Vec<Line<'_>> = text.lines().map(|line| Line::from(line.to_owned())).collect();
    lines.push(Line::from(""));
    lines.push(Line::styled("The panel, in the words of TesseraCT's hammer", palette.strong()));
    lines.extend(WORDS.lines().map(Line::from));
    frame.render_widget(Paragraph::new(lines), area);
}

const KEYS: &str = "\
+ -       rate of reads up, down by a tenth     > <  rate of WRITES likewise
w W       limit of WRITES in flight up, down    space  suspend arrivals, resume
tab 1-4   pages      up down  scroll, mark      m  Series: interval, measurement
q ctrl-c  end of arrivals, drain, report        q again  leave without a report
What is changed by hand stands in the report.";

const WORDS: &str = "\
workers                     most operations in flight
Current max                 the rate to be offered, whatever the answers
Oversupply in last second   arrivals of it that were shed or not yet started
Time-in-queue               service time of a write, sent to answered, 30 s
Observed-time-to-integrate  sent to the first tree with the leaf, 30 s
Elsewhere: response time is from the instant that the plan named; a shed arrival
has none (never, > x); a percentile in `> x` falls on what never ended.
Heat map, share of its column:  · below 1 %  ░ 10 %  ▒ 30 %  ▓ 60 %  █ above";
