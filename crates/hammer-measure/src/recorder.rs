//! The shard's own recorder: counters and histograms by series and phase. No lock: it has one writer, and each
//! interval is swapped out whole.

use serde::{Deserialize, Serialize};

use crate::connection::{self, ConnectionLog, ServiceConnections};
use crate::histogram::Distribution;
use crate::operation_sample::OperationSample;
use crate::outcome::{Detail, Fate, Outcome};
use crate::series::Phase;
use crate::series_samples::{SampleCandidate, SampleSizes, SeriesSamples};
use crate::timing::{Nanos, Timing};

mod alarm;
mod answer;
mod end_bounds;
mod group;
mod held_up;
mod series_record;
mod wire;

pub use alarm::{AlarmRecord, LateAlarm};
pub use answer::{FirstAnswer, MOST_ANSWER_BYTES, MOST_ANSWERS, start_of};
pub use end_bounds::EndBounds;
pub use group::{GroupRecord, MOST_GROUPS, UserGroup};
pub use held_up::{HeldUp, HeldUpBy, HeldUpRecord};

/// Everything counted about one series in one phase over some time. Records add up: over shards and over intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct SeriesRecord {
    /// Arrivals that the schedule named.
    pub offered: u64,
    /// Those that got a slot.
    pub dispatched: u64,
    /// Ends by fate, indexed by `Fate as usize`.
    pub fates: [u64; Fate::COUNT],
    /// Of the ends by an answer, a failure or a deadline those within warm-up and those within measurement (see [`phase_index`]),
    /// whatever phase they were intended in, by fate. What is in neither ended in drain.
    pub ended: [[u64; Fate::COUNT]; 2],
    /// Change of the number that waits for a slot; over the whole run, the number that waits.
    pub backlog: i64,
    /// Change of the number under way; over the whole run, the number under way.
    pub in_flight: i64,
    /// Of a closed loop: the time that its users were present, added up over them. In a workload's first series alone.
    pub user_time: Nanos,
    /// Of a closed loop whose users are counted by group: each group. In a workload's first series alone, of all of them.
    pub groups: Vec<GroupRecord>,
    /// Operations and steps whose bytes left this machine twice, since the server had provably not read them or the plan allows it.
    pub resent: u64,
    /// Operations and steps that went over to another connection before anything of them had left.
    pub redialled: u64,
    /// Bytes handed to connections.
    pub bytes_out: u64,
    /// Bytes read from connections.
    pub bytes_in: u64,
    /// Of these bytes those that crossed within warm-up and those within measurement (see [`phase_index`]), whatever phase their operation
    /// was intended in, as `[out, in]`; bytes of an operation are spread evenly from its start to its end. What is in neither crossed in drain.
    pub crossed: [[u64; 2]; 2],
    /// Released − intended, of what was dispatched.
    pub dispatch_lag: Distribution,
    /// Started − released, of what was dispatched.
    pub backlog_wait: Distribution,
    /// Sent − started, or until the failure of what was never sent.
    pub connection_wait: Distribution,
    /// Done − sent, of what was sent.
    pub service_time: Distribution,
    /// What of a flow lies in none of its exchanges; operations of a single exchange are not in it.
    pub client_time: Distribution,
    /// How much later than the kernel had them answers were read, added up over the exchanges of a flow; no part of response time.
    pub read_lag: Distribution,
    /// How long computing in the middle of a flow waited for a thread.
    pub compute_wait: Distribution,
    /// Of which the generator itself was in the way.
    pub held_up: HeldUpRecord,
    /// Done − intended by fate, indexed by `Fate as usize`.
    pub response_time: [Distribution; Fate::COUNT],
    /// Ends by cause, in the order of fate and detail; few kinds, so a list.
    pub causes: Vec<(Fate, Detail, u64)>,
    /// What servers said with the first end of a cause, in the same order; of the first [`MOST_ANSWERS`] causes alone.
    pub answers: Vec<FirstAnswer>,
}

