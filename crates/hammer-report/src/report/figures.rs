//! The figures of a report: nanoseconds that may be unbounded, durations, fates and rates.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Add, Sub};

use hammer_measure::histogram::{Distribution, Quantile, Summary};
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::{Fate, Nanos, snapshot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure in nanoseconds: an integer, or `{"beyond_ns": n}` where it falls on arrivals that never ended and all
/// that is known is that it lies beyond n. Never a bare number then, so that no comparison or sum can mistake it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Nanoseconds {
    /// It is this long.
    At(u64),
    /// It is longer than this, without a known end.
    Beyond {
        /// The longest known, nanoseconds.
        beyond_ns: u64,
    },
}

/// Durations of one kind over some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Durations {
    /// Durations recorded, those that never ended included.
    pub count: u64,
    /// Those that never ended: shed, starved and abandoned arrivals.
    pub infinite: u64,
    /// The mean; beyond the mean of those that ended when some never did.
    pub mean_ns: Nanoseconds,
    /// The shortest.
    pub min_ns: Nanoseconds,
    /// The median.
    pub p50_ns: Nanoseconds,
    /// 75th percentile.
    pub p75_ns: Nanoseconds,
    /// 90th percentile.
    pub p90_ns: Nanoseconds,
    /// 95th percentile.
    pub p95_ns: Nanoseconds,
    /// 99th percentile.
    pub p99_ns: Nanoseconds,
    /// 99.9th percentile.
    pub p99_9_ns: Nanoseconds,
    /// The longest; beyond the longest that ended when some never did.
    pub max_ns: Nanoseconds,
    /// Base64 of the HDR V2 deflate payload of those that ended, in nanoseconds. Absent when none ended, and where
    /// only figures are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hdr: Option<String>,
}

/// What became of arrivals. The sum of all twelve is `offered`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fates {
    /// The server did what it was asked.
    pub accepted: u64,
    /// The server said no.
    pub refused: u64,
    /// 429 or 503, with or without `Retry-After`.
    pub pushback: u64,
    /// Any other 5xx.
    pub server_error: u64,
    /// An answer that cannot be understood.
    pub malformed: u64,
    /// No answer: connection, TLS or name look-up failed.
    pub unreachable: u64,
    /// No answer within the operation's deadline.
    pub timed_out: u64,
    /// Cut off by the end of drain.
    pub abandoned: u64,
    /// The backlog was full: the plan's bound met the server's slowness.
    pub shed: u64,
    /// Due and not prepared: the generator's own fault.
    pub starved: u64,
    /// Waiting for a slot at the end; over an interval, the change.
    pub backlog: i64,
    /// Under way at the end; over an interval, the change.
    pub in_flight: i64,
}

/// Arrivals and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Arrivals that the schedule named (closed loop: that users started).
    pub offered: u64,
    /// Those that got a slot.
    pub dispatched: u64,
    /// Ended by an answer, a failure or their deadline.
    pub completed: u64,
    /// Those whose bytes left this machine twice, since the server had provably not read them or the plan allows it.
    #[serde(default)]
    pub resent: u64,
    /// Those that went over to another connection before anything of them had left.
    #[serde(default)]
    pub redialled: u64,
    /// Bytes handed to connections.
    pub bytes_out: u64,
    /// Bytes read from connections.
    pub bytes_in: u64,
    /// What became of those offered.
    pub fates: Fates,
}

/// Operations by when they ended, whatever phase they were intended in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndCounts {
    /// Ended by an answer, a failure or their deadline.
    pub completed: u64,
    /// Accepted.
    pub accepted: u64,
}

/// The rates, per second of the phase: of what was intended in it, of what ended in it, and of the bytes that crossed in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// Arrivals that the schedule named.
    pub offered_per_s: f64,
    /// Those that got a slot.
    pub dispatched_per_s: f64,
    /// Ended within the phase by an answer, a failure or their deadline, whatever phase they were intended in.
    pub completed_per_s: f64,
    /// Accepted within the phase, likewise.
    pub accepted_per_s: f64,
    /// Bytes handed to connections within the phase, likewise; those of an operation are spread evenly from its start to its end.
    #[serde(default)]
    pub bytes_out_per_s: f64,
    /// Bytes read from connections within the phase, likewise.
    #[serde(default)]
    pub bytes_in_per_s: f64,
}

