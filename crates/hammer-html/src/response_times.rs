//! How long operations took: over the run by percentiles, where their times lie, and the curve of measurement.

use hammer_measure::histogram::{Distribution, Quantile};
use hammer_measure::{Nanos, Octaves};
use hammer_report::report::{Nanoseconds, ResponseStretch, ResponseTimes, Series};
use hammer_report::text::number::grouped;

use crate::axis::{Axis, trimmed};
use crate::chart::{Cell, Chart, Ink, Line};
use crate::charted_run::ChartedRun;
use crate::figure::{Figure, Row, Table};
use crate::run_time::{MOST_POINTS, ended_at, seconds};

/// Some neighbouring stretches, added up.
struct Timed {
    start_s: f64,
    end_s: f64,
    times: Distribution,
}

/// The response times of the series at that place of the report by percentiles; none where nothing ended.
pub(crate) fn response_times(run: &ChartedRun<'_>, place: usize) -> Option<Figure> {
    let times = run.times.get(place)?;
    let timed = timed(run, times, MOST_POINTS);
    let (least, most) = bounds(&timed)?;
    let never: u64 = timed.iter().map(|of| of.times.infinite()).sum();
    let up = Axis::durations(least, most);
    let up = if never > 0 { up.with_never() } else { up };
    // What never ended is longer than all that the axis has.
    let top = 10_f64.powf(up.to);
    let mut chart = run.time.chart_of(&times.path, format!("Response times of {}", times.path), up);
    let quantiles = [(Ink::First, "p50", 0.5), (Ink::Second, "p99", 0.99), (Ink::Third, "p99.9", 0.999)];
    let value = |quantile: Quantile| match quantile {
        Quantile::At(nanos) => nanos.0 as f64,
        Quantile::Beyond(_) => top,
    };
    let middle = |of: &Timed| (of.start_s + of.end_s) / 2.0;
    let line = |ink: Ink, share: f64| {
        let points = timed.iter().map(|of| Some((middle(of), value(of.times.quantile(share)?))));
        Line { ink, points: points.collect() }
    };
    chart.lines = quantiles.iter().rev().map(|(ink, _, share)| line(*ink, *share)).collect();
    let rows = timed.iter().map(|of| {
        let shown = |share: f64| of.times.quantile(share).map_or_else(|| "-".to_owned(), |of| of.to_string());
        let ended = (of.times.count() > 0).then(|| longest(of));
        Row {
            across: middle(of),
            cells: [ended_at(of.end_s), grouped(of.times.count())]
                .into_iter()
                .chain((!run.is_logged()).then(|| grouped(of.times.infinite())))
                .chain(quantiles.iter().map(|(.., share)| shown(*share)))
                .chain([ended.unwrap_or_else(|| "-".to_owned())])
                .collect(),
        }
    });
    Some(Figure {
        title: "Response time".to_owned(),
        note: if never > 0 {
            format!("{} never ended: a percentile that falls on them stands at never.", grouped(never))
        } else {
            run.log_note(timed.len())
        },
        chart,
        legend: quantiles.iter().map(|(ink, name, _)| (*ink, *name)).collect(),
        table: Table {
            header: match run.is_logged() {
                true => vec!["until", "ended", "p50", "p99", "p99.9", "max"],
                false => vec!["until", "count", "never ended", "p50", "p99", "p99.9", "max"],
            },
            rows: rows.collect(),
        },
    })
}