/// How an execution ended, beside its instants.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The answer as said.
    pub outcome: Outcome,
    /// The cause behind it.
    pub detail: Detail,
    /// Whether a first byte was ever sent.
    pub sent: bool,
    /// How much later than the kernel had it the answer was read; `None` where there was none. Of a flow the sum over its exchanges.
    pub read_lag: Option<Nanos>,
    /// What the generator itself held it up by; `None` where that is nothing anybody would notice, and of steps.
    pub held_up: Option<HeldUp>,
    /// Whether its bytes left this machine twice.
    pub resent: bool,
    /// Whether it went over to another connection before anything of it had left.
    pub redialled: bool,
    /// Bytes handed to connections.
    pub bytes_out: u64,
    /// Bytes read from connections.
    pub bytes_in: u64,
}

/// What a shard recorded over one interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Its end.
    pub at: Nanos,
    /// By series, then by phase (see [`phase_index`]).
    #[serde(deserialize_with = "wire::series")]
    pub series: Vec<[SeriesRecord; 2]>,
    /// What became of connections, by service, in the order of their names.
    #[serde(deserialize_with = "connection::services")]
    pub connections: Vec<ServiceConnections>,
    /// The alarms of shards, by phase (see [`phase_index`]).
    pub alarms: [AlarmRecord; 2],
    /// How long the threads of shards ran in warm-up and in measurement, added up over them; what they ran in drain is in neither.
    pub ran: [Nanos; 2],
    /// The operations that are kept one by one, by series and phase; empty where none are. They stay in the process that carried them out.
    #[serde(skip)]
    pub samples: Vec<[SeriesSamples; 2]>,
}

/// A shard's counters and histograms.
#[derive(Debug)]
pub struct Recorder {
    interval: Interval,
    bounds: EndBounds,
    connections: Vec<(String, ConnectionLog)>,
    /// How many operations are kept one by one, where any are.
    samples: Option<SampleSizes>,
}

/// The index of a phase's records; operations are never intended in drain.
pub const fn phase_index(phase: Phase) -> usize {
    match phase {
        Phase::WarmUp => 0,
        Phase::Measurement | Phase::Drain => 1,
    }
}

impl Interval {
    /// Room for `series` series.
    pub fn with_series(series: usize) -> Self {
        let series = vec![<[SeriesRecord; 2]>::default(); series];
        Self {
            at: Nanos::ZERO,
            series,
            connections: Vec::new(),
            alarms: Default::default(),
            ran: [Nanos::ZERO; 2],
            samples: Vec::new(),
        }
    }

    /// Forgets everything and keeps the allocations.
    pub fn clear(&mut self) {
        self.at = Nanos::ZERO;
        self.series.iter_mut().flatten().for_each(SeriesRecord::clear);
        self.connections.iter_mut().for_each(|of_service| of_service.record.clear());
        self.alarms.iter_mut().for_each(AlarmRecord::clear);
        self.ran = [Nanos::ZERO; 2];
        self.samples.iter_mut().flatten().for_each(SeriesSamples::clear);
    }

    /// Adds what another shard, or a later interval, recorded.
    pub fn merge(&mut self, other: &Self) {
        self.at = self.at.max(other.at);
        for (ours, theirs) in self.series.iter_mut().zip(&other.series) {
            ours[0].merge(&theirs[0]);
            ours[1].merge(&theirs[1]);
        }
        for theirs in &other.connections {
            connection::record_of(&mut self.connections, &theirs.service).merge(&theirs.record);
        }
        self.alarms.iter_mut().zip(&other.alarms).for_each(|(ours, theirs)| ours.merge(theirs));
        self.ran.iter_mut().zip(other.ran).for_each(|(ours, theirs)| *ours = ours.saturating_add(theirs));
        if self.samples.len() < other.samples.len() {
            self.samples.resize_with(other.samples.len(), Default::default);
        }
        let samples = self.samples.iter_mut().flatten().zip(other.samples.iter().flatten());
        samples.for_each(|(ours, theirs)| ours.merge(theirs));
    }
}

