//! The time of a run: an axis, what stands on it beside figures, and what observers saw along it.

use hammer_measure::Nanos;
use hammer_report::Window;
use hammer_report::report::timeline::ObservationPoint;
use hammer_report::report::{Event, ObservationSeries, PhaseName, Report};
use hammer_report::text::number::grouped;

use crate::axis::{Axis, short, trimmed};
use crate::chart::{Band, Chart, Ink, Line};
use crate::figure::{Figure, Row, Table};

/// The run's time: an axis, and what else stands on it.
pub(crate) struct RunTime {
    /// What of the run it is: all of it, or less.
    pub(crate) window: Window,
    axis: Axis,
    shaded: Vec<Band>,
    /// When a series was served otherwise, by its path.
    disturbed: Vec<(String, Band)>,
    marked: Vec<f64>,
}

impl RunTime {
    /// That of a window of a run: what is no measurement is shaded, and what happened beside the load marked.
    pub(crate) fn of(report: &Report, window: Window) -> Self {
        let beside = report.phases.iter().filter(|span| span.phase != PhaseName::Measurement);
        let end = report
            .phases
            .iter()
            .find(|span| span.phase == PhaseName::Measurement)
            .map_or(0, |span| span.end_ns);
        let alarm = |path: &str, from: u64, to: Option<u64>| {
            (path.to_owned(), band(Ink::Alarm, from, to.unwrap_or(end)))
        };
        let disruptions =
            report.disruptions.iter().map(|of| alarm(&of.path, of.from_ns, of.to_ns.or(of.recovered_ns)));
        let bursts = report.bursts.iter().map(|of| alarm(&of.path, of.from_ns, of.to_ns));
        let is_marked = |event: &&Event| !matches!(event, Event::Phase { .. } | Event::RecordHigh { .. });
        let marked = report.events.iter().filter(is_marked).map(Event::at_ns);
        let (from, to) = (window.from(), window.to());
        let is_within = |band: &Band| band.from < to.as_secs_f64() && band.to > from.as_secs_f64();
        Self {
            window,
            axis: Axis::time(from, to),
            shaded: beside
                .map(|span| band(Ink::Shade, span.begin_ns, span.end_ns))
                .filter(is_within)
                .collect(),
            disturbed: disruptions.chain(bursts).filter(|(_, band)| is_within(band)).collect(),
            marked: marked.filter(|at| window.has(*at, 0)).map(seconds).collect(),
        }
    }

    /// A chart over the run, without any line yet.
    pub(crate) fn chart(&self, title: String, up: Axis) -> Chart {
        let Self { axis, shaded, marked, .. } = self;
        let (across, shaded, marked) = (axis.clone(), shaded.clone(), marked.clone());
        Chart { shaded, marked, ..Chart::new(title, across, up) }
    }

    /// A chart of a series over the run, in which stands when it was served otherwise.
    pub(crate) fn chart_of(&self, path: &str, title: String, up: Axis) -> Chart {
        let mut chart = self.chart(title, up);
        chart.shaded.extend(self.disturbed.iter().filter(|(of, _)| of == path).map(|(_, band)| *band));
        chart
    }

    /// The last value that an observer saw by the end of it; the first one where all were seen later.
    pub(crate) fn last_seen(&self, seen: &ObservationSeries) -> f64 {
        let by_its_end = [&seen.first, &seen.last].into_iter().chain(&seen.points);
        let by_its_end = by_its_end.filter(|point| point.at_ns <= self.window.to().0);
        by_its_end.max_by_key(|point| point.at_ns).map_or(seen.first.value, |point| point.value)
    }

    /// What an observer saw; none where it saw one thing alone.
    pub(crate) fn observed(&self, seen: &ObservationSeries) -> Option<Figure> {
        let points: Vec<ObservationPoint> =
            seen.points.iter().filter(|point| self.window.has(point.at_ns, 0)).copied().collect();
        let values = || points.iter().map(|point| point.value);
        let (least, most) = (values().min_by(f64::total_cmp)?, values().max_by(f64::total_cmp)?);
        if least == most {
            return None;
        }
        let mut chart = self.chart(seen.name.clone(), Axis::between(least, most, short));
        // The last of each group, so that a size is never told before it was seen.
        let group = points.len().div_ceil(MOST_POINTS).max(1);
        let points: Vec<_> = points
            .chunks(group)
            .filter_map(<[_]>::last)
            .map(|point| (seconds(point.at_ns), point.value))
            .collect();
        chart.lines = vec![Line { ink: Ink::First, points: points.iter().copied().map(Some).collect() }];
        let rows =
            points.iter().map(|(at, value)| Row { across: *at, cells: vec![ended_at(*at), amount(*value)] });
        let table = Table { header: vec!["at", "seen"], rows: rows.collect() };
        Some(Figure { title: seen.name.clone(), note: String::new(), chart, legend: Vec::new(), table })
    }
}

fn band(ink: Ink, from_ns: u64, to_ns: u64) -> Band {
    Band { ink, from: seconds(from_ns), to: seconds(to_ns) }
}

/// A number, with commas where it is whole.
pub(crate) fn amount(value: f64) -> String {
    let is_whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
    if is_whole { grouped(value as u64) } else { trimmed(value) }
}

/// The end of a stretch, as tables have it.
pub(crate) fn ended_at(seconds: f64) -> String {
    if seconds < 100.0 { format!("{seconds:.2} s") } else { format!("{seconds:.1} s") }
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(nanos: u64) -> f64 {
    Nanos(nanos).as_secs_f64()
}

/// Points of a line at most: three pixels of a phone's width are of two.
pub(crate) const MOST_POINTS: usize = 300;
