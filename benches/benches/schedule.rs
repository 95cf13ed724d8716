//! Arrivals a second that a schedule names, for each profile, even and Poisson.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hammer_benches::schedule::{MOST_ARRIVALS, name, profiles, spacings};

fn arrivals(c: &mut Criterion) {
    let mut group = c.benchmark_group("schedule");
    group.throughput(Throughput::Elements(MOST_ARRIVALS));
    group.sample_size(10).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    for (kind, profile) in profiles() {
        for (spacing, schedule) in spacings(&profile, MOST_ARRIVALS) {
            group.bench_function(BenchmarkId::new(kind, spacing), |b| b.iter(|| black_box(name(&schedule))));
        }
    }
    group.finish();
}

criterion_group!(benches, arrivals);
criterion_main!(benches);
