//! A run of one request over loopback.

use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::dispatch::{Load, LoadedWorkload, Open};
use hammer_core::run::{RunSpec, control, run};
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::supply::SupplyBounds;
use hammer_http::{HttpPlan, HttpWorkload};
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::snapshot::Resources;
use hammer_measure::{Detail, Fate, Nanos};
use hammer_net::ClientConfig;

/// Sends so many requests at 500 a second, each within `timeout`, and returns what was recorded.
pub(crate) fn send(plan: &HttpPlan, url: &str, operations: u64, timeout: Nanos) -> SeriesRecord {
    let mut client = ClientConfig::new(url.parse().unwrap());
    client.connections = 8;
    let schedule = Schedule::even(Profile::Constant(Constant { rate: 500.0 })).operations(operations);
    let lane = LoadedWorkload {
        name: "http".into(),
        workload: Arc::new(HttpWorkload::new(plan, client).unwrap().warm_up(1)),
        load: Load::Open(Open { schedule, in_flight: 64, backlog: 10_000 }),
        timeout,
        supply: SupplyBounds::default(),
    };
    let spill = tempfile::tempdir().unwrap();
    let (_control, inbox) = control();
    let spec = RunSpec {
        clock: MonotonicClock::starting_now(),
        epoch_unix_ms: unix_millis(),
        seed: 1,
        shards: 2,
        supply_threads: 1,
        verify_threads: 1,
        verify_ring_bytes: 1 << 20,
        spill_folder: spill.path().to_owned(),
        warm_up: Nanos::ZERO,
        measurement: None,
        drain: Nanos::from_secs(20),
        interval: Nanos::from_millis(250),
        lanes: vec![Arc::new(lane)],
        observers: Vec::new(),
        stops: Vec::new(),
        thresholds: Vec::new(),
        resources: Box::new(Resources::default),
    };
    let result = run(spec, inbox, &mut []).unwrap();
    let record = result.total.series[0][1].clone();
    assert!(record.balances());
    record
}

/// The one way in which all operations of a record ended.
pub(crate) fn only_end(record: &SeriesRecord) -> (Fate, Detail, u64) {
    assert_eq!(record.causes.len(), 1, "{:?}", record.causes);
    record.causes[0]
}