/// The durations by name; `null` when nothing of the kind was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurationTable {
    /// Released − intended: the generator's own lateness.
    pub dispatch_lag: Option<Durations>,
    /// Started − released: waiting for a free slot.
    pub backlog_wait: Option<Durations>,
    /// Sent − started: pool, dial, TLS, stream slot; until the failure of what was never sent.
    pub connection_wait: Option<Durations>,
    /// Done − sent, done being the instant at which the kernel had the last byte of the answer: the server's own.
    pub service_time: Option<Durations>,
    /// What of an operation lies in none of its exchanges: computing between answers, and waiting for a thread to compute
    /// on. Absent where every operation was a single exchange; those that were are not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_time: Option<Durations>,
    /// Read − arrived: how much later than the kernel had it an answer was read, the generator's own lateness and no part of
    /// response time. Added up over the exchanges of an operation; `null` where the kernel said of no answer when it had it.
    pub read_lag: Option<Durations>,
    /// Done − intended, of all fates: the headline.
    pub response_time: Option<Durations>,
    /// Done − intended by fate, without the fates that did not occur.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub response_time_by_fate: BTreeMap<String, Durations>,
}

impl Nanoseconds {
    /// The number to print or to sort by; see [`Nanoseconds::Beyond`] for what it then means.
    pub const fn least(self) -> u64 {
        match self {
            Self::At(nanos) | Self::Beyond { beyond_ns: nanos } => nanos,
        }
    }

    /// The longer of two; what never ended is longer than all else.
    #[must_use]
    pub fn longer(self, other: Self) -> Self {
        let rank = |figure: Self| (matches!(figure, Self::Beyond { .. }), figure.least());
        if rank(other) > rank(self) { other } else { self }
    }

    /// Whether it is longer than so many nanoseconds; what never ended is.
    pub(crate) const fn is_longer_than(self, nanos: u64) -> bool {
        match self {
            Self::At(own) => own > nanos,
            Self::Beyond { .. } => true,
        }
    }

    fn of(nanos: u64, unbounded: bool) -> Self {
        if unbounded { Self::Beyond { beyond_ns: nanos } } else { Self::At(nanos) }
    }
}

impl From<Quantile> for Nanoseconds {
    fn from(quantile: Quantile) -> Self {
        match quantile {
            Quantile::At(nanos) => Self::At(nanos.0),
            Quantile::Beyond(nanos) => Self::Beyond { beyond_ns: nanos.0 },
        }
    }
}

/// Prints `2.31ms`, or `> 2.00s` where it falls on what never ended, and `never` where nothing did.
impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(nanos) => f.pad(&Nanos(*nanos).to_string()),
            Self::Beyond { beyond_ns: 0 } => f.pad("never"),
            Self::Beyond { beyond_ns } => f.pad(&format!("> {}", Nanos(*beyond_ns))),
        }
    }
}

impl From<&Summary> for Durations {
    fn from(summary: &Summary) -> Self {
        let some_never_ended = summary.infinite > 0;
        let none_ended = summary.count == summary.infinite;
        Self {
            count: summary.count,
            infinite: summary.infinite,
            mean_ns: Nanoseconds::of(summary.mean.round() as u64, some_never_ended),
            min_ns: Nanoseconds::of(summary.min.0, none_ended),
            p50_ns: summary.p50.into(),
            p75_ns: summary.p75.into(),
            p90_ns: summary.p90.into(),
            p95_ns: summary.p95.into(),
            p99_ns: summary.p99.into(),
            p99_9_ns: summary.p999.into(),
            max_ns: Nanoseconds::of(summary.max.0, some_never_ended),
            hdr: None,
        }
    }
}

impl Durations {
    /// The figures of a distribution with its payload, or `None` when nothing was recorded.
    pub fn of(distribution: &Distribution) -> Option<Self> {
        let figures = Self::from(&distribution.summary()?);
        Some(Self { hdr: distribution.payload(), ..figures })
    }

