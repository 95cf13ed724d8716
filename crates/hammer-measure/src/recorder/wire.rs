//! Records as they travel: what is read is what a recorder could have written, or an error.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::SeriesRecord;
use super::answer::{self, FirstAnswer};
use super::group::{self, GroupRecord};
use crate::histogram::{Distribution, MOST_COUNTED};
use crate::outcome::{Detail, Fate};
use crate::timing::Nanos;

impl Serialize for SeriesRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived one, which is no trait's.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for SeriesRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let record = Self::deserialize(deserializer)?;
        record.contradiction().map_or(Ok(record), |found| Err(D::Error::custom(found)))
    }
}

/// The records of all series, which hold no more memory than a run's own would.
pub(super) fn series<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<[SeriesRecord; 2]>, D::Error> {
    deserializer.deserialize_seq(SeriesVisitor)
}

struct SeriesVisitor;

impl<'de> Visitor<'de> for SeriesVisitor {
    type Value = Vec<[SeriesRecord; 2]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the records of series, two of each")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let (mut series, mut bytes) = (Vec::new(), 0);
        while let Some(records) = seq.next_element::<[SeriesRecord; 2]>()? {
            // A few bytes on the way can be a histogram of a quarter of a megabyte.
            bytes += records.iter().map(SeriesRecord::bytes).sum::<usize>();
            if bytes > MOST_BYTES {
                return Err(A::Error::custom("its histograms hold more than 128 MiB"));
            }
            series.push(records);
        }
        Ok(series)
    }
}

impl SeriesRecord {
    /// What of the record no recorder could have written beside the rest of it; `None` where all of it is one story.
    fn contradiction(&self) -> Option<&'static str> {
        if !self.is_bounded() {
            return Some("it counts more than any run does");
        }
        if !self.balances() {
            return Some("what was offered is not the sum of its fates, backlog and in-flight");
        }
        if Fate::ALL.iter().any(|fate| self.response_time[*fate as usize].count() != self.fate(*fate)) {
            return Some("a fate has more or fewer response times than ends");
        }
        if Fate::ALL.iter().any(|fate| !self.ends_are_of(*fate)) {
            return Some("a fate has more ends within the phases than ends");
        }
        let crossed = |way: usize| self.crossed.iter().map(|of_phase| of_phase[way]).sum::<u64>();
        if crossed(0) > self.bytes_out || crossed(1) > self.bytes_in {
            return Some("more bytes crossed within the phases than did at all");
        }
        let (lag, backlog) = (self.dispatch_lag.count(), self.backlog_wait.count());
        if lag != backlog || lag > self.dispatched {
            return Some("more or fewer waits were recorded than operations got a slot");
        }
        let completed = self.completed();
        let of_completed = [&self.service_time, &self.client_time, &self.read_lag].map(Distribution::count);
        if self.connection_wait.count() != completed || of_completed.iter().any(|count| *count > completed) {
            return Some("more or fewer parts of response times were recorded than operations ended");
        }
        if !self.held_up.is_of(self.fates.iter().sum(), self.fate(Fate::Shed)) {
            return Some("more operations were held up than ended");
        }
        if !group::are_whole(&self.groups) {
            return Some("a group of its users did what none could");
        }
        if !self.causes_are_of_fates() {
            return Some("its causes are not those of its fates");
        }
        let is_known = |answer: &FirstAnswer| {
            let at = self.causes.binary_search_by_key(&(answer.fate, answer.detail), |(f, d, _)| (*f, *d));
            at.is_ok() || answer.detail == Detail::None && self.fate(answer.fate) > 0
        };
        (!answer::are_bounded(&self.answers) || !self.answers.iter().all(is_known))
            .then_some("its answers are not those of its causes")
    }

    fn is_bounded(&self) -> bool {
        let counts =
            [self.offered, self.dispatched, self.resent, self.redialled, self.bytes_out, self.bytes_in];
        let changes = [self.backlog, self.in_flight].map(i64::unsigned_abs);
        let ended = self.ended.iter().flatten().copied();
        let of_groups = self.groups.iter().map(|group| group.completed);
        let crossed = self.crossed.iter().flatten().copied();
        let ended = ended.chain(of_groups).chain(crossed);
        let mut counts = counts.into_iter().chain(changes).chain(self.fates).chain(ended);
        counts.all(|count| count <= MOST_COUNTED) && self.user_time <= MOST_USER_TIME
    }

    /// Whether no more ended so within the phases than did at all, and of what is never timed nothing did.
    fn ends_are_of(&self, fate: Fate) -> bool {
        let within: u64 = self.ended.iter().map(|of_phase| of_phase[fate as usize]).sum();
        within <= if fate.timed() { self.fate(fate) } else { 0 }
    }

    /// Whether causes stand in their order, each once, and no fate has more of them than ends.
    fn causes_are_of_fates(&self) -> bool {
        let mut left = self.fates;
        let are_ends = self.causes.iter().all(|(fate, detail, count)| {
            let left = &mut left[*fate as usize];
            *detail != Detail::None && left.checked_sub(*count).map(|rest| *left = rest).is_some()
        });
        are_ends && self.causes.is_sorted_by(|(f, d, _), (g, e, _)| (f, d) < (g, e))
    }

    /// Bytes of memory.
    fn bytes(&self) -> usize {
        let waits = [&self.dispatch_lag, &self.backlog_wait, &self.connection_wait, &self.service_time];
        let more = [&self.client_time, &self.read_lag, &self.compute_wait];
        let all = waits.into_iter().chain(more).chain(&self.response_time);
        let answers = self.answers.iter().map(|answer| size_of::<FirstAnswer>() + answer.text.len());
        size_of::<Self>()
            + all.map(Distribution::bytes).sum::<usize>()
            + self.held_up.bytes()
            + answers.sum::<usize>()
            + self.groups.len() * size_of::<GroupRecord>()
    }
}

/// Of all series of an interval together: those of a run with a hundred series whose durations reach a second.
const MOST_BYTES: usize = 128 << 20;
/// A billion users for seventeen minutes, or fewer for longer.
const MOST_USER_TIME: Nanos = Nanos(1 << 60);
