//! The engine's own ceiling: operations a second on one shard against a target that costs nothing.
//!
//! A fixed number of operations goes through a whole run. `open` names its instants at ten times the rate that is aimed at,
//! so that the engine is always behind its schedule: operations pass through the backlog, which is deep enough for all of
//! them, and none is shed. `closed` has as many users as `open` has slots; there supply can hold nobody up for good,
//! so it is the one that is also measured with operations prepared ahead on a thread of their own, which needs a second
//! core. The time is that of the measurement phase: from the first intended start to the last record.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hammer_benches::null::NullRun;
use hammer_core::dispatch::{Closed, Iterations, Load, Open, Stages, Think};
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::workload::Preparation;
use hammer_measure::{Fate, Nanos};

fn open() -> Load {
    let schedule = Schedule::even(Profile::Constant(Constant { rate: OFFERED })).operations(OPERATIONS);
    Load::Open(Open { schedule, in_flight: SLOTS, backlog: OPERATIONS as usize })
}

fn closed() -> Load {
    let stages = Stages::constant(SLOTS);
    let iterations = Iterations::Shared(OPERATIONS);
    Load::Closed(Closed {
        stages,
        spawn_rate: None,
        think: Think::Constant(Nanos::ZERO),
        iterations,
        seed: 1,
    })
}

/// Seconds that the operations took.
fn measured(load: Load, preparation: Preparation) -> Duration {
    let run = NullRun::of(load, preparation, None);
    run.reconcile(OPERATIONS);
    assert_eq!(run.record().fate(Fate::Accepted), OPERATIONS, "none was shed or starved");
    black_box(Duration::from_secs_f64(run.result.measured_seconds()))
}

fn ceiling(c: &mut Criterion) {
    let mut group = c.benchmark_group("dispatch");
    group.throughput(Throughput::Elements(OPERATIONS)).sample_size(10);
    group.measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    for (name, load, preparation) in [
        ("open", open as fn() -> Load, Preparation::Inline),
        ("closed", closed, Preparation::Inline),
        ("closed", closed, Preparation::Ahead),
    ] {
        let id = BenchmarkId::new(name, format!("{preparation:?}").to_lowercase());
        group.bench_function(id, |b| {
            b.iter_custom(|runs| (0..runs).map(|_| measured(load(), preparation)).sum());
        });
    }
    group.finish();
}

const OPERATIONS: u64 = 1_000_000;
const OFFERED: f64 = 10_000_000.0;
const SLOTS: usize = 64;

criterion_group!(benches, ceiling);
criterion_main!(benches);
