//! What was offered to a server over the run, and what came of it.

use hammer_report::report::{Fates, Interval, Series, SeriesInterval};
use hammer_report::text::number::per_second;

use crate::axis::{Axis, short_rate};
use crate::chart::{Ink, Line};
use crate::charted_run::ChartedRun;
use crate::figure::{Figure, Row, Table};
use crate::run_time::{MOST_POINTS, ended_at, seconds};

/// Some neighbouring intervals of a series, added up.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    end_s: f64,
    seconds: f64,
    offered: u64,
    completed: u64,
    failed: u64,
}

/// One of the lines.
struct CountLine {
    ink: Ink,
    name: &'static str,
    count: fn(&Counted) -> u64,
}

const LINES: [CountLine; 3] = [
    CountLine { ink: Ink::First, name: "offered", count: |of| of.offered },
    CountLine { ink: Ink::Second, name: "completed", count: |of| of.completed },
    CountLine { ink: Ink::Third, name: "not accepted", count: |of| of.failed },
];

impl Counted {
    fn middle_s(&self) -> f64 {
        self.end_s - self.seconds / 2.0
    }

    /// That count a second.
    fn rate(&self, line: &CountLine) -> f64 {
        if self.seconds > 0.0 { (line.count)(self) as f64 / self.seconds } else { 0.0 }
    }
}

/// The rates of the series at that place of the report; none where there is no interval.
pub(crate) fn rates(run: &ChartedRun<'_>, place: usize, series: &Series) -> Option<Figure> {
    let window = run.time.window;
    let intervals = run.report.intervals.iter();
    let intervals: Vec<_> =
        intervals.filter(|interval| window.has(interval.at_ns, interval.span_ns)).collect();
    let counted = counted(&intervals, place);
    let all = counted.iter().flat_map(|of| LINES.iter().map(|line| of.rate(line)));
    let most = all.max_by(f64::total_cmp)?;
    let mut chart =
        run.time.chart_of(&series.path, format!("Rates of {}", series.path), Axis::linear(most, short_rate));
    let line = |line: &CountLine| {
        // What is a fraction of the others, as the end of drain, has a rate by chance: a gap.
        let usual = counted.iter().map(|of| of.seconds).fold(0.0, f64::max);
        let points =
            counted.iter().map(|of| (of.seconds >= usual / 4.0).then(|| (of.middle_s(), of.rate(line))));
        Line { ink: line.ink, points: points.collect() }
    };
    chart.lines = LINES.iter().map(line).collect();
    let rows = counted.iter().map(|of| {
        let rates = LINES.iter().map(|line| per_second(of.rate(line)));
        Row { across: of.middle_s(), cells: std::iter::once(ended_at(of.end_s)).chain(rates).collect() }
    });
    let header = std::iter::once("until").chain(LINES.iter().map(|line| line.name)).collect();
    Some(Figure {
        title: "Rate".to_owned(),
        note: match intervals.len().div_ceil(MOST_POINTS) {
            0 | 1 => String::new(),
            group => format!(
                "A point is of {group} intervals: a rate is their mean, and what was not accepted in one of them stands in it with a share."
            ),
        },
        legend: LINES.iter().map(|line| (line.ink, line.name)).collect(),
        table: Table { header, rows: rows.collect() },
        chart,
    })
}

fn counted(intervals: &[&Interval], place: usize) -> Vec<Counted> {
    let group = intervals.len().div_ceil(MOST_POINTS).max(1);
    let of = |intervals: &[&Interval]| {
        intervals.iter().fold(Counted::default(), |mut sum, interval| {
            sum.end_s = seconds(interval.at_ns);
            sum.seconds += seconds(interval.span_ns);
            if let Some(SeriesInterval { offered, fates, .. }) = interval.series.get(place) {
                sum.offered += offered;
                sum.completed += completed(fates);
                sum.failed += fates.failed();
            }
            sum
        })
    };
    intervals.chunks(group).map(of).collect()
}

/// What ended by an answer, a failure or its deadline.
fn completed(fates: &Fates) -> u64 {
    fates.ended() - fates.abandoned - fates.shed - fates.starved
}
