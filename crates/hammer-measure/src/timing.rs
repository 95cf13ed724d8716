//! The instants of an operation and the durations between them.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Nanoseconds: an instant since the run's epoch, or the span between two instants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

/// Whoever can tell the time since the run's epoch; the only way in which time enters below the binary.
pub trait Now {
    /// The instant now.
    fn now(&self) -> Nanos;

    /// The wall clock now, with which the kernel stamps what it receives; `None` where there is none beside this clock, as in a
    /// simulation.
    fn wall(&self) -> Option<WallNanos> {
        None
    }
}

/// Nanoseconds of the wall clock since the Unix epoch. It may be stepped, so that two of them tell no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallNanos(pub u64);

impl Nanos {
    /// The epoch itself, or no time at all.
    pub const ZERO: Self = Self(0);
    /// Later than every instant.
    pub const MAX: Self = Self(u64::MAX);

    /// `seconds` whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// Seconds, rounded down to a nanosecond; negative and NaN become zero, too large becomes [`Nanos::MAX`].
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * 1e9) as u64)
    }

    /// Seconds as a number for rates and for printing.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Milliseconds as a number for printing.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// `self − earlier`, zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// The sum, [`Nanos::MAX`] at most.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// So many times the span, [`Nanos::MAX`] at most.
    pub const fn saturating_mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Duration::from_nanos(nanos.0)
    }
}

/// Prints with three significant digits and a unit: `812ns`, `45.1us`, `2.31ms`, `1.5s`, `2h00m`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            0 => "0s".to_owned(),
            n if n < 1_000 => format!("{n}ns"),
            n if n < 999_500 => three_digits(n as f64 / 1e3, "us"),
            n if n < 999_500_000 => three_digits(n as f64 / 1e6, "ms"),
            n if n < 120_000_000_000 => three_digits(n as f64 / 1e9, "s"),
            n if n < 7_200_000_000_000 => {
                format!("{}m{:02}s", n / 60_000_000_000, n / 1_000_000_000 % 60)
            }
            n => format!("{}h{:02}m", n / 3_600_000_000_000, n / 60_000_000_000 % 60),
        };
        f.pad(&text)
    }
}

fn three_digits(value: f64, unit: &str) -> String {
    // What rounds up to the next digit has a decimal less: 9.996 is 10.0.
    let decimals = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}{unit}")
}

/// The instants of one operation. The intended start comes from the schedule and no later stage can replace it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    intended: Nanos,
    released: Nanos,
    started: Nanos,
    connection: Nanos,
    service: Nanos,
    /// `None` where the operation was a single exchange, which leaves no time to the client.
    client: Option<Nanos>,
}

/// The parts of what an operation of several exchanges took from its start to its end. Exchanges that overlap count once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowTimes {
    /// In which an exchange waited for its connection and none was being served.
    pub connection: Nanos,
    /// In which an exchange was sent and not yet answered.
    pub service: Nanos,
    /// In which there was no exchange: computing between answers, and waiting for a thread to compute on.
    pub client: Nanos,
}

impl Timing {
    /// An operation that should start at `intended` and was moved out of the schedule at `released`.
    pub fn new(intended: Nanos, released: Nanos) -> Self {
        let released = released.max(intended);
        let (connection, service) = (Nanos::ZERO, Nanos::ZERO);
        Self { intended, released, started: released, connection, service, client: None }
    }

    /// It got a slot at `at`.
    #[must_use]
    pub fn started(mut self, at: Nanos) -> Self {
        self.started = at.max(self.released);
        self
    }

    /// It had a slot from the first, whose task took it up at `at`: until then it waited for the generator, and for no slot.
    #[must_use]
    pub fn taken_up(mut self, at: Nanos) -> Self {
        self.released = at.max(self.intended);
        self.started = self.released;
        self
    }

    /// Its first byte was handed to an established connection at `sent`, the last byte of its answer arrived at
    /// `done`.
    #[must_use]
    pub fn finished(mut self, sent: Nanos, done: Nanos) -> Self {
        self.connection = sent.since(self.started);
        self.service = done.since(sent.max(self.started));
        self.client = None;
        self
    }

    /// It was a flow whose time from its start to its end divides into these parts.
    #[must_use]
    pub fn finished_flow(mut self, times: FlowTimes) -> Self {
        self.connection = times.connection;
        self.service = times.service;
        self.client = Some(times.client);
        self
    }

    /// The instant that the plan named.
    pub fn intended(&self) -> Nanos {
        self.intended
    }

    /// The instant at which it got a slot.
    pub fn start(&self) -> Nanos {
        self.started
    }

    /// The instant of its end: the last byte arrived, or the end of what a flow computed after that.
    pub fn done(&self) -> Nanos {
        self.started + self.connection + self.service + self.client.unwrap_or(Nanos::ZERO)
    }

    /// Released − intended: the generator's own lateness.
    pub fn dispatch_lag(&self) -> Nanos {
        self.released - self.intended
    }

    /// Started − released: waiting for a free slot.
    pub fn backlog_wait(&self) -> Nanos {
        self.started - self.released
    }

    /// Sent − started: pool, dial, TLS, stream slot.
    pub fn connection_wait(&self) -> Nanos {
        self.connection
    }

    /// Done − sent: the server's own.
    pub fn service_time(&self) -> Nanos {
        self.service
    }

    /// What of a flow lies in none of its exchanges; `None` where the operation was a single exchange.
    pub fn client_time(&self) -> Option<Nanos> {
        self.client
    }

    /// Done − intended: the headline.
    pub fn response_time(&self) -> Nanos {
        self.done() - self.intended
    }
}

#[cfg(test)]
mod tests;
