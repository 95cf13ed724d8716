//! Whether what the generator held up spoils the figures of a series.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::histogram::{Distribution, Quantile};
use crate::outcome::Fate;
use crate::recorder::{HeldUpRecord, SeriesRecord};
use crate::timing::Nanos;

use super::{FEWEST, LONG, SLICES};

/// The operations of a series that the generator held up, so many or for so long that its figures tell of that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standstill {
    /// The series, as `workload/name`.
    pub series: String,
    /// How many it held up.
    pub count: u64,
    /// How many ended.
    pub of: u64,
    /// The longest that it held one of them up.
    pub longest: Nanos,
    /// The 99th percentile of the response time of those that it did not hold up; `None` where there are none.
    pub free_p99: Option<Quantile>,
    /// What it was.
    pub causes: Vec<StandstillCause>,
}

/// Why operations were held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandstillCause {
    /// A thread that sends did not run.
    StoodStill,
    /// Answers were read late by a thread that ran.
    ReadLate,
    /// Supply had not prepared what users waited for.
    Supply,
    /// Arrivals that came late and together found the backlog full, which had room for them one by one.
    Shed,
}

impl Standstill {
    /// That of the series of this name, where there is one: operations that were held up for no longer than `slice` are none by their
    /// number alone.
    pub fn of(series: &str, record: &SeriesRecord, slice: Nanos) -> Option<Self> {
        let held_up = &record.held_up;
        let count = held_up.times.count();
        if count == 0 {
            return None;
        }
        let free = record.response_time().without(&held_up.response_time);
        let of: u64 = record.fates.iter().sum();
        let is_shed =
            held_up.shed >= FEWEST && held_up.shed.saturating_mul(SHED_OF) > record.fate(Fate::Shed);
        (is_shed || spoils(held_up, &free, of, slice)).then(|| Self {
            series: series.to_owned(),
            count,
            of,
            longest: held_up.times.longest(),
            free_p99: free.quantile(0.99),
            causes: causes(held_up),
        })
    }

    /// What whoever runs hammer can do about it, as a sentence without its full stop.
    pub(super) fn remedy(&self) -> &'static str {
        match self.causes.first() {
            Some(StandstillCause::Supply) => "raise threads.supply, or have fewer users",
            Some(StandstillCause::ReadLate) => "raise threads.shards, or ask for less",
            _ => "give hammer cores that nobody else uses; --tolerate-lag takes the figures as they are",
        }
    }
}

/// Arrivals that were shed since they came late are a finding where they are over a tenth of all that were: of an overloaded target a few are late
/// by chance, and would have been shed anyway.
const SHED_OF: u64 = 10;

/// Whether operations that were held up are so many, or one of them was for so long, that the figures of all `of` them tell of it.
fn spoils(held_up: &HeldUpRecord, free: &Distribution, of: u64, slice: Nanos) -> bool {
    let typical = free.quantile(0.5).or_else(|| held_up.response_time.quantile(0.5));
    // Five percent of what never ended is longer than every standstill.
    let share = Nanos(typical.map_or(Nanos::ZERO, Quantile::nanos).0 / 20);
    let above = |least: Nanos| held_up.times.count_above(least.max(share));
    let (longest, many) = (held_up.times.longest(), above(slice));
    let is_often = many >= FEWEST && many.saturating_mul(100) > of;
    let is_beyond_others = longest > LONG && free.quantile(0.99).is_some_and(|p99| longest > p99.nanos());
    let are_noticed = slice <= SLICES && above(NOTICED) >= FEWEST;
    let none_is_free = free.count() == 0 && (many > 0 || are_noticed);
    is_often || is_beyond_others || none_is_free
}

fn causes(held_up: &HeldUpRecord) -> Vec<StandstillCause> {
    let HeldUpRecord { times, by_reading, by_supply, shed, .. } = held_up;
    let by_standing = times.count() - by_reading - by_supply - shed;
    let causes = [
        (by_standing, StandstillCause::StoodStill),
        (*by_reading, StandstillCause::ReadLate),
        (*by_supply, StandstillCause::Supply),
        (*shed, StandstillCause::Shed),
    ];
    causes.into_iter().filter(|(count, _)| *count > 0).map(|(_, cause)| cause).collect()
}

impl StandstillCause {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StoodStill => "stood_still",
            Self::ReadLate => "read_late",
            Self::Supply => "supply",
            Self::Shed => "shed",
        }
    }

    /// What happened, as a sentence without its full stop.
    pub const fn words(self) -> &'static str {
        match self {
            Self::StoodStill => "a thread that sends stood still",
            Self::ReadLate => "answers were read late",
            Self::Supply => "supply had not prepared what users waited for",
            Self::Shed => "arrivals came late and together, and found the backlog full",
        }
    }
}

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { series, count, of, longest, causes, .. } = self;
        let words: Vec<&str> = causes.iter().map(|cause| cause.words()).collect();
        let words = words.join("; ");
        write!(f, "hammer held up {count} of {of} operations of {series}, for {longest} at most: {words}")
    }
}

/// What anybody would notice who holds operations against others that were free of it.
const NOTICED: Nanos = Nanos::from_millis(1);

#[cfg(test)]
mod tests;
