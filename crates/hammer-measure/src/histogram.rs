//! Durations as HDR histograms, and summaries that do not hide what never ended.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use crate::octaves::Octaves;
use crate::timing::Nanos;

mod hdr;

pub(crate) use hdr::MOST_COUNTED;

/// Durations of one kind, allocated at the first sample, with a count of those that never ended.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    histogram: Option<Box<Histogram<u64>>>,
    infinite: u64,
}

/// The value below which a share of the durations lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantile {
    /// It lies at this duration.
    At(Nanos),
    /// It falls on arrivals that never ended: beyond the longest that did.
    Beyond(Nanos),
}

/// A point of a distribution's curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The duration.
    pub duration: Nanos,
    /// The share of all durations, those that never ended included, that are no longer.
    pub share: f64,
    /// How many these are.
    pub count: u64,
}

/// The figures of a distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Durations recorded, those that never ended included.
    pub count: u64,
    /// Those that never ended.
    pub infinite: u64,
    /// Mean in nanoseconds of those that ended; the exact sum is not kept, so it is within the histogram's precision.
    pub mean: f64,
    /// The shortest.
    pub min: Nanos,
    /// The longest that ended.
    pub max: Nanos,
    /// The median.
    pub p50: Quantile,
    /// 75th percentile.
    pub p75: Quantile,
    /// 90th percentile.
    pub p90: Quantile,
    /// 95th percentile.
    pub p95: Quantile,
    /// 99th percentile.
    pub p99: Quantile,
    /// 99.9th percentile.
    pub p999: Quantile,
}

/// A payload that is no HDR V2 histogram.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// Not base64.
    #[error("decode the base64 of a histogram")]
    Base64(#[from] base64::DecodeError),
    /// Not an HDR V2 payload.
    #[error("read an HDR V2 payload: {0}")]
    Payload(String),
    /// A payload of other bounds than ours, or of more than any run records.
    #[error("read an HDR V2 payload: expected nanoseconds from {RESOLUTION} to two hours, to three digits")]
    Bounds,
}

impl Distribution {
    /// Adds a duration; above two hours it counts as two hours.
    pub fn record(&mut self, duration: Nanos) {
        let histogram = self.histogram.get_or_insert_with(empty);
        histogram.record(duration.0.min(LONGEST)).expect("a histogram grows to its longest duration");
    }

    /// Adds one that never ended.
    pub fn record_infinite(&mut self) {
        self.infinite += 1;
    }

    /// So many that never ended, and no other.
    pub fn never(infinite: u64) -> Self {
        Self { infinite, ..Self::default() }
    }

    /// Adds all of another's.
    pub fn merge(&mut self, other: &Self) {
        self.infinite += other.infinite;
        if let Some(theirs) = &other.histogram {
            let ours = self.histogram.get_or_insert_with(empty);
            ours.add(theirs.as_ref()).expect("histograms of one layout always merge");
        }
    }

    /// What is left without `some`, each of which is among them.
    #[must_use]
    pub(crate) fn without(mut self, some: &Self) -> Self {
        self.infinite = self.infinite.saturating_sub(some.infinite);
        if let (Some(ours), Some(theirs)) = (&mut self.histogram, &some.histogram) {
            let is_among = ours.subtract(theirs.as_ref()).is_ok();
            debug_assert!(is_among, "only what was recorded is taken away");
        }
        self
    }

    /// Adds all of another's as ones that never ended.
    pub fn merge_as_infinite(&mut self, other: &Self) {
        self.infinite += other.count();
    }

    /// Forgets everything and keeps the allocation.
    pub fn clear(&mut self) {
        self.infinite = 0;
        if let Some(histogram) = self.histogram.as_mut().filter(|histogram| !histogram.is_empty()) {
            histogram.reset();
        }
    }

    /// Durations recorded, those that never ended included.
    pub fn count(&self) -> u64 {
        self.ended() + self.infinite
    }

