//! What was, in bounded memory: the last 30 s by the second, and the last hour thinned out.

use std::collections::VecDeque;

use hammer_measure::headline::target_of;
use hammer_measure::snapshot::{SeriesFigures, Snapshot};
use hammer_measure::{Fate, Nanos, Octaves, Summary};

/// The history of all series.
#[derive(Debug, Default)]
pub(in crate::tui) struct History {
    open: Option<Point>,
    recent: VecDeque<Point>,
    thinned: Thinned,
}

/// All series over some time.
#[derive(Clone, Debug)]
pub(in crate::tui) struct Point {
    /// Its end.
    pub(in crate::tui) at: Nanos,
    /// Its length.
    pub(in crate::tui) span: Nanos,
    /// By series.
    pub(in crate::tui) series: Vec<Tally>,
    /// The panel's size at its end, where one was seen, and when that was; of several targets the sum, and the latest.
    pub(in crate::tui) size: Option<(Nanos, f64)>,
}

/// One series over some time: what adds up.
#[derive(Clone, Debug, Default)]
pub(in crate::tui) struct Tally {
    /// Arrivals.
    pub(in crate::tui) offered: u64,
    /// Those of them that found the backlog full.
    pub(in crate::tui) shed: u64,
    /// Those of them that got a slot or a place in the backlog.
    pub(in crate::tui) queued: u64,
    /// What waits in the backlog at the end.
    pub(in crate::tui) waiting: u64,
    /// Operations that the server accepted.
    pub(in crate::tui) accepted: u64,
    /// Done − sent.
    pub(in crate::tui) service_time: Spread,
    /// Done − intended of what ended.
    pub(in crate::tui) response_time: Octaves,
    /// What never ended.
    pub(in crate::tui) never: u64,
}

/// Least, mean and greatest of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::tui) struct Spread {
    /// How many.
    pub(in crate::tui) count: u64,
    /// Their sum, nanoseconds.
    pub(in crate::tui) sum: f64,
    /// The least.
    pub(in crate::tui) min: Nanos,
    /// The greatest.
    pub(in crate::tui) max: Nanos,
}

/// A ring of points that grow longer instead of more: full, it merges each two, until a point is half a minute.
#[derive(Debug)]
struct Thinned {
    points: VecDeque<Point>,
    merged: usize,
    filling: usize,
}

impl History {
    /// Takes an interval of that length, and of what was observed `size`; short ones are put together until they make a second.
    pub(in crate::tui) fn take(&mut self, snapshot: &Snapshot, span: Nanos, size: Option<&str>) {
        let point = Point::of(snapshot, span, size);
        let open = match self.open.take() {
            None => point,
            Some(mut open) => {
                open.merge(&point);
                open
            }
        };
        if open.span < ABOUT_A_SECOND {
            self.open = Some(open);
            return;
        }
        self.thinned.push(&open);
        let until = open.at;
        self.recent.push_back(open);
        // The end of one point more: what grew over the window started there.
        while self.recent.front().is_some_and(|first| until.since(first.at) > WINDOW + LATENESS) {
            self.recent.pop_front();
        }
    }

    /// The last 30 s, oldest first.
    pub(in crate::tui) fn recent(&self) -> impl DoubleEndedIterator<Item = &Point> {
        let until = self.recent.back().map_or(Nanos::ZERO, |last| last.at);
        self.recent.iter().filter(move |point| until.since(point.at) + LATENESS < WINDOW)
    }

    /// The sizes at the start and at the end of the last 30 s, each with the instant at which it was seen: observers look less often than
    /// intervals end.
    pub(in crate::tui) fn sizes(&self) -> Option<[(Nanos, f64); 2]> {
        let mut sizes = self.recent.iter().filter_map(|point| point.size);
        Some([sizes.next()?, sizes.next_back()?])
    }

    /// The run so far, or its last hour, oldest first: [`MOST_POINTS`] at most.
    pub(in crate::tui) fn thinned(&self) -> impl ExactSizeIterator<Item = &Point> {
        self.thinned.points.iter()
    }
}

