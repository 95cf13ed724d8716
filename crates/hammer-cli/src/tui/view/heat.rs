//! Response time over time: a column is a span of the run, a row a span of durations, a mark the share of the column.

use hammer_measure::{Nanos, Octaves};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::clock::clock;
use super::cut::cut;
use super::palette::Palette;
use crate::tui::spec::PanelSide;
use crate::tui::state::DashboardState;
use crate::tui::state::history::Point;

/// Whose response times.
#[derive(Debug)]
pub(super) struct Choice {
    /// What they are called.
    pub(super) name: String,
    /// Their places among the series.
    pub(super) places: Vec<usize>,
}

/// One column.
#[derive(Clone, Debug, Default)]
struct Column {
    ended: Octaves,
    never: u64,
}

/// The map, ready to be drawn.
#[derive(Debug)]
struct Map {
    columns: Vec<Column>,
    span: Nanos,
}

impl Choice {
    /// The operations of the workloads on that side, or all.
    pub(super) fn of(state: &DashboardState, side: Option<PanelSide>) -> Self {
        let name = side.map_or("all", |side| state.plural(side));
        Self { name: name.to_owned(), places: state.operations(side) }
    }
}

/// Draws it; nothing where there is no room for a row.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &DashboardState,
    palette: &Palette,
    choice: &Choice,
) {
    let width = usize::from(area.width).saturating_sub(LABEL);
    let height = usize::from(area.height).saturating_sub(1);
    if width == 0 || height == 0 {
        return;
    }
    let points: Vec<&Point> = state.history.thinned().collect();
    let map = Map::of(&points, &choice.places, width);
    let each = clock(map.span.as_secs_f64());
    let title = format!("response time, {}, {each} a column ", choice.name);
    let block = Block::new().borders(Borders::TOP).title(cut(&title, area.width.into()));
    frame.render_widget(Paragraph::new(map.lines(height, palette)).block(block), area);
}

impl Map {
    /// As many points in a column as make them fit.
    fn of(points: &[&Point], places: &[usize], width: usize) -> Self {
        let each = points.len().div_ceil(width).max(1);
        let columns = points.chunks(each).map(|points| Column::of(points, places)).collect();
        let span = points.first().map_or(Nanos::from_secs(1), |first| first.span * each as u64);
        Self { columns, span }
    }

    fn lines(&self, height: usize, palette: &Palette) -> Vec<Line<'static>> {
        let never = self.columns.iter().any(|column| column.never > 0);
        let room = height.saturating_sub(usize::from(never));
        let mut lines = Vec::with_capacity(height);
        if never {
            let marks = self.columns.iter().map(|column| mark(column.never, column.count()));
            lines.push(row("never", marks.collect(), palette.bad()));
        }
        for (from, until) in self.bands(room).into_iter().rev() {
            let marks = self
                .columns
                .iter()
                .map(|column| mark(column.ended.counts[from..until].iter().sum(), column.count()));
            lines.push(row(&label(until - 1), marks.collect(), palette.heat()));
        }
        lines
    }

    /// The octaves that hold anything, several in a band where there are more than rows; shortest first.
    fn bands(&self, rows: usize) -> Vec<(usize, usize)> {
        let mut all = Octaves::default();
        self.columns.iter().for_each(|column| all.merge(&column.ended));
        let used = |place: &usize| all.counts[*place] > 0;
        let (Some(first), Some(last)) = ((0..Octaves::COUNT).find(used), (0..Octaves::COUNT).rfind(used))
        else {
            return Vec::new();
        };
        // The shortest few share the lowest row rather than make all rows coarser.
        let few = |place: &usize| all.counts[..=*place].iter().sum::<u64>() * 100 > all.count();
        let body = if last - first < rows { first } else { (first..last).find(few).unwrap_or(last) };
        let each = (last + 1 - body).div_ceil(rows.max(1));
        let starts = (body..=last).step_by(each);
        let mut bands: Vec<_> = starts.map(|start| (start, (start + each).min(Octaves::COUNT))).collect();
        bands[0].0 = first;
        bands
    }
}

impl Column {
    fn of(points: &[&Point], places: &[usize]) -> Self {
        let mut column = Self::default();
        for tally in
            points.iter().flat_map(|point| places.iter().filter_map(|place| point.series.get(*place)))
        {
            column.ended.merge(&tally.response_time);
            column.never += tally.never;
        }
        column
    }

    fn count(&self) -> u64 {
        self.ended.count() + self.never
    }
}

fn row(label: &str, marks: String, style: ratatui::style::Style) -> Line<'static> {
    Line::from(vec![Span::raw(format!("{label:>0$} ", LABEL - 1)), Span::styled(marks, style)])
}

fn label(octave: usize) -> String {
    match Octaves::bound(octave) {
        Nanos::MAX => "longer".to_owned(),
        bound if bound >= Nanos::from_millis(1) && bound < Nanos::from_secs(1) => {
            format!("<{}ms", bound.0 / 1_000_000)
        }
        bound => format!("<{bound}"),
    }
}

/// The share of `part` in its column: the marks of the legend on the help page.
fn mark(part: u64, whole: u64) -> char {
    if part == 0 {
        return ' ';
    }
    let share = part as f64 / whole as f64;
    SHADES.into_iter().find(|(below, _)| share < *below).map_or('█', |(_, mark)| mark)
}

/// Lines of it, with its title, beyond which it says no more.
pub(super) const TALLEST: u16 = 14;
/// Columns of a row's label, with the space behind it.
const LABEL: usize = 8;
/// The bound of a share, and its mark.
const SHADES: [(f64, char); 4] = [(0.01, '·'), (0.1, '░'), (0.3, '▒'), (0.6, '▓')];

#[cfg(test)]
mod tests {
    use super::*;

    fn map(counts: &[(u64, u64)]) -> Map {
        let mut column = Column::default();
        counts.iter().for_each(|(millis, count)| column.ended.record(Nanos::from_millis(*millis), *count));
        Map { columns: vec![column], span: Nanos::from_secs(1) }
    }

    #[test]
    fn a_mark_is_the_share_of_its_column() {
        let marks = [0, 1, 9, 10, 29, 30, 59, 60, 100].map(|part| mark(part, 100));
        assert_eq!(marks, [' ', '░', '░', '▒', '▒', '▓', '▓', '█', '█']);
        assert_eq!(mark(1, 1_000), '·', "one in a thousand is seen");
    }

    #[test]
    fn bands_cover_all_that_ended_in_the_rows_there_are() {
        let map = map(&[(1, 5), (3, 5), (70, 1), (900, 1)]);
        for rows in 1..12 {
            let bands = map.bands(rows);
            assert!(bands.len() <= rows, "{rows}");
            let covered: u64 = bands
                .iter()
                .map(|(from, until)| map.columns[0].ended.counts[*from..*until].iter().sum::<u64>())
                .sum();
            assert_eq!(covered, 12, "{rows}");
        }
    }

    #[test]
    fn what_never_ended_has_a_row_of_its_own() {
        let mut map = map(&[(1, 1)]);
        map.columns[0].never = 1;
        let lines = map.lines(4, &Palette::MONOCHROME);
        assert_eq!(lines[0].to_string(), "  never ▓");
    }
}
