//! What it costs to record an operation, and to sum a record up for a snapshot.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hammer_benches::record::record;
use hammer_measure::recorder::Interval;
use hammer_measure::snapshot::SeriesFigures;
use hammer_measure::{Nanos, Recorder};

fn recorder(c: &mut Criterion) {
    let mut group = c.benchmark_group("record");
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    let mut recorder = Recorder::new(1);
    group.throughput(Throughput::Elements(OPERATIONS));
    group.bench_function("operation", |b| b.iter(|| record(&mut recorder, OPERATIONS)));
    let full = recorder.swap(Nanos::ZERO, Interval::with_series(1));
    group.throughput(Throughput::Elements(1));
    group.bench_function("figures", |b| b.iter(|| black_box(SeriesFigures::of(&full.series[0][1]))));
    let mut total = Interval::with_series(1);
    group.bench_function("merge", |b| b.iter(|| total.merge(black_box(&full))));
    group.finish();
}

const OPERATIONS: u64 = 10_000;

criterion_group!(benches, recorder);
criterion_main!(benches);