    /// The whole distribution again, to merge without loss; `None` when the payload is missing or damaged.
    pub fn distribution(&self) -> Option<Distribution> {
        match &self.hdr {
            Some(payload) => Distribution::from_payload(payload, self.infinite).ok(),
            None if self.count == self.infinite => {
                let mut distribution = Distribution::default();
                (0..self.infinite).for_each(|_| distribution.record_infinite());
                Some(distribution)
            }
            None => None,
        }
    }
}

impl Fates {
    /// From ends by fate, and what has not ended.
    pub fn new(ends: &[u64; Fate::COUNT], backlog: i64, in_flight: i64) -> Self {
        let of = |fate: Fate| ends[fate as usize];
        Self {
            accepted: of(Fate::Accepted),
            refused: of(Fate::Refused),
            pushback: of(Fate::Pushback),
            server_error: of(Fate::ServerError),
            malformed: of(Fate::Malformed),
            unreachable: of(Fate::Unreachable),
            timed_out: of(Fate::TimedOut),
            abandoned: of(Fate::Abandoned),
            shed: of(Fate::Shed),
            starved: of(Fate::Starved),
            backlog,
            in_flight,
        }
    }

    /// Ends of that fate.
    pub fn of(&self, fate: Fate) -> u64 {
        match fate {
            Fate::Accepted => self.accepted,
            Fate::Refused => self.refused,
            Fate::Pushback => self.pushback,
            Fate::ServerError => self.server_error,
            Fate::Malformed => self.malformed,
            Fate::Unreachable => self.unreachable,
            Fate::TimedOut => self.timed_out,
            Fate::Abandoned => self.abandoned,
            Fate::Shed => self.shed,
            Fate::Starved => self.starved,
        }
    }

    /// Adds those of another series, phase or interval.
    pub fn add(&mut self, other: &Self) {
        let ends = Fate::ALL.map(|fate| self.of(fate) + other.of(fate));
        *self = Self::new(&ends, self.backlog + other.backlog, self.in_flight + other.in_flight);
    }

    /// All twelve by name, in the order of the identity.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, i64)> {
        let open = [("backlog", self.backlog), ("in_flight", self.in_flight)];
        Fate::ALL.map(|fate| (fate.name(), self.of(fate).cast_signed())).into_iter().chain(open)
    }

    /// Those that ended.
    pub fn ended(&self) -> u64 {
        Fate::ALL.iter().map(|fate| self.of(*fate)).sum()
    }

    /// Those that ended in any other way than accepted.
    pub fn failed(&self) -> u64 {
        self.ended() - self.accepted
    }

    /// Answers received, right or wrong.
    pub fn answered(&self) -> u64 {
        Fate::ALL.iter().filter(|fate| fate.answered()).map(|fate| self.of(*fate)).sum()
    }
}

impl EndCounts {
    /// From ends by fate, of those that have a response time.
    pub fn of(ended: &[u64; Fate::COUNT]) -> Self {
        let timed = Fate::ALL.iter().filter(|fate| fate.timed());
        let completed = timed.map(|fate| ended[*fate as usize]).sum();
        Self { completed, accepted: ended[Fate::Accepted as usize] }
    }

    /// Those that ended in any other way than accepted.
    pub fn failed(&self) -> u64 {
        self.completed.saturating_sub(self.accepted)
    }
}

impl Add for EndCounts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { completed: self.completed + other.completed, accepted: self.accepted + other.accepted }
    }
}

/// What is left without those; nothing is less than none.
impl Sub for EndCounts {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            completed: self.completed.saturating_sub(other.completed),
            accepted: self.accepted.saturating_sub(other.accepted),
        }
    }
}

impl Counts {
    /// The counts of a record.
    pub fn of(record: &SeriesRecord) -> Self {
        Self {
            offered: record.offered,
            dispatched: record.dispatched,
            completed: record.completed(),
            resent: record.resent,
            redialled: record.redialled,
            bytes_out: record.bytes_out,
            bytes_in: record.bytes_in,
            fates: Fates::new(&record.fates, record.backlog, record.in_flight),
        }
    }