impl Point {
    fn of(snapshot: &Snapshot, span: Nanos, size: Option<&str>) -> Self {
        let is_size = |name: &str| size.is_some_and(|size| target_of(name, size).is_some());
        let sizes = snapshot.observations.iter().filter(|observation| is_size(&observation.name));
        let sizes = sizes.map(|observation| (observation.at, observation.value));
        let size = sizes.reduce(|(latest, sum), (at, size)| (latest.max(at), sum + size));
        let tallies = snapshot.series.iter().map(|series| {
            let waiting = series.warm_up.backlog + series.measurement.backlog;
            Tally::of(&series.interval, u64::try_from(waiting).unwrap_or(0))
        });
        Self { at: snapshot.at, span, series: tallies.collect(), size }
    }

    /// Adds what came after it.
    pub(in crate::tui) fn merge(&mut self, later: &Self) {
        self.at = later.at;
        self.span = self.span.saturating_add(later.span);
        self.size = later.size.or(self.size);
        self.series.iter_mut().zip(&later.series).for_each(|(ours, theirs)| ours.merge(theirs));
    }
}

impl Tally {
    /// Arrivals that were shed or not yet started at the end: the backlog is first in, first out, so that what waits is
    /// the latest.
    pub(in crate::tui) fn oversupply(&self) -> u64 {
        self.shed + self.waiting.min(self.queued)
    }

    fn of(figures: &SeriesFigures, waiting: u64) -> Self {
        let (shed, starved) = (figures.fate(Fate::Shed), figures.fate(Fate::Starved));
        Self {
            offered: figures.offered,
            shed,
            queued: figures.offered.saturating_sub(shed + starved),
            waiting,
            accepted: figures.fate(Fate::Accepted),
            service_time: figures.service_time.as_ref().map_or_else(Spread::default, Spread::of),
            response_time: figures.response_octaves,
            never: figures.response_time.as_ref().map_or(0, |summary| summary.infinite),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.offered += other.offered;
        self.shed += other.shed;
        self.queued += other.queued;
        self.waiting = other.waiting;
        self.accepted += other.accepted;
        self.service_time.merge(&other.service_time);
        self.response_time.merge(&other.response_time);
        self.never += other.never;
    }
}

impl Spread {
    fn of(summary: &Summary) -> Self {
        let count = summary.count - summary.infinite;
        Self { count, sum: summary.mean * count as f64, min: summary.min, max: summary.max }
    }

    /// Adds all of another's.
    pub(in crate::tui) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// Their mean; zero of none.
    pub(in crate::tui) fn mean(&self) -> Nanos {
        Nanos(if self.count == 0 { 0 } else { (self.sum / self.count as f64) as u64 })
    }
}

impl Thinned {
    fn push(&mut self, point: &Point) {
        match self.points.back_mut().filter(|_| self.filling > 0) {
            Some(last) => last.merge(point),
            None => {
                self.make_room();
                self.points.push_back(point.clone());
            }
        }
        self.filling = (self.filling + 1) % self.merged;
    }

    fn make_room(&mut self) {
        let Some(first) = self.points.front().filter(|_| self.points.len() == MOST_POINTS) else { return };
        if first.span >= LONGEST_POINT {
            self.points.pop_front();
            return;
        }
        let mut points = std::mem::take(&mut self.points).into_iter();
        while let Some(mut point) = points.next() {
            if let Some(second) = points.next() {
                point.merge(&second);
            }
            self.points.push_back(point);
        }
        self.merged *= 2;
    }
}

impl Default for Thinned {
    fn default() -> Self {
        Self { points: VecDeque::new(), merged: 1, filling: 0 }
    }
}

/// What "the last 30 s" is.
pub(in crate::tui) const WINDOW: Nanos = Nanos::from_secs(30);
/// Points that the thinned history holds at most.
pub(in crate::tui) const MOST_POINTS: usize = 120;
const LONGEST_POINT: Nanos = Nanos::from_secs(30);
/// Intervals end a little early or late.
const ABOUT_A_SECOND: Nanos = Nanos::from_millis(950);
const LATENESS: Nanos = Nanos::from_millis(500);
