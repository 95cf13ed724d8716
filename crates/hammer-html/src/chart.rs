//! Charts as SVG, which stand in a page without a script. Their colours are names: the page's style says what they look like, by light and in the
//! dark.

use hammer_measure::shown_lines;
use plotters::prelude::*;

use crate::axis::Axis;

/// A chart over two axes.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// What it shows, for whoever cannot see it.
    pub(crate) title: String,
    pub(crate) across: Axis,
    pub(crate) up: Axis,
    /// Stretches of the axis across that are shaded.
    pub(crate) shaded: Vec<Band>,
    /// Places of the axis across that are marked.
    pub(crate) marked: Vec<f64>,
    pub(crate) lines: Vec<Line>,
    pub(crate) cells: Vec<Cell>,
}

/// A stretch of the axis across, by what it is shaded in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Band {
    pub(crate) ink: Ink,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

/// A line through points by their values on both axes; it has a gap where there is none.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) ink: Ink,
    pub(crate) points: Vec<Option<(f64, f64)>>,
}

/// A cell of a heat map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) across: (f64, f64),
    pub(crate) up: (f64, f64),
    /// From 0 to 1.
    pub(crate) heat: f64,
}

/// What something is drawn in: a colour that the page's style exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    First = 1,
    Second,
    Third,
    Grid,
    Text,
    Shade,
    Mark,
    Alarm,
}

/// A chart as SVG, and where its axis across lies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drawing {
    pub(crate) svg: String,
    /// Where the axis across starts and ends, in parts of the width.
    pub(crate) ends: (f64, f64),
}

/// A chart that cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[error("draw the chart `{title}`: {why}")]
pub struct DrawError {
    title: String,
    why: String,
}

impl Ink {
    const fn colour(self) -> RGBColor {
        RGBColor(0, 0, self as u8)
    }

    /// Its number in the page's style.
    pub(crate) const fn number(self) -> u8 {
        self as u8
    }
}

impl Chart {
    /// One without anything in it.
    pub(crate) const fn new(title: String, across: Axis, up: Axis) -> Self {
        Self {
            title,
            across,
            up,
            shaded: Vec::new(),
            marked: Vec::new(),
            lines: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// Draws it.
    ///
    /// # Errors
    /// Where the drawing fails, which no figure makes it do.
    pub(crate) fn draw(&self) -> Result<Drawing, DrawError> {
        let mut svg = String::new();
        let ends = self
            .draw_on(&mut svg)
            .map_err(|why| DrawError { title: self.title.clone(), why: why.to_string() })?;
        Ok(Drawing { svg: self.titled(&svg), ends })
    }

    fn draw_on(&self, svg: &mut String) -> Result<(f64, f64), Box<dyn std::error::Error + '_>> {
        let Self { across, up, .. } = self;
        let area = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin_top(30)
            .margin_right(60)
            .x_label_area_size(46)
            .y_label_area_size(112)
            .build_cartesian_2d(across.clone(), up.clone())?;
        let whole = |from: f64, to: f64| [(across.place(from), up.from), (across.place(to), up.to)];
        chart.draw_series(
            self.shaded
                .iter()
                .map(|band| Rectangle::new(whole(band.from, band.to), band.ink.colour().filled())),
        )?;
        chart.draw_series(self.cells.iter().map(|cell| {
            let corner = |across_at: f64, up_at: f64| (across.place(across_at), up.place(up_at));
            let corners = [corner(cell.across.0, cell.up.0), corner(cell.across.1, cell.up.1)];
            Rectangle::new(corners, Ink::First.colour().mix(cell.heat).filled())
        }))?;
        let (grid, ink) = (Ink::Grid.colour(), Ink::Text.colour());
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(grid)
            .axis_style(grid)
            .label_style(("sans-serif", 28, &ink))
            // Above its line, so that the lowest is clear of the first one across.
            .y_label_offset(-12)
            .draw()?;
        chart.draw_series(
            self.marked
                .iter()
                .map(|at| PathElement::new(whole(*at, *at), Ink::Mark.colour().stroke_width(2))),
        )?;
        for Line { ink, points } in &self.lines {
            for points in points.split(Option::is_none).filter(|points| !points.is_empty()) {
                let points = points.iter().flatten();
                let places = points.map(|(x, y)| (across.place(*x), up.place(*y))).collect::<Vec<_>>();
                match places[..] {
                    [alone] => {
                        chart.draw_series([Circle::new(alone, 3, ink.colour().filled())])?;
                    }
                    _ => {
                        // One that lies over the first is narrower, so that both are seen.
                        let width = if *ink == Ink::First { 5 } else { 2 };
                        chart.draw_series(LineSeries::new(places, ink.colour().stroke_width(width)))?;
                    }
                }
            }
        }
        let (wide, _) = chart.plotting_area().get_pixel_range();
        let share = |pixel: i32| f64::from(pixel) / f64::from(WIDTH);
        let ends = (share(wide.start), share(wide.end));
        area.present()?;
        drop(chart);
        drop(area);
        Ok(ends)
    }

    /// The same with its title, and without a size of its own: it is as wide as the page lets it be.
    fn titled(&self, svg: &str) -> String {
        let body = svg.split_once('>').map_or("", |(_, body)| body);
        let title = maud::html! { (shown_lines(&self.title)) }.into_string();
        format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">{body}")
    }
}

/// Units of a drawing, which are whole pixels to the crate that draws: more than a page shows.
const WIDTH: u32 = 840;
const HEIGHT: u32 = 400;
