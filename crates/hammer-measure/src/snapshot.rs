//! What reporters see each interval, and what a run leaves behind.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::connection::{PeerCounts, ServiceConnections};
use crate::headline::Headline;
use crate::health::Health;
use crate::histogram::{Distribution, Summary};
use crate::octaves::Octaves;
use crate::outcome::{Detail, Fate};
use crate::promise::{Breach, BreachEvidence, KindLedger, Ledger};
use crate::recorder::{FirstAnswer, Interval, SeriesRecord};
use crate::series::{Phase, SeriesInfo};
use crate::series_samples::SeriesSamples;
use crate::threshold::Verdict;
use crate::timing::Nanos;

/// The state of a run at the end of an interval.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The interval's number, from 0.
    pub index: u64,
    /// Its end.
    pub at: Nanos,
    /// Its length.
    pub span: Nanos,
    /// The phase that its middle lies in.
    pub phase: Phase,
    /// By series, in the order of the run's [`SeriesInfo`]s.
    pub series: Vec<SeriesSnapshot>,
    /// What went to each peer of the services that have several, over this interval.
    pub peers: Vec<PeerInterval>,
    /// By series, how long what ended in this interval took.
    pub responses: Vec<ResponseInterval>,
    /// By series and phase (see [`crate::recorder::phase_index`]), the operations that ended in this interval and are kept one by one; empty
    /// where none are.
    pub samples: Vec<[SeriesSamples; 2]>,
    /// Promises of all workloads, cumulative.
    pub promises: Ledger,
    /// What observers saw, first and last, by name.
    pub observations: Vec<Observation>,
    /// How each threshold stands by what of measurement has ended, where somebody looks on; those that nothing can be said of are left out.
    pub thresholds: Vec<Verdict>,
    /// Whether the figures so far can be believed.
    pub health: Health,
    /// How long the generator stood still, as it noticed in this interval; of several shards the mean.
    pub stood: Nanos,
    /// What the process used.
    pub resources: Resources,
}

/// One series at the end of an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesSnapshot {
    /// This interval alone, both phases together.
    pub interval: SeriesFigures,
    /// The warm-up phase so far.
    pub warm_up: SeriesFigures,
    /// The measurement phase so far.
    pub measurement: SeriesFigures,
}

/// How long operations of a series took that ended in an interval, both phases together.
#[derive(Clone, Debug, Default)]
pub struct ResponseInterval {
    /// Done − intended of what ended by an answer, a failure or its deadline.
    pub times: Distribution,
    /// Of a closed loop: the time that its users were present, added up over them. In a workload's first series alone.
    pub user_time: Nanos,
}

/// What went to a peer over an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerInterval {
    /// The service's name.
    pub service: String,
    /// The peer's address.
    pub peer: SocketAddr,
    /// What was counted of it.
    pub counts: PeerCounts,
}

/// The figures of one series over some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesFigures {
    /// Arrivals that the schedule named.
    pub offered: u64,
    /// Those that got a slot.
    pub dispatched: u64,
    /// Ended by an answer, a failure or a deadline.
    pub completed: u64,
    /// Ends by fate, indexed by `Fate as usize`.
    pub fates: [u64; Fate::COUNT],
    /// Waiting for a slot (over an interval: the change).
    pub backlog: i64,
    /// Under way (over an interval: the change).
    pub in_flight: i64,
    /// Of which bytes left this machine twice.
    pub resent: u64,
    /// Which went over to another connection before anything of them had left.
    pub redialled: u64,
    /// Bytes handed to connections.
    pub bytes_out: u64,
    /// Bytes read from connections.
    pub bytes_in: u64,
    /// Released − intended.
    pub dispatch_lag: Option<Summary>,
    /// Started − released.
    pub backlog_wait: Option<Summary>,
    /// Sent − started.
    pub connection_wait: Option<Summary>,
    /// Done − sent, done being the instant at which the kernel had the answer.
    pub service_time: Option<Summary>,
    /// What of a flow lies in none of its exchanges.
    pub client_time: Option<Summary>,
    /// Read − arrived: how late answers were read that the kernel had.
    pub read_lag: Option<Summary>,
    /// Done − intended, all fates.
    pub response_time: Option<Summary>,
    /// Done − intended of what ended, coarsely.
    pub response_octaves: Octaves,
    /// Ends but for those that were accepted, by cause, in the order of fate and detail.
    pub failures: Vec<(Fate, Detail, u64)>,
    /// What was first said with each cause, in the same order; of some causes nothing was.
    pub answers: Vec<FirstAnswer>,
}