/// Where the response times of the series at that place lie over the run; none where nothing ended.
pub(crate) fn heat_map(run: &ChartedRun<'_>, place: usize) -> Option<Figure> {
    let times = run.times.get(place)?;
    let timed = timed(run, times, MOST_COLUMNS);
    let (least, most) = bounds(&timed)?;
    let mut chart = run.time.chart_of(
        &times.path,
        format!("Where the response times of {} lie", times.path),
        Axis::durations(least, most),
    );
    let columns: Vec<_> = timed.iter().map(|of| (of, of.times.octaves())).collect();
    let rate = |of: &Timed, count: u64| count as f64 / (of.end_s - of.start_s).max(f64::MIN_POSITIVE);
    let cells = || {
        columns.iter().flat_map(|(of, octaves)| {
            octaves.counts.iter().enumerate().map(move |(place, count)| (*of, place, *count))
        })
    };
    let hottest = cells().map(|(of, _, count)| rate(of, count)).max_by(f64::total_cmp)?;
    chart.cells = cells()
        .filter(|(.., count)| *count > 0)
        .map(|(of, place, count)| {
            let from = place.checked_sub(1).map_or(1.0, |below| Octaves::bound(below).0 as f64);
            // By the logarithm, so that one of a million is seen.
            let heat = (1.0 + rate(of, count)).ln() / (1.0 + hottest).ln();
            let up = (from, Octaves::bound(place).0 as f64);
            Cell { across: (of.start_s, of.end_s), up, heat: heat.clamp(0.12, 1.0) }
        })
        .collect();
    let most_at = |octaves: &Octaves| {
        let place =
            octaves.counts.iter().enumerate().max_by_key(|(_, count)| **count).map_or(0, |(place, _)| place);
        format!("below {}", Octaves::bound(place))
    };
    let rows =
        columns.iter().filter(|(of, _)| of.times.count() > of.times.infinite()).map(|(of, octaves)| Row {
            across: (of.start_s + of.end_s) / 2.0,
            cells: vec![ended_at(of.end_s), grouped(octaves.count()), most_at(octaves), longest(of)],
        });
    Some(Figure {
        title: "Where response times lie".to_owned(),
        note: "The stronger the colour, the more a second (by the logarithm); each band reaches twice as far as the one below.".to_owned(),
        chart,
        legend: Vec::new(),
        table: Table { header: vec!["until", "done", "most of them", "longest"], rows: rows.collect() },
    })
}

/// The curve of a series' response times over measurement, or over the window that charts are of; none where nothing ended.
pub(crate) fn percentiles(run: &ChartedRun<'_>, place: usize, series: &Series) -> Option<Figure> {
    let (times, over) = match run.is_whole() {
        true => (series.measurement.durations.response_time.as_ref()?.distribution()?, "measurement"),
        false => (timed(run, run.times.get(place)?, 1).pop()?.times, "the window"),
    };
    let curve = times.curve(TICKS);
    let least = curve.first().filter(|_| times.count() > times.infinite())?.duration;
    let up = Axis::durations(least, times.longest());
    let across = Axis::shares(times.count());
    let points = curve.iter().map(|point| Some((point.share, point.duration.0 as f64)));
    let lines = vec![Line { ink: Ink::First, points: points.collect() }];
    let rows = curve.iter().map(|point| Row {
        across: point.share,
        cells: vec![
            format!("{} %", trimmed(point.share * 100.0)),
            grouped(point.count),
            point.duration.to_string(),
        ],
    });
    let never = times.infinite();
    let note = if never > 0 {
        format!(
            "{} of {} never ended, and lie above the end of the curve.",
            grouped(never),
            grouped(times.count())
        )
    } else {
        String::new()
    };
    Some(Figure {
        title: format!("Percentiles over {over}"),
        note,
        chart: Chart {
            lines,
            ..Chart::new(format!("Percentiles of the response times of {}", series.path), across, up)
        },
        legend: Vec::new(),
        table: Table { header: vec!["share", "no longer", "response time"], rows: rows.collect() },
    })
}

/// What there is of the window, in so many points at most.
fn timed(run: &ChartedRun<'_>, times: &ResponseTimes, most: usize) -> Vec<Timed> {
    let window = run.time.window;
    let stretches = times.stretches.iter().filter(|stretch| window.has(stretch.at_ns, stretch.span_ns));
    let stretches: Vec<_> = stretches.collect();
    let group = stretches.len().div_ceil(most).max(1);
    let of = |stretches: &[&ResponseStretch]| {
        let mut timed = Timed { start_s: f64::MAX, end_s: 0.0, times: Distribution::default() };
        for stretch in stretches {
            timed.start_s = timed.start_s.min(seconds(stretch.at_ns.saturating_sub(stretch.span_ns)));
            timed.end_s = seconds(stretch.at_ns);
            timed.times.merge(&stretch.distribution().unwrap_or_default());
        }
        timed
    };
    stretches.chunks(group).map(of).collect()
}

/// The shortest and the longest that ended.
fn bounds(timed: &[Timed]) -> Option<(Nanos, Nanos)> {
    let summaries =
        timed.iter().filter(|of| of.times.count() > of.times.infinite()).filter_map(|of| of.times.summary());
    summaries
        .map(|summary| (summary.min, summary.max))
        .reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

fn longest(of: &Timed) -> String {
    let longest = of.times.longest();
    match of.times.infinite() {
        0 => Nanoseconds::At(longest.0).to_string(),
        _ => Nanoseconds::Beyond { beyond_ns: longest.0 }.to_string(),
    }
}

/// Columns of a heat map at most.
const MOST_COLUMNS: usize = 100;
/// Points of the curve for each halving of what is left above.
const TICKS: u32 = 5;