    /// Whether `offered` is the sum of all fates, the backlog and what is in flight.
    pub fn balances(&self) -> bool {
        i128::from(self.offered) == self.fates.entries().map(|(_, count)| i128::from(count)).sum::<i128>()
    }

    /// Adds those of another series, phase or interval.
    pub fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.dispatched += other.dispatched;
        self.completed += other.completed;
        self.resent += other.resent;
        self.redialled += other.redialled;
        self.bytes_out += other.bytes_out;
        self.bytes_in += other.bytes_in;
        self.fates.add(&other.fates);
    }

    /// The rates over the `seconds` of a phase, in which so much ended and so many bytes crossed, `[out, in]`; `None` when no time passed.
    pub fn rates(&self, ended: EndCounts, [bytes_out, bytes_in]: [u64; 2], seconds: f64) -> Option<Rates> {
        let per_second = |count: u64| count as f64 / seconds;
        (seconds > 0.0).then(|| Rates {
            offered_per_s: per_second(self.offered),
            dispatched_per_s: per_second(self.dispatched),
            completed_per_s: per_second(ended.completed),
            accepted_per_s: per_second(ended.accepted),
            bytes_out_per_s: per_second(bytes_out),
            bytes_in_per_s: per_second(bytes_in),
        })
    }
}

impl From<&snapshot::SeriesFigures> for Counts {
    fn from(figures: &snapshot::SeriesFigures) -> Self {
        Self {
            offered: figures.offered,
            dispatched: figures.dispatched,
            completed: figures.completed,
            resent: figures.resent,
            redialled: figures.redialled,
            bytes_out: figures.bytes_out,
            bytes_in: figures.bytes_in,
            fates: Fates::new(&figures.fates, figures.backlog, figures.in_flight),
        }
    }
}

impl DurationTable {
    /// The durations of a record, payloads included.
    pub fn of(record: &SeriesRecord) -> Self {
        let by_fate = Fate::ALL.into_iter().filter_map(|fate| {
            Some((fate.name().to_owned(), Durations::of(&record.response_time[fate as usize])?))
        });
        Self {
            dispatch_lag: Durations::of(&record.dispatch_lag),
            backlog_wait: Durations::of(&record.backlog_wait),
            connection_wait: Durations::of(&record.connection_wait),
            service_time: Durations::of(&record.service_time),
            client_time: Durations::of(&record.client_time),
            read_lag: Durations::of(&record.read_lag),
            response_time: Durations::of(&record.response_time()),
            response_time_by_fate: by_fate.collect(),
        }
    }

    /// All that were recorded, by name.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Durations)> {
        let named = [
            ("dispatch_lag", &self.dispatch_lag),
            ("backlog_wait", &self.backlog_wait),
            ("connection_wait", &self.connection_wait),
            ("service_time", &self.service_time),
            ("client_time", &self.client_time),
            ("read_lag", &self.read_lag),
            ("response_time", &self.response_time),
        ];
        let by_fate = self.response_time_by_fate.iter().map(|(fate, durations)| (fate.as_str(), durations));
        named.into_iter().filter_map(|(name, durations)| Some((name, durations.as_ref()?))).chain(by_fate)
    }
}

/// The figures alone, as snapshots have them: no payloads, nothing by fate.
impl From<&snapshot::SeriesFigures> for DurationTable {
    fn from(figures: &snapshot::SeriesFigures) -> Self {
        let of = |summary: &Option<Summary>| summary.as_ref().map(Durations::from);
        Self {
            dispatch_lag: of(&figures.dispatch_lag),
            backlog_wait: of(&figures.backlog_wait),
            connection_wait: of(&figures.connection_wait),
            service_time: of(&figures.service_time),
            client_time: of(&figures.client_time),
            read_lag: of(&figures.read_lag),
            response_time: of(&figures.response_time),
            response_time_by_fate: BTreeMap::new(),
        }
    }
}

/// JSON has no NaN and no infinity; where a figure of the process is neither known nor finite it is zero.
pub(crate) fn finite(number: f64) -> f64 {
    if number.is_finite() { number } else { 0.0 }
}

#[cfg(test)]
mod tests;