impl Recorder {
    /// A recorder of `series` series, of a run that is all measurement until its bounds are told.
    pub fn new(series: usize) -> Self {
        let (interval, bounds) = (Interval::with_series(series), EndBounds::default());
        Self { interval, bounds, connections: Vec::new(), samples: None }
    }

    /// Keeps so many operations of each series, phase and interval one by one from now on.
    pub fn keep_samples(&mut self, sizes: SampleSizes) {
        self.samples = Some(sizes);
    }

    /// Counts ends by these bounds from now on.
    pub fn bound(&mut self, bounds: EndBounds) {
        self.bounds = bounds;
    }

    /// Arrivals end at `at`, unless they did before: what is done from then on is done in drain.
    pub fn end_arrivals(&mut self, at: Nanos) {
        self.bounds.arrivals_end = self.bounds.arrivals_end.min(at);
    }

    /// The log of a service's connections: the same for the same name.
    pub fn connections(&mut self, service: &str) -> ConnectionLog {
        let known = self.connections.iter().find(|(name, _)| name == service);
        let known = known.map(|(_, log)| log.clone());
        known.unwrap_or_else(|| {
            let log = ConnectionLog::default();
            self.connections.push((service.to_owned(), log.clone()));
            log
        })
    }

    /// The schedule named an arrival. It must be followed by [`Recorder::shed`], [`Recorder::starve`] or
    /// [`Recorder::queue`].
    pub fn offer(&mut self, series: usize, phase: Phase) {
        self.record(series, phase).offered += 1;
    }

    /// The backlog was full.
    pub fn shed(&mut self, series: usize, phase: Phase) {
        self.never_ended(series, phase, Fate::Shed);
    }

    /// The backlog had room, and was full before an arrival's turn came, `late` behind its instant.
    pub fn shed_late(&mut self, series: usize, phase: Phase, late: Nanos) {
        self.shed(series, phase);
        self.record(series, phase).held_up.shed(late);
    }

    /// It was due and not prepared.
    pub fn starve(&mut self, series: usize, phase: Phase) {
        self.never_ended(series, phase, Fate::Starved);
    }

    /// It waits for a slot.
    pub fn queue(&mut self, series: usize, phase: Phase) {
        self.record(series, phase).backlog += 1;
    }

    /// It left the backlog for a slot.
    pub fn start(&mut self, series: usize, phase: Phase, timing: &Timing) {
        let record = self.record(series, phase);
        record.backlog -= 1;
        record.in_flight += 1;
        record.dispatched += 1;
        record.dispatch_lag.record(timing.dispatch_lag());
        record.backlog_wait.record(timing.backlog_wait());
    }

    /// It ended by an answer, a failure or its deadline.
    pub fn finish(&mut self, series: usize, phase: Phase, timing: &Timing, completion: &Completion) {
        let bounds = self.bounds;
        let record = self.record(series, phase);
        record.in_flight -= 1;
        record.end(timing, completion, &bounds);
    }

    /// Drain ended while it waited for a slot.
    pub fn abandon_queued(&mut self, series: usize, phase: Phase) {
        let record = self.record(series, phase);
        record.backlog -= 1;
        record.add_cause(Fate::Abandoned, QUEUED_AT_THE_END, 1);
        self.never_ended(series, phase, Fate::Abandoned);
    }

    /// Drain ended while it was under way.
    pub fn abandon_in_flight(&mut self, series: usize, phase: Phase) {
        self.record(series, phase).in_flight -= 1;
        self.never_ended(series, phase, Fate::Abandoned);
    }

    /// One step within an operation ended; steps have no backlog and are offered as they start.
    pub fn step(&mut self, series: usize, phase: Phase, timing: &Timing, completion: &Completion) {
        let bounds = self.bounds;
        let record = self.record(series, phase);
        record.offered += 1;
        record.dispatched += 1;
        record.end(timing, completion, &bounds);
    }

