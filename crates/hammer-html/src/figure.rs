//! A chart on the page, with the table that it was drawn from behind it.

use hammer_measure::shown_lines;
use maud::{Markup, PreEscaped, html};

use crate::axis::trimmed;
use crate::chart::{Chart, DrawError, Ink};

/// A chart, what its lines are, and the figures behind it.
pub(crate) struct Figure {
    pub(crate) title: String,
    /// What is to be known about it.
    pub(crate) note: String,
    pub(crate) chart: Chart,
    pub(crate) legend: Vec<(Ink, &'static str)>,
    pub(crate) table: Table,
}

/// The figures behind a chart, in the order of its axis across.
pub(crate) struct Table {
    pub(crate) header: Vec<&'static str>,
    pub(crate) rows: Vec<Row>,
}

/// Figures at a place of the axis across.
pub(crate) struct Row {
    pub(crate) across: f64,
    pub(crate) cells: Vec<String>,
}

impl Figure {
    /// The chart with its legend and its table.
    ///
    /// # Errors
    /// Where it cannot be drawn.
    pub(crate) fn markup(&self) -> Result<Markup, DrawError> {
        let drawing = self.chart.draw()?;
        let Table { header, rows } = &self.table;
        let place = |across: f64| trimmed(self.chart.across.share(across));
        Ok(html! {
            figure data-from=(trimmed(drawing.ends.0)) data-to=(trimmed(drawing.ends.1)) {
                figcaption {
                    b { (shown_lines(&self.title)) }
                    @for (ink, name) in &self.legend {
                        span.key { i.{ "ink" (ink.number()) } {} (name) }
                    }
                }
                div.drawing { (PreEscaped(drawing.svg)) }
                @if !self.note.is_empty() { p.note { (shown_lines(&self.note)) } }
                details {
                    summary { "Figures" }
                    div.scroll {
                        table {
                            thead { tr { @for name in header { th scope="col" { (name) } } } }
                            tbody {
                                @for row in rows {
                                    tr data-at=(place(row.across)) { @for cell in &row.cells { td { (shown_lines(cell)) } } }
                                }
                            }
                        }
                    }
                }
            }
        })
    }
}
