//! Accepted operations over time, a line for each workload.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use hammer_report::text::number::per_second;

use super::clock::clock;
use super::cut::cut;
use super::palette::Palette;
use crate::tui::state::DashboardState;
use crate::tui::state::history::Point;

/// Lines of it, with its title.
pub(super) fn height(state: &DashboardState) -> u16 {
    u16::try_from(state.workloads.len() + 1).unwrap_or(u16::MAX)
}

/// Draws them; nothing where there is no room for a line.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let width = usize::from(area.width).saturating_sub(NAME + MOST);
    if width == 0 || area.height < 2 {
        return;
    }
    let points: Vec<&Point> = state.history.thinned().collect();
    let each = points.len().div_ceil(width).max(1);
    let lines: Vec<Line<'_>> = state
        .workloads
        .iter()
        .map(|workload| line(&workload.name, &rates(state, &workload.name, &points, each), palette))
        .collect();
    let span = points.first().map_or(1.0, |first| first.span.as_secs_f64() * each as f64);
    let title = format!("accepted, {} a column, of the most ", clock(span));
    let block = Block::new().borders(Borders::TOP).title(title);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Accepted operations of a workload a second, by columns of so many points.
fn rates(state: &DashboardState, workload: &str, points: &[&Point], each: usize) -> Vec<f64> {
    let series = state.run.iter().flat_map(|run| run.series.iter().zip(0_usize..));
    let places: Vec<usize> = series
        .filter(|(series, _)| series.operation && series.workload == workload)
        .map(|(_, place)| place)
        .collect();
    let rate = |points: &[&Point]| {
        let tallies =
            points.iter().flat_map(|point| places.iter().filter_map(|place| point.series.get(*place)));
        let accepted: u64 = tallies.map(|tally| tally.accepted).sum();
        let seconds: f64 = points.iter().map(|point| point.span.as_secs_f64()).sum();
        accepted as f64 / seconds.max(f64::MIN_POSITIVE)
    };
    points.chunks(each).map(rate).collect()
}

fn line(name: &str, rates: &[f64], palette: &Palette) -> Line<'static> {
    let name = cut(name, NAME - 1);
    let most = rates.iter().copied().fold(0.0, f64::max);
    let bars: String = rates.iter().map(|rate| bar(*rate, most)).collect();
    Line::from(vec![
        Span::raw(format!("{name:<NAME$}{:>1$} ", per_second(most), MOST - 1)),
        Span::styled(bars, palette.heat()),
    ])
}

/// The share of the most, in eighths; nothing accepted is no bar.
fn bar(rate: f64, most: f64) -> char {
    if rate <= 0.0 || most <= 0.0 {
        return ' ';
    }
    let eighths = (rate / most * BARS.len() as f64).ceil() as usize;
    BARS[eighths.clamp(1, BARS.len()) - 1]
}

const NAME: usize = 16;
/// Columns of the greatest rate, with the space behind it.
const MOST: usize = 12;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
