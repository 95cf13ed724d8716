//! Operations told by the lengths of their parts, and what became of them, by hand and at random.

use proptest::prelude::*;

use crate::histogram::Distribution;
use crate::outcome::{Detail, Outcome};
use crate::recorder::{Completion, HeldUp, HeldUpBy, Recorder};
use crate::series::Phase;
use crate::timing::{FlowTimes, Nanos, Timing};

/// The parts of a response time, in the order in which they follow each other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) lag: Nanos,
    pub(crate) backlog: Nanos,
    pub(crate) connection: Nanos,
    pub(crate) service: Nanos,
    /// Of a flow alone.
    pub(crate) client: Option<Nanos>,
}

impl Parts {
    /// Those of an answer that takes `service` after a lag of 1 ms, 2 ms in the backlog and 3 ms until it is sent.
    pub(crate) fn of_service(service: Nanos) -> Self {
        Self {
            lag: Nanos::from_millis(1),
            backlog: Nanos::from_millis(2),
            connection: Nanos::from_millis(3),
            service,
            client: None,
        }
    }

    /// The instants of an operation with these parts.
    pub(crate) fn timing(self, intended: Nanos) -> Timing {
        let released = intended + self.lag;
        let started = released + self.backlog;
        let sent = started + self.connection;
        let timing = Timing::new(intended, released).started(started);
        let Some(client) = self.client else { return timing.finished(sent, sent + self.service) };
        timing.finished_flow(FlowTimes { connection: self.connection, service: self.service, client })
    }

    /// Their sum.
    pub(crate) fn sum(self) -> Nanos {
        self.lag + self.backlog + self.connection + self.service + self.client.unwrap_or(Nanos::ZERO)
    }
}

/// An answer that was sent once, with 10 bytes out and 20 in, and read after 4 ms.
pub(crate) fn completion(outcome: Outcome, detail: Detail) -> Completion {
    let read_lag = Some(Nanos::from_millis(4));
    Completion {
        outcome,
        detail,
        sent: true,
        read_lag,
        held_up: None,
        resent: false,
        redialled: false,
        bytes_out: 10,
        bytes_in: 20,
    }
}

/// Offers, queues and starts an operation of the first series, and ends it so.
pub(crate) fn carry_out(recorder: &mut Recorder, parts: Parts, completion: &Completion) {
    let timing = parts.timing(Nanos::ZERO);
    recorder.offer(0, Phase::Measurement);
    recorder.queue(0, Phase::Measurement);
    recorder.start(0, Phase::Measurement, &timing);
    recorder.finish(0, Phase::Measurement, &timing, completion);
}

/// A distribution of these nanoseconds.
pub(crate) fn of_nanos(nanos: impl IntoIterator<Item = u64>) -> Distribution {
    let mut distribution = Distribution::default();
    nanos.into_iter().for_each(|nanos| distribution.record(Nanos(nanos)));
    distribution
}

/// Durations from nothing to minutes, each power of ten as likely as the next.
pub(crate) fn any_nanos() -> impl Strategy<Value = Nanos> {
    (0..12u32, 0..10u64, 0..1_000_000u64)
        .prop_map(|(power, digit, rest)| Nanos(10u64.pow(power) * digit + rest % 10u64.pow(power)))
}

/// Parts of up to 10 ms, of flows and of single exchanges: a histogram of longer ones takes longer to walk.
pub(crate) fn any_parts() -> impl Strategy<Value = Parts> {
    let any_part = || (0..10_000_000u64).prop_map(Nanos);
    (prop::array::uniform4(any_part()), prop::option::of(any_part())).prop_map(
        |([lag, backlog, connection, service], client)| Parts { lag, backlog, connection, service, client },
    )
}

/// Any end of an execution.
pub(crate) fn any_completion() -> impl Strategy<Value = Completion> {
    let detail = prop_oneof![
        Just(Detail::None),
        prop_oneof![Just(200), Just(404), Just(503)].prop_map(Detail::Status),
        prop_oneof![Just("connection reset"), Just("deadline")].prop_map(Detail::Failure),
    ];
    let outcome = prop::sample::select(&OUTCOMES[..]);
    let read_lag = prop::option::of((0..10_000_000u64).prop_map(Nanos));
    let held_up = prop::option::of((0..10_000_000u64, any_held_up_by()).prop_map(|(time, by)| {
        let time = Nanos(time);
        HeldUp { time, by }
    }));
    let flags = any::<[bool; 3]>();
    (outcome, detail, flags, read_lag, held_up, 0..10_000u64, 0..10_000u64).prop_map(
        |(outcome, detail, [sent, resent, redialled], read_lag, held_up, bytes_out, bytes_in)| Completion {
            outcome,
            detail,
            sent,
            read_lag,
            held_up,
            resent,
            redialled,
            bytes_out,
            bytes_in,
        },
    )
}

fn any_held_up_by() -> impl Strategy<Value = HeldUpBy> {
    prop_oneof![Just(HeldUpBy::Standstill), Just(HeldUpBy::Reading), Just(HeldUpBy::Supply)]
}

/// All of them: [`Outcome`] has no list of its own.
pub(crate) const OUTCOMES: [Outcome; 8] = [
    Outcome::Accepted,
    Outcome::Refused,
    Outcome::Pushback,
    Outcome::ServerError,
    Outcome::Malformed,
    Outcome::Unreachable,
    Outcome::TimedOut,
    Outcome::Abandoned,
];
