//! Operations that the generator itself was in the way of.

use serde::{Deserialize, Serialize};

use crate::histogram::Distribution;
use crate::timing::Nanos;

/// What the generator held an operation up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldUp {
    /// For how long, as far as that is known for sure.
    pub time: Nanos,
    /// By what.
    pub by: HeldUpBy,
}

/// What of the generator was in an operation's way; the graver part of it where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldUpBy {
    /// Its thread did not run.
    Standstill,
    /// Its answers were read late, though the thread ran.
    Reading,
    /// Supply had not prepared it.
    Supply,
}

/// The operations of a series that the generator held up: it stood still in their time, or read their answers late.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldUpRecord {
    /// For how long each was.
    pub times: Distribution,
    /// Done − intended of the same operations.
    pub response_time: Distribution,
    /// Those whose answers were read late while the thread ran.
    pub by_reading: u64,
    /// Those that waited for supply.
    pub by_supply: u64,
    /// Those that were shed: the backlog had room, and was full before their turn came.
    pub shed: u64,
}

impl HeldUpRecord {
    /// One ended after `response_time`; `None` where it never did.
    pub(super) fn ended(&mut self, held_up: HeldUp, response_time: Option<Nanos>) {
        self.times.record(held_up.time);
        match held_up.by {
            HeldUpBy::Standstill => {}
            HeldUpBy::Reading => self.by_reading += 1,
            HeldUpBy::Supply => self.by_supply += 1,
        }
        match response_time {
            Some(time) => self.response_time.record(time),
            None => self.response_time.record_infinite(),
        }
    }

    /// One was shed, `late` behind its instant.
    pub(super) fn shed(&mut self, late: Nanos) {
        self.ended(HeldUp { time: late, by: HeldUpBy::Standstill }, None);
        self.shed += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.response_time.merge(&other.response_time);
        self.by_reading += other.by_reading;
        self.by_supply += other.by_supply;
        self.shed += other.shed;
    }

    /// Forgets everything and keeps the allocations.
    pub(super) fn clear(&mut self) {
        self.times.clear();
        self.response_time.clear();
        (self.by_reading, self.by_supply, self.shed) = (0, 0, 0);
    }

    /// Whether a recorder could have written it of a series of which so many `ended`, and so many of them were `shed`.
    pub(super) fn is_of(&self, ended: u64, shed: u64) -> bool {
        let held_up = self.times.count();
        let is_whole = self.times.infinite() == 0 && self.response_time.count() == held_up;
        let parts =
            [self.by_reading, self.by_supply, self.shed].into_iter().try_fold(0_u64, u64::checked_add);
        is_whole && held_up <= ended && self.shed <= shed && parts.is_some_and(|parts| parts <= held_up)
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.times.bytes() + self.response_time.bytes()
    }
}
