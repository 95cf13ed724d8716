//! What it costs to record an operation, and to sum a record up for a snapshot.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hammer_measure::recorder::{Completion, Interval};
use hammer_measure::snapshot::Figures;
use hammer_measure::{Detail, Nanos, Outcome, Phase, Recorder, Timing};

/// Offers, starts and finishes operations whose durations differ.
fn record(recorder: &mut Recorder, operations: u64) {
    let detail = Detail::Status(200);
    for seq in 0..operations {
        let at = Nanos(seq * 1_000);
        let spread = Nanos::from_micros(1 + seq * 7_919 % 5_000);
        let started = Timing::new(at, at + Nanos(800)).started(at + Nanos(900));
        let finished = started.finished(at + Nanos(1_000), at + Nanos(1_000) + spread);
        let outcome = Outcome::Accepted;
        let completion =
            Completion { outcome, detail, sent: true, retried: false, bytes_out: 100, bytes_in: 200 };
        recorder.offer(0, Phase::Measurement);
        recorder.queue(0, Phase::Measurement);
        recorder.start(0, Phase::Measurement, &started);
        recorder.finish(0, Phase::Measurement, &finished, &completion);
    }
}

fn recorder(c: &mut Criterion) {
    let mut group = c.benchmark_group("record");
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    let mut recorder = Recorder::new(1);
    group.throughput(Throughput::Elements(OPERATIONS));
    group.bench_function("operation", |b| b.iter(|| record(&mut recorder, OPERATIONS)));
    let full = recorder.swap(Nanos::ZERO, Interval::with_series(1));
    group.throughput(Throughput::Elements(1));
    group.bench_function("figures", |b| b.iter(|| black_box(Figures::of(&full.series[0][1]))));
    let mut total = Interval::with_series(1);
    group.bench_function("merge", |b| b.iter(|| total.merge(black_box(&full))));
    group.finish();
}

const OPERATIONS: u64 = 10_000;

criterion_group!(benches, recorder);
criterion_main!(benches);
