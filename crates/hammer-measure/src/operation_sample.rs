//! One operation as it was: its instants, how it ended, and the steps that it took.

use std::net::SocketAddr;

use crate::outcome::{Detail, Fate};
use crate::series::Phase;
use crate::timing::{Nanos, Timing};

/// One operation of a run, kept for itself. A slot keeps one and writes over it, so that its texts and steps keep their memory.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationSample {
    /// Its sequence number.
    pub seq: u64,
    /// What it was of; `None` where its workload has no number for that, or it was never started.
    pub subject: Option<Subject>,
    /// The phase that it was intended in.
    pub phase: Phase,
    /// The instant that the plan named.
    pub intended: Nanos,
    /// Its instants and waits; `None` where it was never dispatched.
    pub timing: Option<Timing>,
    /// What it was on the wire, over all its exchanges.
    pub wire: SampledWire,
    /// The instant at which its fate was known.
    pub ended: Nanos,
    /// How much later than the kernel had them its answers were read, added up over its exchanges; `None` where none was.
    pub read_lag: Option<Nanos>,
    /// How it ended.
    pub fate: Fate,
    /// The cause behind that.
    pub detail: Detail,
    /// What the server said with its failure, as it may be shown, of the first of its cause in an interval; else empty.
    pub answer: String,
    /// Its steps, as they ended.
    pub steps: Vec<StepSample>,
}

/// What an operation was of: a leaf, a device, a document, a row of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// What is counted, in the singular.
    pub kind: &'static str,
    /// Its number among those, from 0.
    pub number: u64,
}

/// A step of a sampled operation: an exchange with a series of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSample {
    /// The place of its series among those of the run.
    pub series: usize,
    /// When it started.
    pub started: Nanos,
    /// When its answer arrived, or it failed.
    pub done: Nanos,
    /// What it was on the wire.
    pub wire: SampledWire,
    /// How it ended.
    pub fate: Fate,
    /// The cause behind that.
    pub detail: Detail,
}

/// Exchanges on the wire: of several the first that came to each instant, and the sums of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampledWire {
    /// When the connection was ready that was dialled for it; `None` where one was there, or none was made.
    pub connected: Option<Nanos>,
    /// The first byte was handed to an established connection or granted stream.
    pub sent: Option<Nanos>,
    /// The first byte of the answer arrived.
    pub first_byte: Option<Nanos>,
    /// The last byte of the answer was read, where it is known when it had arrived; of several the last.
    pub read: Option<Nanos>,
    /// The peer's address.
    pub peer: Option<SocketAddr>,
    /// Bytes handed to connections.
    pub bytes_out: u64,
    /// Bytes read from connections.
    pub bytes_in: u64,
    /// Whether its bytes left this machine twice.
    pub resent: bool,
    /// Whether it went over to another connection before anything of it had left.
    pub redialled: bool,
}

impl Default for OperationSample {
    fn default() -> Self {
        Self {
            seq: 0,
            subject: None,
            phase: Phase::Measurement,
            intended: Nanos::ZERO,
            timing: None,
            wire: SampledWire::default(),
            ended: Nanos::ZERO,
            read_lag: None,
            fate: Fate::Accepted,
            detail: Detail::None,
            answer: String::new(),
            steps: Vec::new(),
        }
    }
}

impl OperationSample {
    /// Writes an operation over what it was, one that was never dispatched unless more is told of it.
    pub fn restart(&mut self, seq: u64, (phase, intended): (Phase, Nanos), (fate, detail): (Fate, Detail)) {
        let Self { mut answer, mut steps, .. } = std::mem::take(self);
        answer.clear();
        steps.clear();
        *self = Self { seq, phase, intended, fate, detail, answer, steps, ..Self::default() };
    }

    /// Done − intended; `None` of what never ended, which counts as infinite.
    pub fn response_time(&self) -> Option<Nanos> {
        self.timing.filter(|_| self.fate.timed()).map(|timing| timing.response_time())
    }
}
