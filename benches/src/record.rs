//! Operations as a shard records them.

use hammer_measure::recorder::Completion;
use hammer_measure::{Detail, Nanos, Outcome, Phase, Recorder, Timing};

/// Offers, starts and finishes operations whose durations differ.
pub fn record(recorder: &mut Recorder, operations: u64) {
    let detail = Detail::Status(200);
    for seq in 0..operations {
        let at = Nanos(seq * 1_000);
        let spread = Nanos::from_micros(1 + seq * 7_919 % 5_000);
        let started = Timing::new(at, at + Nanos(800)).started(at + Nanos(900));
        let finished = started.finished(at + Nanos(1_000), at + Nanos(1_000) + spread);
        let outcome = Outcome::Accepted;
        let completion = Completion {
            outcome,
            detail,
            sent: true,
            read_lag: Some(Nanos(3_000)),
            resent: false,
            redialled: false,
            bytes_out: 100,
            bytes_in: 200,
            held_up: None,
        };
        recorder.offer(0, Phase::Measurement);
        recorder.queue(0, Phase::Measurement);
        recorder.start(0, Phase::Measurement, &started);
        recorder.finish(0, Phase::Measurement, &finished, &completion);
    }
}
