//! Thresholds: what the plan expects of the figures, and the verdicts.
//!
//! `p99(response) < 500ms`, `mean(service) <= 20ms`, `rate(accepted) > 290/s`, `share(refused) < 0.1%`,
//! `count(broken) == 0`. A duration can be narrowed to one fate: `p99(response.accepted) < 500ms`. Times, rates and shares are
//! written as everywhere in a plan.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::histogram::{Distribution, Quantile};
use crate::outcome::Fate;
use crate::promise::Ledger;
use crate::recorder::SeriesRecord;
use crate::timing::Nanos;

mod parse;

pub use parse::ParseError;

/// One expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    text: String,
    measure: Measure,
    comparison: Comparison,
    bound: f64,
}

/// A judged threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The series it was held against (`workload/name`), or `total`.
    pub series: String,
    /// The threshold as the plan says it.
    pub threshold: String,
    /// The figure found, as printed; `none` when nothing was recorded. Of a duration that is beyond all that ended as meant, the longest of these
    /// or `never`, and how many did not: `never (5 of 5 not accepted)`.
    pub found: String,
    /// Whether it holds. Nothing holds no expectation: no duration that was never recorded, and no share or count of none.
    pub holds: bool,
    /// Whether the run was ended because of it.
    pub aborted: bool,
    /// What was found and the bound, in numbers.
    #[serde(default)]
    pub numbers: Option<JudgedNumbers>,
}

/// What was found and what it was held against, in one unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedNumbers {
    /// Of both.
    pub unit: ThresholdUnit,
    /// The figure found; none when nothing was recorded, and of a duration that is beyond all that ended.
    pub found: Option<f64>,
    /// Whether it is such a duration.
    pub is_beyond: bool,
    /// The bound.
    pub bound: f64,
}

/// The unit of a threshold's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThresholdUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// A second.
    PerSecond,
    /// Parts of one.
    Share,
    /// A count.
    Count,
}