    /// The longest that ended; zero where none did.
    pub fn longest(&self) -> Nanos {
        let histogram = self.histogram.as_ref().filter(|histogram| !histogram.is_empty());
        histogram.map_or(Nanos::ZERO, |histogram| resolved(histogram.max()))
    }

    /// Those that never ended.
    pub fn infinite(&self) -> u64 {
        self.infinite
    }

    /// How many are longer than `bound`, to the histogram's precision; those that never ended are.
    pub fn count_above(&self, bound: Nanos) -> u64 {
        let above = self.histogram.as_ref().map_or(0, |h| h.len() - h.count_between(0, bound.0.max(1)));
        above + self.infinite
    }

    /// The value at `quantile` (0 to 1), or `None` when nothing was recorded.
    pub fn quantile(&self, quantile: f64) -> Option<Quantile> {
        self.quantiles([quantile], &mut self.recorded()).map(|[value]| value)
    }

    /// Durations that ended, each with how often it was recorded, the shortest first. A walk over them
    /// looks at some ten thousand places, which is a hundred thousand instructions and more.
    fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        let steps = self.histogram.iter().flat_map(|histogram| histogram.iter_recorded());
        steps.map(|step| (step.value_iterated_to(), step.count_at_value()))
    }

    /// The values at `quantiles`, which ascend, in one walk over `recorded` as far as that is needed; `None` when nothing was
    /// recorded.
    fn quantiles<const N: usize>(
        &self,
        quantiles: [f64; N],
        recorded: &mut impl Iterator<Item = (u64, u64)>,
    ) -> Option<[Quantile; N]> {
        let total = self.count();
        if total == 0 {
            return None;
        }
        let longest = self.histogram.as_ref().map_or(0, |histogram| histogram.max());
        let (mut up_to, mut reached) = (0, 0);
        Some(quantiles.map(|quantile| {
            let rank = rank_of(quantile, total);
            while up_to < rank {
                let Some((value, count)) = recorded.next() else {
                    return Quantile::Beyond(resolved(longest));
                };
                up_to += count;
                reached = value.min(longest);
            }
            Quantile::At(resolved(reached))
        }))
    }

    /// The figures, or `None` when nothing was recorded.
    pub fn summary(&self) -> Option<Summary> {
        let ended = self.ended() as f64;
        let mut mean = 0.0;
        let add = |(value, count): &(u64, u64)| mean += self.middle(*value) as f64 * *count as f64 / ended;
        let mut recorded = self.recorded().inspect(add);
        let quantiles = self.quantiles([0.5, 0.75, 0.9, 0.95, 0.99, 0.999], &mut recorded);
        // The mean is of what lies beyond the last of them too.
        recorded.for_each(drop);
        let [p50, p75, p90, p95, p99, p999] = quantiles?;
        let histogram = self.histogram.as_ref().filter(|histogram| !histogram.is_empty());
        let (min, max) = histogram.map_or((0, 0), |histogram| (histogram.min(), histogram.max()));
        Some(Summary {
            count: self.count(),
            infinite: self.infinite,
            mean,
            min: Nanos(min),
            max: resolved(max),
            p50,
            p75,
            p90,
            p95,
            p99,
            p999,
        })
    }

    /// Points of the distribution's curve, the shortest first: `ticks` for each halving of what is left above, as HdrHistogram's own tools have it. What never
    /// ended is left above the last of them.
    pub fn curve(&self, ticks: u32) -> Vec<CurvePoint> {
        let (ended, total) = (self.ended() as f64, self.count().max(1) as f64);
        let steps = self.histogram.iter().flat_map(|histogram| histogram.iter_quantiles(ticks));
        // The iterator adds its steps up, and what that leaves behind the digits would be a rank.
        let shares = steps.map(|step| (step.quantile_iterated_to() * 1e12).round() / 1e12);
        let mut recorded = self.recorded();
        let (mut last, mut up_to) = (0, 0);
        shares
            .map(|share| {
                let rank = (share * ended - 1e-6).ceil().max(1.0) as u64;
                while up_to < rank
                    && let Some((value, count)) = recorded.next()
                {
                    (last, up_to) = (value, up_to + count);
                }
                CurvePoint { duration: resolved(last), share: share * ended / total, count: up_to }
            })
            .collect()
    }

    /// The standard deviation of those that ended, nanoseconds; none where none did.
    pub fn deviation(&self) -> Option<f64> {
        self.histogram.as_ref().filter(|histogram| !histogram.is_empty()).map(|histogram| histogram.stdev())
    }

    /// The middle of the durations that the histogram does not tell apart from `value`.
    fn middle(&self, value: u64) -> u64 {
        match &self.histogram {
            Some(histogram) if value >= RESOLUTION => histogram.median_equivalent(value),
            _ => 0,
        }
    }

    /// The durations that ended, by powers of two, to the histogram's precision.
    pub fn octaves(&self) -> Octaves {
        let mut octaves = Octaves::default();
        for (value, count) in self.recorded() {
            octaves.record(resolved(value), count);
        }
        octaves
    }

    /// Base64 of the HDR V2 deflate payload of those that ended, nanoseconds; `None` when none did.
    pub fn payload(&self) -> Option<String> {
        let histogram = self.histogram.as_ref().filter(|h| !h.is_empty())?;
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(histogram.as_ref(), &mut bytes).ok()?;
        Some(STANDARD.encode(bytes))
    }

    /// The reverse of [`Distribution::payload`], with the count of those that never ended beside it.
    ///
    /// # Errors
    /// When the text is no base64 of such a payload, or has other bounds than ours.
    pub fn from_payload(payload: &str, infinite: u64) -> Result<Self, PayloadError> {
        let histogram = hdr::read_deflated(&STANDARD.decode(payload)?)?;
        Ok(Self { histogram: Some(histogram), infinite })
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.histogram.as_ref().map_or(0, |histogram| histogram.distinct_values() * size_of::<u64>())
    }

    fn ended(&self) -> u64 {
        self.histogram.as_ref().map_or(0, |h| h.len())
    }
}