    /// The server said `text` with an end of that fate and cause, at `at`: kept where it is the first.
    pub fn answered(
        &mut self,
        series: usize,
        phase: Phase,
        (fate, detail): (Fate, Detail),
        at: Nanos,
        text: &str,
    ) {
        let answers = &mut self.record(series, phase).answers;
        answer::keep_first(answers, fate, detail, at, text);
    }

    /// Whether what is said with an end of that fate and cause, later than all others, is not kept: that of an earlier one is, or there are
    /// too many causes before it.
    pub fn is_answered(&self, series: usize, phase: Phase, (fate, detail): (Fate, Detail)) -> bool {
        answer::is_known(&self.interval.series[series][phase_index(phase)].answers, fate, detail)
    }

    /// An operation has its fate, and may be kept for itself, which `write` writes down then. Told of every operation of a recorder that
    /// keeps any, and of none of another.
    pub fn sample(
        &mut self,
        series: usize,
        phase: Phase,
        candidate: SampleCandidate,
        write: impl Fn(&mut OperationSample),
    ) {
        let Some(sizes) = self.samples else { return };
        let Interval { series: of_run, samples, .. } = &mut self.interval;
        if samples.len() < of_run.len() {
            samples.resize_with(of_run.len(), || [0, 1].map(|_| SeriesSamples::new(sizes)));
        }
        samples[series][phase_index(phase)].offer(candidate, write);
    }

    /// Users of a closed loop were present for `time`, added up over them; told of the workload's first series.
    pub fn present(&mut self, first_series: usize, phase: Phase, time: Nanos) {
        let record = self.record(first_series, phase);
        record.user_time = record.user_time.saturating_add(time);
    }

    /// An operation of a user of `group` ended; told of the workload's first series.
    pub fn ended_in_group(
        &mut self,
        first_series: usize,
        phase: Phase,
        group: UserGroup,
        timing: &Timing,
        outcome: Outcome,
    ) {
        group::record_of(&mut self.record(first_series, phase).groups, group).ended(timing, outcome);
    }

    /// What a flow gave to the crew to compute was taken up after `waited`.
    pub fn computed(&mut self, series: usize, phase: Phase, waited: Nanos) {
        self.record(series, phase).compute_wait.record(waited);
    }

    /// An alarm of the shard was heard.
    pub fn alarm(&mut self, phase: Phase, alarm: LateAlarm) {
        self.interval.alarms[phase_index(phase)].heard(alarm);
    }

    /// The shard's thread had a processor for `time` until `now`.
    pub fn ran(&mut self, now: Nanos, time: Nanos) {
        let phase = self.bounds.phase_of(now);
        if phase != Phase::Drain {
            let ran = &mut self.interval.ran[phase_index(phase)];
            *ran = ran.saturating_add(time);
        }
    }

    /// Hands out what was recorded since the last call, as of an interval that ends at `at`, and goes on in `empty`.
    ///
    /// `empty` must be clear and of as many series.
    pub fn swap(&mut self, at: Nanos, empty: Interval) -> Interval {
        debug_assert_eq!(
            empty.series.len(),
            self.interval.series.len(),
            "intervals of one run have one shape"
        );
        let mut full = std::mem::replace(&mut self.interval, empty);
        full.at = at;
        self.connections.iter().for_each(|(service, log)| {
            log.swap(connection::record_of(&mut full.connections, service));
        });
        debug_assert!(
            full.series.iter().flatten().all(SeriesRecord::balances),
            "fates must balance in every interval"
        );
        full
    }

    fn never_ended(&mut self, series: usize, phase: Phase, fate: Fate) {
        let record = self.record(series, phase);
        record.fates[fate as usize] += 1;
        record.response_time[fate as usize].record_infinite();
    }

    fn record(&mut self, series: usize, phase: Phase) -> &mut SeriesRecord {
        &mut self.interval.series[series][phase_index(phase)]
    }
}

/// Why an operation was abandoned that waited for a slot until drain was over.
pub const QUEUED_AT_THE_END: Detail = Detail::Failure("end of drain, never sent");

#[cfg(test)]
mod tests;