/// What a threshold is held against.
#[derive(Clone, Copy, Debug)]
pub struct ThresholdFigures<'a> {
    /// What of the series was intended in measurement.
    pub record: &'a SeriesRecord,
    /// What ended within measurement, whatever phase it was intended in, by fate (see [`SeriesRecord::ended_within`]).
    pub ended: [u64; Fate::COUNT],
    /// Its response time, in which whatever ended in any other way than the series means never did.
    pub response: &'a Distribution,
    /// The promises of its workload.
    pub promises: &'a Ledger,
    /// The measured length in seconds.
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    Duration(Statistic, Kind, Option<Fate>),
    Rate(Count),
    Share(Count),
    Count(Count),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Statistic {
    Quantile(f64),
    Mean,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Response,
    Service,
    DispatchLag,
    BacklogWait,
    ConnectionWait,
    ClientTime,
    ReadLag,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Count {
    Offered,
    Dispatched,
    Completed,
    Resent,
    Redialled,
    Of(Fate),
    Made,
    Kept,
    Broken,
    Pending,
    Unchecked,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    Nothing,
    Duration(f64),
    /// Beyond the longest of those that have an end, and how many have none, of all.
    Beyond(Nanos, u64, u64),
    Number(f64),
}

impl Threshold {
    /// Holds the threshold against the figures of `series`.
    pub fn judge(&self, series: &str, figures: &ThresholdFigures<'_>) -> Verdict {
        let found = self.measure.of(figures);
        Verdict {
            series: series.to_owned(),
            threshold: self.text.clone(),
            found: self.print(found),
            holds: self.comparison.holds(found, self.bound),
            aborted: false,
            numbers: Some(self.numbers(found)),
        }
    }

    /// How it stands by figures of a run that goes on: its verdict, or nothing where nothing can be told yet (see [`Threshold::fails_midway`]).
    pub fn judge_midway(&self, series: &str, figures: &ThresholdFigures<'_>) -> Option<Verdict> {
        let (found, is_judged) = self.found_midway(figures);
        (is_judged && found != Found::Nothing).then(|| Verdict {
            series: series.to_owned(),
            threshold: self.text.clone(),
            found: self.print(found),
            numbers: Some(self.numbers(found)),
            holds: self.comparison.holds(found, self.bound),
            aborted: false,
        })
    }

    fn numbers(&self, found: Found) -> JudgedNumbers {
        let (found, is_beyond) = match found {
            Found::Duration(number) | Found::Number(number) => (Some(number), false),
            Found::Beyond(..) => (None, true),
            Found::Nothing => (None, false),
        };
        JudgedNumbers { unit: self.measure.unit(), found, is_beyond, bound: self.bound }
    }

    /// Whether figures of a run that goes on end it: there is something to judge, and it fails. Before anything has ended nothing can be
    /// told of operations, nor of promises before one has a verdict; and what is still under way is no part of what a share is of.
    pub fn fails_midway(&self, figures: &ThresholdFigures<'_>) -> bool {
        let (found, is_judged) = self.found_midway(figures);
        is_judged && found != Found::Nothing && !self.comparison.holds(found, self.bound)
    }

    /// What is found of what has ended, and whether anything can be judged by it.
    fn found_midway(&self, figures: &ThresholdFigures<'_>) -> (Found, bool) {
        let Ledger { made, pending, .. } = *figures.promises;
        let decided = Ledger { made: made - pending, pending: 0, ..*figures.promises };
        let promises = if self.measure.is_of_pending() { figures.promises } else { &decided };
        let ended: u64 = Fate::ALL.into_iter().map(|fate| figures.record.fate(fate)).sum();
        let found = match self.measure {
            Measure::Share(count @ Count::Of(_)) if ended > 0 => {
                Found::Number(count.of(figures) / ended as f64)
            }
            measure => measure.of(&ThresholdFigures { promises, ..*figures }),
        };
        (found, ended > 0 || self.measure.is_of_promises())
    }

    /// Whether it is of what adds up over the whole of measurement, and not of how a part of it went: a count, or what became of promises,
    /// which are kept long after they are made.
    pub fn adds_up(&self) -> bool {
        matches!(self.measure, Measure::Count(_)) || self.measure.is_of_promises()
    }

    /// Whether what it wants cannot be had without failures: `share(refused) >= 50%`, `count(timed_out) > 0`,
    /// `p99(response.refused) < 1s`, or fewer accepted than all: `share(accepted) < 10%`, `count(accepted) < 1`. What it bounds from
    /// above alone, a plan does without.
    pub fn expects_failures(&self) -> bool {
        let at_least_some = match self.comparison {
            Comparison::Above => self.bound >= 0.0,
            Comparison::AtLeast | Comparison::Equal => self.bound > 0.0,
            Comparison::Below | Comparison::AtMost => false,
        };
        // Of what is counted in whole numbers, or in shares of one.
        let less_than = |limit: f64| match self.comparison {
            Comparison::Below => self.bound <= limit,
            Comparison::AtMost | Comparison::Equal => self.bound < limit,
            Comparison::Above | Comparison::AtLeast => false,
        };
        match self.measure {
            Measure::Duration(_, _, fate) => fate.is_some_and(|fate| fate != Fate::Accepted),
            Measure::Share(Count::Of(Fate::Accepted)) | Measure::Count(Count::Of(Fate::Accepted)) => {
                less_than(1.0)
            }
            Measure::Rate(Count::Of(Fate::Accepted)) => self.bound == 0.0 && less_than(1.0),
            Measure::Rate(Count::Of(_)) | Measure::Share(Count::Of(_)) | Measure::Count(Count::Of(_)) => {
                at_least_some
            }
            _ => false,
        }
    }

    fn print(&self, found: Found) -> String {
        match (found, self.measure) {
            (Found::Nothing, _) => "none".to_owned(),
            (Found::Duration(nanos), _) => Nanos(nanos as u64).to_string(),
            (Found::Beyond(longest, endless, all), measure) => {
                let at = if longest == Nanos::ZERO { "never".to_owned() } else { format!("> {longest}") };
                let are = if measure.is_of_accepted() { "not accepted" } else { "without end" };
                format!("{at} ({endless} of {all} {are})")
            }
            (Found::Number(number), Measure::Rate(_)) => format!("{number:.1}/s"),
            (Found::Number(number), Measure::Share(_)) => format!("{:.3}%", number * 100.0),
            (Found::Number(number), _) => format!("{number}"),
        }
    }
}

impl Measure {
    fn of(self, figures: &ThresholdFigures<'_>) -> Found {
        match self {
            Self::Duration(statistic, kind, fate) => statistic.of(&kind.of(figures, fate)),
            // What ended was offered, in warm-up where not in measurement.
            Self::Rate(count) if figures.seconds > 0.0 && !count.is_of_nothing(figures) => {
                Found::Number(count.in_time(figures) / figures.seconds)
            }
            Self::Rate(_) => Found::Nothing,
            Self::Share(count) => match count.whole(figures) {
                0.0 => Found::Nothing,
                whole => Found::Number(count.of(figures) / whole),
            },
            Self::Count(count) => match count.counted_among(figures) {
                0.0 => Found::Nothing,
                _ => Found::Number(count.of(figures)),
            },
        }
    }

    const fn unit(self) -> ThresholdUnit {
        match self {
            Self::Duration(..) => ThresholdUnit::Nanoseconds,
            Self::Rate(_) => ThresholdUnit::PerSecond,
            Self::Share(_) => ThresholdUnit::Share,
            Self::Count(_) => ThresholdUnit::Count,
        }
    }

    /// Whether it is a time that only what was accepted has.
    const fn is_of_accepted(self) -> bool {
        matches!(self, Self::Duration(_, Kind::Response, None))
    }

    fn count(self) -> Option<Count> {
        match self {
            Self::Duration(..) => None,
            Self::Rate(count) | Self::Share(count) | Self::Count(count) => Some(count),
        }
    }

    fn is_of_promises(self) -> bool {
        self.count().is_some_and(Count::is_of_promises)
    }

    fn is_of_pending(self) -> bool {
        self.count() == Some(Count::Pending)
    }
}

impl Statistic {
    fn of(self, distribution: &Distribution) -> Found {
        let Some(summary) = distribution.summary() else { return Found::Nothing };
        let beyond = |longest| Found::Beyond(longest, summary.infinite, summary.count);
        match self {
            Self::Quantile(quantile) => match distribution.quantile(quantile) {
                Some(Quantile::At(nanos)) => Found::Duration(nanos.0 as f64),
                Some(Quantile::Beyond(longest)) => beyond(longest),
                None => Found::Nothing,
            },
            Self::Mean | Self::Max if summary.infinite > 0 => beyond(summary.max),
            Self::Min if summary.infinite == summary.count => beyond(summary.max),
            Self::Mean => Found::Duration(summary.mean),
            Self::Max => Found::Duration(summary.max.0 as f64),
            Self::Min => Found::Duration(summary.min.0 as f64),
        }
    }
}

impl Kind {
    fn of(self, figures: &ThresholdFigures<'_>, fate: Option<Fate>) -> Distribution {
        let record = figures.record;
        match (self, fate) {
            (Self::Response, Some(fate)) => record.response_time[fate as usize].clone(),
            (Self::Response, None) => figures.response.clone(),
            (Self::Service, _) => record.service_time.clone(),
            (Self::DispatchLag, _) => record.dispatch_lag.clone(),
            (Self::BacklogWait, _) => record.backlog_wait.clone(),
            (Self::ConnectionWait, _) => record.connection_wait.clone(),
            (Self::ClientTime, _) => record.client_time.clone(),
            (Self::ReadLag, _) => record.read_lag.clone(),
        }
    }
}

impl Count {
    fn of(self, figures: &ThresholdFigures<'_>) -> f64 {
        let count = match self {
            Self::Offered => figures.record.offered,
            Self::Dispatched => figures.record.dispatched,
            Self::Completed => figures.record.completed(),
            Self::Resent => figures.record.resent,
            Self::Redialled => figures.record.redialled,
            Self::Of(fate) => figures.record.fate(fate),
            Self::Made => figures.promises.made,
            Self::Kept => figures.promises.kept,
            Self::Broken => figures.promises.broken,
            Self::Pending => figures.promises.pending,
            Self::Unchecked => figures.promises.unchecked,
        };
        count as f64
    }

    /// What a rate is of: of what is completed, or has a fate that takes time, what ended within measurement; the rest by intention.
    fn in_time(self, figures: &ThresholdFigures<'_>) -> f64 {
        match self {
            Self::Completed => figures.ended.iter().sum::<u64>() as f64,
            Self::Of(fate) if fate.timed() => figures.ended[fate as usize] as f64,
            _ => self.of(figures),
        }
    }

    /// What a share of it is a share of: promises of the promises made, all else of the arrivals offered.
    fn whole(self, figures: &ThresholdFigures<'_>) -> f64 {
        if self.is_of_promises() { figures.promises.made as f64 } else { figures.record.offered as f64 }
    }

    /// Whether there was nothing that could have been so: no promise, or no operation.
    fn is_of_nothing(self, figures: &ThresholdFigures<'_>) -> bool {
        let ended: u64 = figures.ended.iter().sum();
        self.counted_among(figures) == 0.0 && (self.is_of_promises() && self != Self::Made || ended == 0)
    }

    const fn is_of_promises(self) -> bool {
        matches!(self, Self::Made | Self::Kept | Self::Broken | Self::Pending | Self::Unchecked)
    }

    /// What it is counted among: that no promise was made can be said of operations, and of promises alone what became of them.
    fn counted_among(self, figures: &ThresholdFigures<'_>) -> f64 {
        match self {
            Self::Made => figures.record.offered as f64,
            _ => self.whole(figures),
        }
    }
}

impl Comparison {
    fn holds(self, found: Found, bound: f64) -> bool {
        let value = match found {
            Found::Nothing => return false,
            Found::Duration(value) | Found::Number(value) => value,
            Found::Beyond(..) => f64::INFINITY,
        };
        match self {
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
            Self::Equal => value == bound,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Threshold {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse::threshold(text)
    }
}

#[cfg(test)]
mod tests;