/// A number that an observer saw: as it was seen last, and as it was seen first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// What it is (`tree_size`).
    pub name: String,
    /// When it was seen last; not before `first`.
    pub at: Nanos,
    /// Its value then.
    pub value: f64,
    /// The number as it was seen first.
    pub first: FirstSight,
}

/// What a number was when it was first seen: the start of all growth that is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstSight {
    /// When it was.
    pub at: Nanos,
    /// The value.
    pub value: f64,
}

/// What the generator's own process used, since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// User CPU seconds.
    pub cpu_user: f64,
    /// System CPU seconds.
    pub cpu_system: f64,
    /// Resident memory, bytes.
    pub rss_bytes: u64,
    /// Greatest resident memory, bytes.
    pub max_rss_bytes: u64,
    /// Open descriptors.
    pub descriptors: u64,
    /// The limit of descriptors.
    pub descriptor_limit: u64,
    /// Cores that the process may use.
    pub cores: u32,
    /// What its machine and its control group did meanwhile.
    pub surroundings: Surroundings,
}

/// What took processors from the generator, since some instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Cores that a quota of its control group, or of one around that, leaves it, no more than it may run on; none where there is no quota.
    pub quota: Option<f64>,
    /// Seconds for which a quota held back what could run, added up over cores.
    pub throttled: f64,
    /// CPU seconds that the host of the machine gave to others.
    pub stolen: f64,
    /// Seconds in which something on the machine waited for a processor.
    pub pressed: f64,
}

/// What a run was, before any of its figures.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// By series, in the order of every snapshot.
    pub series: Vec<SeriesInfo>,
    /// The observations that a report names first, in that order.
    pub headlines: Vec<Headline>,
    /// Shards that send.
    pub shards: usize,
    /// The seed of everything that is drawn or minted.
    pub seed: u64,
    /// The wall clock at the run's epoch, milliseconds since the Unix epoch.
    pub epoch_unix_ms: u64,
    /// Planned length of warm-up.
    pub warm_up: Nanos,
    /// Planned length of measurement; `None` when something else stops it.
    pub measurement: Option<Nanos>,
    /// How many operations are to be accepted, where the run is a fill.
    pub goal: Option<u64>,
}

/// What a run leaves behind.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Everything recorded, by series and phase.
    pub total: Interval,
    /// The actual phases, each with its start and end.
    pub phases: Vec<(Phase, Nanos, Nanos)>,
    /// Promises of all workloads.
    pub promises: Ledger,
    /// Promises by workload.
    pub promises_by_workload: Vec<(String, Ledger)>,
    /// Promises by workload and kind.
    pub promises_by_kind: Vec<KindLedger>,
    /// What shows of the first broken promises that they are broken, bounded in bytes.
    pub evidence: Vec<BreachEvidence>,
    /// The first broken promises, named; `promises.broken` counts them all.
    pub breaches: Vec<Breach>,
    /// What observers saw, first and last.
    pub observations: Vec<Observation>,
    /// Whether the figures can be believed.
    pub health: Health,
    /// What the process used over the run.
    pub resources: Resources,
    /// The thresholds, judged.
    pub verdicts: Vec<Verdict>,
    /// Why the arrivals ended: [`Self::AS_PLANNED`], [`Self::INTERRUPTED`], or in other words.
    pub stopped: String,
    /// Whether a signal, or a key that means the same, ended it.
    pub interrupted: bool,
}

impl ResponseInterval {
    /// That of a record.
    pub fn of(record: &SeriesRecord) -> Self {
        let mut times = Distribution::default();
        let timed = Fate::ALL.into_iter().filter(|fate| fate.timed());
        timed.for_each(|fate| times.merge(&record.response_time[fate as usize]));
        Self { times, user_time: record.user_time }
    }
}

