//! Response times by stretches of the run, as histograms: what a curve over time or a heat map is drawn from.

use hammer_measure::Nanos;
use hammer_measure::histogram::Distribution;
use hammer_measure::snapshot::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The response times of a series by stretches of the run, which follow one another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseTimes {
    /// `workload/name`.
    pub path: String,
    /// The stretches, 600 at most. All series have the same ones.
    pub stretches: Vec<ResponseStretch>,
}

/// How long operations of a series took that ended in one interval of the run, or in several neighbours: their histograms are added up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseStretch {
    /// Its end, nanoseconds since the epoch.
    pub at_ns: u64,
    /// Its length.
    pub span_ns: u64,
    /// Response times recorded, those that never ended included.
    pub count: u64,
    /// Those that never ended.
    pub infinite: u64,
    /// Base64 of the HDR V2 deflate payload of those that ended, in nanoseconds. Absent when none ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hdr: Option<String>,
}

/// The stretches of a run so far.
///
/// Beyond [`MOST_STRETCHES`] neighbours are merged in pairs, from the first on and two pairs for each stretch that is new, which from then on is twice
/// as long: all of them at once would take seconds of a processor that may be a shard's.
#[derive(Debug)]
pub(crate) struct ResponseTimeline {
    stretches: Vec<Stretch>,
    /// What belongs to no stretch yet: of how many intervals, and by series.
    open: Open,
    /// Of how many intervals a stretch is.
    stride: u64,
    /// The place of the next pair to be merged, while pairs are.
    next_pair: Option<usize>,
}

#[derive(Debug, Default)]
struct Open {
    intervals: u64,
    at_ns: u64,
    span_ns: u64,
    times: Vec<Distribution>,
}

/// A stretch that is over: a payload takes a hundredth of the memory of its histogram.
#[derive(Debug)]
struct Stretch {
    intervals: u64,
    at_ns: u64,
    span_ns: u64,
    times: Vec<PackedTimes>,
}

#[derive(Clone, Debug, Default)]
struct PackedTimes {
    count: u64,
    infinite: u64,
    hdr: Option<String>,
}

impl ResponseTimeline {
    pub(crate) fn push(&mut self, snapshot: &Snapshot) {
        let ended: Vec<_> = snapshot.responses.iter().map(|responses| &responses.times).collect();
        self.add((snapshot.at, snapshot.span), &ended);
        for (times, series) in self.open.times.iter_mut().zip(&snapshot.series) {
            let never = series.interval.response_time.as_ref().map_or(0, |summary| summary.infinite);
            times.merge(&Distribution::never(never));
        }
        self.close_when_long();
    }

    /// What ended in an interval, by series: all its series each time.
    pub(crate) fn push_ended(&mut self, interval: (Nanos, Nanos), ended: &[&Distribution]) {
        self.add(interval, ended);
        self.close_when_long();
    }

    fn add(&mut self, (at, span): (Nanos, Nanos), ended: &[&Distribution]) {
        let open = &mut self.open;
        open.intervals += 1;
        open.at_ns = at.0;
        open.span_ns += span.0;
        open.times.resize_with(ended.len(), Distribution::default);
        open.times.iter_mut().zip(ended).for_each(|(times, ended)| times.merge(ended));
    }

    fn close_when_long(&mut self) {
        if self.open.intervals >= self.stride {
            self.close();
        }
    }

    /// By series, whose paths these are.
    pub(crate) fn of_series(&self, paths: &[String]) -> Vec<ResponseTimes> {
        let last = (self.open.intervals > 0).then(|| Stretch::of(&self.open));
        let stretches = || self.stretches.iter().chain(&last);
        let of = |place: usize| stretches().map(move |stretch| stretch.of_series(place));
        let series = paths.iter().enumerate();
        series
            .map(|(place, path)| ResponseTimes { path: path.clone(), stretches: of(place).collect() })
            .collect()
    }

    fn close(&mut self) {
        self.stretches.push(Stretch::of(&self.open));
        let open = &mut self.open;
        (open.intervals, open.span_ns) = (0, 0);
        open.times.iter_mut().for_each(Distribution::clear);
        for _ in 0..PAIRS {
            self.merge_next_pair();
        }
        // None is left without another, and one more may be open as the report is made.
        let length = self.stretches.len();
        if self.next_pair.is_none() && length.is_multiple_of(2) && length + 2 >= MOST_STRETCHES {
            self.stride *= 2;
            self.next_pair = Some(0);
        }
    }

    fn merge_next_pair(&mut self) {
        let Some(place) = self.next_pair else { return };
        match self.stretches.get(place..place + 2) {
            Some([earlier, later]) if earlier.intervals + later.intervals <= self.stride => {
                let later = self.stretches.remove(place + 1);
                self.stretches[place].merge(&later);
                self.next_pair = Some(place + 1);
            }
            // What follows is as long already.
            _ => self.next_pair = None,
        }
    }
}

impl Default for ResponseTimeline {
    fn default() -> Self {
        Self { stretches: Vec::new(), open: Open::default(), stride: 1, next_pair: None }
    }
}

impl Stretch {
    fn of(open: &Open) -> Self {
        let Open { intervals, at_ns, span_ns, ref times } = *open;
        Self { intervals, at_ns, span_ns, times: times.iter().map(PackedTimes::of).collect() }
    }

    fn merge(&mut self, later: &Self) {
        self.intervals += later.intervals;
        self.at_ns = later.at_ns;
        self.span_ns += later.span_ns;
        self.times.iter_mut().zip(&later.times).for_each(|(ours, theirs)| ours.merge(theirs));
    }

    fn of_series(&self, place: usize) -> ResponseStretch {
        let PackedTimes { count, infinite, hdr } = self.times.get(place).cloned().unwrap_or_default();
        ResponseStretch { at_ns: self.at_ns, span_ns: self.span_ns, count, infinite, hdr }
    }
}

impl PackedTimes {
    fn of(times: &Distribution) -> Self {
        Self { count: times.count(), infinite: times.infinite(), hdr: times.payload() }
    }

    fn merge(&mut self, later: &Self) {
        if later.count == 0 {
            return;
        }
        let mut times = distribution(self.hdr.as_deref(), self.infinite);
        times.merge(&distribution(later.hdr.as_deref(), later.infinite));
        *self = Self::of(&times);
    }
}

impl ResponseStretch {
    /// The response times themselves; none of a payload that cannot be read, or has not as many as it is said to.
    pub fn distribution(&self) -> Option<Distribution> {
        let times = match &self.hdr {
            Some(payload) => Distribution::from_payload(payload, self.infinite).ok()?,
            None => distribution(None, self.infinite),
        };
        (times.count() == self.count).then_some(times)
    }
}

/// What was packed, which is of this process.
fn distribution(hdr: Option<&str>, infinite: u64) -> Distribution {
    let read = |payload: &str| Distribution::from_payload(payload, infinite);
    let payload = hdr.map(|payload| read(payload).unwrap_or_else(|why| unreachable!("{why}")));
    payload.unwrap_or_else(|| Distribution::never(infinite))
}

/// Stretches of a run at most: a pixel of a wide screen is of two of them.
pub(crate) const MOST_STRETCHES: usize = 600;
/// Pairs that are merged for each stretch that is new: there is one less then.
const PAIRS: usize = 2;

#[cfg(test)]
mod tests;
