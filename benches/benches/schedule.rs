//! Arrivals a second that a schedule names, for each profile, even and Poisson.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hammer_core::schedule::{Burst, Constant, Profile, Ramp, Schedule, Step, Steps, Trace};

fn profiles() -> [(&'static str, Profile); 5] {
    let steps = (0..10).map(|step| Step { rate: 1_000.0 * f64::from(step), seconds: 0.5 }).collect();
    let trace: String = (0..ARRIVALS).map(|index| format!("{}\n", index as f64 / 1e3)).collect();
    [
        ("constant", Profile::Constant(Constant { rate: 1_000.0 })),
        ("ramp", Profile::Ramp(Ramp { from: 10.0, to: 5_000.0, over: 10.0 })),
        ("steps", Profile::Steps(Steps { steps })),
        ("burst", Profile::Burst(Burst { size: 100, every: 0.1, within: 0.01 })),
        ("trace", Profile::Trace(Trace::parse(&trace).expect("ascending seconds"))),
    ]
}

fn arrivals(c: &mut Criterion) {
    let mut group = c.benchmark_group("schedule");
    group.throughput(Throughput::Elements(ARRIVALS));
    group.sample_size(10).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    for (name, profile) in profiles() {
        let poisson = Schedule::poisson(profile.clone(), 1, 1).operations(ARRIVALS);
        for (spacing, schedule) in
            [("even", Schedule::even(profile).operations(ARRIVALS)), ("poisson", poisson)]
        {
            group.bench_function(BenchmarkId::new(name, spacing), |b| {
                b.iter(|| black_box(schedule.arrivals(0, 1).map(|arrival| arrival.at.0).max()));
            });
        }
    }
    group.finish();
}

const ARRIVALS: u64 = 10_000;

criterion_group!(benches, arrivals);
criterion_main!(benches);
