//! Dispatch lag and CPU time of an open loop against the null target: a table, not a timing. The aim on an idle core is a
//! p99 under 200 us at every rate.

#![expect(clippy::print_stdout, reason = "the table is what this bench is for")]

use hammer_benches::null::NullRun;
use hammer_core::dispatch::{Load, Open};
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::workload::Preparation;
use hammer_measure::{Fate, Nanos};

fn main() {
    println!(
        "{:>8} {:>8} {:>9} {:>9} {:>9} {:>10} {:>12}",
        "rate/s", "supply", "p50", "p99", "max", "shard/op", "process/op"
    );
    for rate in [10.0, 1_000.0, 10_000.0, 50_000.0] {
        for preparation in [Preparation::Inline, Preparation::Ahead] {
            line(rate, preparation);
        }
    }
}

fn line(rate: f64, preparation: Preparation) {
    let schedule = Schedule::even(Profile::Constant(Constant { rate }));
    let load = Load::Open(Open { schedule, in_flight: 1_000, backlog: 10_000 });
    let run = NullRun::of(load, preparation, Some(Nanos::from_secs(SECONDS)));
    let operations = (rate * SECONDS as f64) as u64;
    run.reconcile(operations);
    let record = run.record();
    assert_eq!(record.fate(Fate::Shed), 0, "the backlog holds what a pause of this machine brings");
    let lag = record.dispatch_lag.summary().expect("operations were dispatched");
    let (shard, process) = (Nanos(run.shard_cpu.0 / operations), Nanos(run.process_cpu.0 / operations));
    let supply = format!("{preparation:?}").to_lowercase();
    println!("{rate:>8} {supply:>8} {:>9} {:>9} {:>9} {shard:>10} {process:>12}", lag.p50, lag.p99, lag.max);
}

const SECONDS: u64 = 2;
