//! What the records of a series add up to, and how an end enters one.

use super::end_bounds::EndBounds;
use super::{Completion, SeriesRecord, answer, group, phase_index};
use crate::histogram::Distribution;
use crate::outcome::{Detail, Fate};
use crate::series::Phase;
use crate::timing::{Nanos, Timing};

impl SeriesRecord {
    /// Whether `offered` is the sum of all fates, the backlog and what is in flight.
    pub fn balances(&self) -> bool {
        let ended: u64 = self.fates.iter().sum();
        i64::try_from(self.offered) == i64::try_from(ended).map(|ended| ended + self.backlog + self.in_flight)
    }

    /// Ends of that fate.
    pub fn fate(&self, fate: Fate) -> u64 {
        self.fates[fate as usize]
    }

    /// Answers received, right or wrong.
    pub fn answered(&self) -> u64 {
        Fate::ALL.iter().filter(|fate| fate.answered()).map(|fate| self.fate(*fate)).sum()
    }

    /// Ends by fate, of those by an answer, a failure or a deadline, within a phase: of a series the sum over the records of both
    /// phases of intention. None are counted within drain.
    pub fn ended_within(records: &[Self; 2], phase: Phase) -> [u64; Fate::COUNT] {
        let mut ended = [0; Fate::COUNT];
        if phase != Phase::Drain {
            let of_records = records.iter().map(|record| &record.ended[phase_index(phase)]);
            of_records.for_each(|more| ended.iter_mut().zip(more).for_each(|(sum, more)| *sum += more));
        }
        ended
    }

    /// Bytes that crossed within a phase, as `[out, in]`: of a series the sum over the records of both phases of intention. None are counted
    /// within drain.
    pub fn crossed_within(records: &[Self; 2], phase: Phase) -> [u64; 2] {
        match phase {
            Phase::Drain => [0; 2],
            _ => [0, 1].map(|way| records.iter().map(|record| record.crossed[phase_index(phase)][way]).sum()),
        }
    }

    /// Operations that ended by an answer, a failure or their deadline.
    pub fn completed(&self) -> u64 {
        Fate::ALL.iter().filter(|fate| fate.timed()).map(|fate| self.fate(*fate)).sum()
    }

    /// Response times of all fates together.
    pub fn response_time(&self) -> Distribution {
        let mut all = Distribution::default();
        self.response_time.iter().for_each(|of_fate| all.merge(of_fate));
        all
    }

    /// How long it took until operations were served: accepted, or refused where that is meant. None that ended in another way ever was.
    pub fn response_time_where_served(&self, refusals_meant: bool) -> Distribution {
        let mut all = Distribution::default();
        for fate in Fate::ALL {
            let of_fate = &self.response_time[fate as usize];
            match fate {
                Fate::Accepted => all.merge(of_fate),
                Fate::Refused if refusals_meant => all.merge(of_fate),
                _ => all.merge_as_infinite(of_fate),
            }
        }
        all
    }

    /// Adds another record of the same series and phase.
    pub fn merge(&mut self, other: &Self) {
        self.offered += other.offered;
        self.dispatched += other.dispatched;
        self.backlog += other.backlog;
        self.in_flight += other.in_flight;
        // A million users come to the end of the type in five hours.
        self.user_time = self.user_time.saturating_add(other.user_time);
        group::merge(&mut self.groups, &other.groups);
        self.resent += other.resent;
        self.redialled += other.redialled;
        self.bytes_out += other.bytes_out;
        self.bytes_in += other.bytes_in;
        for (ours, theirs) in self.crossed.iter_mut().flatten().zip(other.crossed.iter().flatten()) {
            *ours += theirs;
        }
        self.dispatch_lag.merge(&other.dispatch_lag);
        self.backlog_wait.merge(&other.backlog_wait);
        self.connection_wait.merge(&other.connection_wait);
        self.service_time.merge(&other.service_time);
        self.client_time.merge(&other.client_time);
        self.read_lag.merge(&other.read_lag);
        self.compute_wait.merge(&other.compute_wait);
        for (ours, theirs) in self.ended.iter_mut().flatten().zip(other.ended.iter().flatten()) {
            *ours += theirs;
        }
        self.held_up.merge(&other.held_up);
        for fate in Fate::ALL {
            self.fates[fate as usize] += other.fates[fate as usize];
            self.response_time[fate as usize].merge(&other.response_time[fate as usize]);
        }
        other.causes.iter().for_each(|(fate, detail, count)| self.add_cause(*fate, *detail, *count));
        let more = other.answers.iter();
        more.for_each(|more| {
            answer::keep_first(&mut self.answers, more.fate, more.detail, more.at, &more.text);
        });
    }

