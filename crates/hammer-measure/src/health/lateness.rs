//! Whether the generator was so late to operations of a series that figures of theirs tell of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::histogram::{Distribution, Quantile};
use crate::recorder::SeriesRecord;
use crate::timing::Nanos;

use super::policy::HealthPolicy;
use super::{FEWEST, SLICES};

/// A lateness of the generator's own that spoils a percentile of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// Of what.
    pub kind: LatenessKind,
    /// The series, as `workload/name`.
    pub series: String,
    /// The percentile that it spoils.
    pub percentile: u8,
    /// That percentile of the lateness.
    pub late: Nanos,
    /// What it may be at most: a twentieth of the same percentile of the response time, and 1 ms at least; or what the plan says.
    pub bound: Nanos,
    /// How many operations it was recorded of.
    pub of: u64,
}

/// What the generator may be late to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatenessKind {
    /// Arrivals were released late.
    Dispatch,
    /// Answers were read long after the kernel had them.
    Read,
    /// Computing in the middle of flows waited for a thread of the crew.
    Compute,
}

/// What is said of a lateness that is over its bound.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Judged {
    /// Figures are spoiled.
    Spoiled(Lateness),
    /// Of so few operations the figures of lateness tell what the machine happened to do, and no more.
    TooFew(Lateness),
}

impl Judged {
    /// The latenesses of a series that are over their bounds. Answers may lie `unread_at_most` by plan.
    pub(super) fn of_series(
        series: &str,
        record: &SeriesRecord,
        unread_at_most: Nanos,
        policy: &HealthPolicy,
    ) -> Vec<Self> {
        let latenesses = [
            (LatenessKind::Dispatch, &record.dispatch_lag, Nanos::ZERO),
            (LatenessKind::Read, &record.read_lag, unread_at_most),
            (LatenessKind::Compute, &record.compute_wait, Nanos::ZERO),
        ];
        let mut response = None;
        let judged = latenesses.into_iter().filter_map(|(kind, late, meant)| {
            let planned = policy.dispatch_lag_p99.filter(|_| kind == LatenessKind::Dispatch);
            if let Some(bound) = planned {
                return beyond_plan(series, late, bound).map(Self::Spoiled);
            }
            // Each interval asks, and the walks that follow are long.
            if late.longest() <= LEAST_BOUND + meant {
                return None;
            }
            let response = response.get_or_insert_with(|| record.response_time());
            Self::of(&LateSeries { kind, series, late, response, meant })
        });
        judged.collect()
    }

    fn of(of: &LateSeries<'_>) -> Option<Self> {
        let over: Vec<Lateness> = PERCENTILES.iter().filter_map(|percentile| of.over(*percentile)).collect();
        let spoiled = over.iter().find(|lateness| of.tells_enough(lateness)).cloned();
        spoiled.map(Self::Spoiled).or_else(|| over.into_iter().next().map(Self::TooFew))
    }
}

/// One kind of lateness of one series, beside the figures that it can spoil.
struct LateSeries<'a> {
    kind: LatenessKind,
    series: &'a str,
    late: &'a Distribution,
    response: &'a Distribution,
    /// So much of it is meant.
    meant: Nanos,
}

impl LateSeries<'_> {
    /// What it is at a percentile, where that is over its bound.
    fn over(&self, percentile: u8) -> Option<Lateness> {
        let quantile = f64::from(percentile) / 100.0;
        let Quantile::At(late) = self.late.quantile(quantile)? else { return None };
        let share = match self.response.quantile(quantile) {
            Some(Quantile::At(response)) => Nanos(response.0 / 20),
            // Nothing moves a percentile that never ended.
            Some(Quantile::Beyond(_)) => return None,
            None => Nanos::ZERO,
        };
        let bound = LEAST_BOUND.max(share) + self.meant;
        let series = self.series.to_owned();
        (late > bound).then(|| Lateness {
            kind: self.kind,
            series,
            percentile,
            late,
            bound,
            of: self.late.count(),
        })
    }

    /// Whether it is of so many operations that it is no accident, or of ten that waited for longer than one slice.
    fn tells_enough(&self, lateness: &Lateness) -> bool {
        let above = lateness.bound.max(SLICES + self.meant);
        lateness.of >= ENOUGH || self.late.count_above(above) >= FEWEST
    }
}

fn beyond_plan(series: &str, late: &Distribution, bound: Nanos) -> Option<Lateness> {
    let Quantile::At(p99) = late.quantile(0.99)? else { return None };
    (p99 > bound).then(|| Lateness {
        kind: LatenessKind::Dispatch,
        series: series.to_owned(),
        percentile: 99,
        late: p99,
        bound,
        of: late.count(),
    })
}

impl LatenessKind {
    const fn words(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch lag",
            Self::Read => "read lag",
            Self::Compute => "the wait of flows for a thread to compute on",
        }
    }

    /// What whoever runs hammer can do about it, as a sentence without its full stop.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Dispatch => {
                "ask for less, give hammer cores that nobody else uses, or raise threads.shards; \
                 --tolerate-lag takes the figures as they are"
            }
            Self::Read => {
                "give hammer cores that nobody else uses, or raise threads.shards; --tolerate-lag takes the figures \
                 as they are"
            }
            Self::Compute => {
                "ask for fewer flows, or give hammer more cores; --tolerate-lag takes the figures as they are"
            }
        }
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, series, percentile, late, bound, .. } = self;
        let kind = kind.words();
        write!(f, "{kind} p{percentile} of {series} is {late}, over its bound of {bound}")
    }
}

/// The percentiles that a report is read for, the first that is spoiled being told.
const PERCENTILES: [u8; 3] = [99, 90, 50];
const LEAST_BOUND: Nanos = Nanos::from_millis(1);
/// Ten of which lie beyond the 99th percentile.
const ENOUGH: u64 = 1_000;

#[cfg(test)]
mod tests;