impl PeerInterval {
    /// Every peer of the services that have several so far, in the order of services and addresses.
    pub fn all(connections: &[ServiceConnections]) -> Vec<Self> {
        let several = connections.iter().filter(|of_service| of_service.record.peers.len() > 1);
        let peers = several.flat_map(|of_service| {
            let service = &of_service.service;
            of_service.record.peers.iter().map(|of| {
                let counts = of.record.counts;
                Self { service: service.clone(), peer: of.peer, counts }
            })
        });
        peers.collect()
    }
}

impl Observation {
    /// A number that was seen once.
    pub fn new(name: impl Into<String>, at: Nanos, value: f64) -> Self {
        Self { name: name.into(), at, value, first: FirstSight { at, value } }
    }

    /// Adds what else was seen of it, before or after.
    fn merge(&mut self, more: &Self) {
        if more.first.precedes(self.first) {
            self.first = more.first;
        }
        if more.at >= self.at {
            (self.at, self.value) = (more.at, more.value);
        }
    }
}

impl FirstSight {
    /// Nothing can have grown from what is no number.
    fn precedes(self, other: Self) -> bool {
        self.value.is_finite() && (self.at < other.at || !other.value.is_finite())
    }
}

/// Adds what was seen elsewhere, or at another time: of each name the earliest is the first, and the latest the last.
pub fn add_observation(all: &mut Vec<Observation>, more: Observation) {
    match all.iter_mut().find(|known| known.name == more.name) {
        Some(known) => known.merge(&more),
        None => all.push(more),
    }
}

impl SeriesFigures {
    /// The figures of a record.
    pub fn of(record: &SeriesRecord) -> Self {
        let response_time = record.response_time();
        Self {
            offered: record.offered,
            dispatched: record.dispatched,
            completed: record.completed(),
            fates: record.fates,
            backlog: record.backlog,
            in_flight: record.in_flight,
            resent: record.resent,
            redialled: record.redialled,
            bytes_out: record.bytes_out,
            bytes_in: record.bytes_in,
            dispatch_lag: record.dispatch_lag.summary(),
            backlog_wait: record.backlog_wait.summary(),
            connection_wait: record.connection_wait.summary(),
            service_time: record.service_time.summary(),
            client_time: record.client_time.summary(),
            read_lag: record.read_lag.summary(),
            response_time: response_time.summary(),
            response_octaves: response_time.octaves(),
            failures: record.causes.iter().filter(|(fate, ..)| *fate != Fate::Accepted).copied().collect(),
            answers: record.answers.clone(),
        }
    }

    /// Whether `offered` is the sum of all fates, the backlog and what is in flight.
    pub fn balances(&self) -> bool {
        let ended: u64 = self.fates.iter().sum();
        i64::try_from(self.offered) == i64::try_from(ended).map(|ended| ended + self.backlog + self.in_flight)
    }

    /// Ends of that fate.
    pub fn fate(&self, fate: Fate) -> u64 {
        self.fates[fate as usize]
    }

    /// What was first said with ends of that cause.
    pub fn answer(&self, fate: Fate, detail: Detail) -> Option<&FirstAnswer> {
        self.answers.iter().find(|answer| (answer.fate, answer.detail) == (fate, detail))
    }
}

impl RunResult {
    /// How arrivals end that nothing ended before their time.
    pub const AS_PLANNED: &'static str = "as planned";
    /// How they end that a key of the dashboard ended.
    pub const BY_KEY: &'static str = "a key of the dashboard";
    /// How they end that a signal ended.
    pub const INTERRUPTED: &'static str = "interrupted by a signal";

    /// The measured length: the measurement phase's end less its start, in seconds.
    pub fn measured_seconds(&self) -> f64 {
        let measured = self.phases.iter().find(|(phase, _, _)| *phase == Phase::Measurement);
        measured.map_or(0.0, |(_, start, end)| end.since(*start).as_secs_f64())
    }
}

impl Resources {
    /// User and system CPU seconds.
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu_user + self.cpu_system
    }

    /// Cores that the process has at most, in parts of one where a quota says so.
    pub fn available_cores(&self) -> f64 {
        let quota = self.surroundings.quota.filter(|quota| *quota > 0.0);
        quota.unwrap_or_else(|| f64::from(self.cores.max(1)))
    }
}

#[cfg(test)]
mod tests;