    /// Forgets everything and keeps the allocations.
    pub fn clear(&mut self) {
        self.dispatch_lag.clear();
        self.backlog_wait.clear();
        self.connection_wait.clear();
        self.service_time.clear();
        self.client_time.clear();
        self.read_lag.clear();
        self.compute_wait.clear();
        self.held_up.clear();
        self.response_time.iter_mut().for_each(Distribution::clear);
        self.causes.clear();
        self.answers.clear();
        self.groups.clear();
        (self.offered, self.dispatched, self.backlog, self.in_flight) = (0, 0, 0, 0);
        (self.resent, self.redialled) = (0, 0);
        (self.user_time, self.bytes_out, self.bytes_in) = (Nanos::ZERO, 0, 0);
        self.fates = [0; Fate::COUNT];
        self.ended = [[0; Fate::COUNT]; 2];
        self.crossed = [[0; 2]; 2];
    }

    pub(super) fn end(&mut self, timing: &Timing, completion: &Completion, bounds: &EndBounds) {
        let within = bounds.phase_of(timing.done());
        let fate = Fate::from(completion.outcome);
        self.fates[fate as usize] += 1;
        self.resent += u64::from(completion.resent);
        self.redialled += u64::from(completion.redialled);
        self.bytes_out += completion.bytes_out;
        self.bytes_in += completion.bytes_in;
        self.cross([completion.bytes_out, completion.bytes_in], (timing.start(), timing.done()), bounds);
        self.add_cause(fate, completion.detail, 1);
        if let Some(held_up) = completion.held_up {
            self.held_up.ended(held_up, fate.timed().then(|| timing.response_time()));
        }
        if !fate.timed() {
            self.response_time[fate as usize].record_infinite();
            return;
        }
        if within != Phase::Drain {
            self.ended[phase_index(within)][fate as usize] += 1;
        }
        self.response_time[fate as usize].record(timing.response_time());
        if let Some(client) = timing.client_time() {
            self.client_time.record(client);
        }
        if let Some(lag) = completion.read_lag {
            self.read_lag.record(lag);
        }
        if completion.sent {
            self.connection_wait.record(timing.connection_wait());
            self.service_time.record(timing.service_time());
        } else {
            self.connection_wait.record(timing.connection_wait() + timing.service_time());
        }
    }

    fn cross(&mut self, bytes: [u64; 2], span: (Nanos, Nanos), bounds: &EndBounds) {
        // Nearly all operations begin and end in one phase, and to share each out takes a fifth of what recording takes.
        match bounds.only_phase_of(span) {
            Some(Phase::Drain) => {}
            Some(phase) => {
                let [bytes_out, bytes_in] = &mut self.crossed[phase_index(phase)];
                *bytes_out += bytes[0];
                *bytes_in += bytes[1];
            }
            None => {
                for phase in Phase::WITH_ARRIVALS {
                    for (sum, bytes) in self.crossed[phase_index(phase)].iter_mut().zip(bytes) {
                        *sum += bounds.share_of(bytes, span, phase);
                    }
                }
            }
        }
    }

    pub(super) fn add_cause(&mut self, fate: Fate, detail: Detail, count: u64) {
        if detail == Detail::None {
            return;
        }
        match self.causes.iter_mut().find(|(f, d, _)| *f == fate && *d == detail) {
            Some((_, _, known)) => *known += count,
            None => {
                // Sorted, so that the order in which records are merged leaves no trace.
                let place = self.causes.partition_point(|(f, d, _)| (*f, *d) < (fate, detail));
                self.causes.insert(place, (fate, detail, count));
            }
        }
    }
}