/// By what was recorded: an allocation makes no difference.
impl PartialEq for Distribution {
    fn eq(&self, other: &Self) -> bool {
        self.infinite == other.infinite && self.recorded().eq(other.recorded())
    }
}

impl Quantile {
    /// The duration to compare with a bound: one that never ended is longer than every bound.
    pub fn nanos(self) -> Nanos {
        match self {
            Self::At(nanos) => nanos,
            Self::Beyond(_) => Nanos::MAX,
        }
    }
}

/// Prints `2.31ms`, or `> 2.00s` where it falls on what never ended, and `never` where nothing did.
impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(nanos) => f.pad(&nanos.to_string()),
            Self::Beyond(Nanos::ZERO) => f.pad("never"),
            Self::Beyond(nanos) => f.pad(&format!("> {nanos}")),
        }
    }
}

/// The rank, from 1, of the duration below which `share` of `total` lies.
fn rank_of(share: f64, total: u64) -> u64 {
    // A share that is a whole number of durations is seldom so in binary: 99.9 / 100 is more than 0.999, and of 1,000
    // durations it would be the last, not the one before it.
    let whole = share * total as f64 * (1.0 - ROUNDING);
    (whole.ceil() as u64).clamp(1, total)
}

/// What lies below the resolution is no time at all.
fn resolved(nanos: u64) -> Nanos {
    if nanos < RESOLUTION { Nanos::ZERO } else { Nanos(nanos) }
}

/// To a thousandth or 128 ns, whichever is more; it grows with its longest duration (about 110 KB at a second).
fn empty() -> Box<Histogram<u64>> {
    let mut histogram =
        Histogram::new_with_bounds(RESOLUTION, 4_096_000, 3).expect("constant bounds are valid");
    histogram.auto(true);
    Box::new(histogram)
}

/// The most, as a share of it, by which a share of a count is too large when it was computed in a few steps.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Nanoseconds.
const RESOLUTION: u64 = 128;
/// Two hours in nanoseconds.
const LONGEST: u64 = 7_200_000_000_000;

#[cfg(test)]
mod tests;
