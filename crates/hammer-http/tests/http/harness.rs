//! A run of one request over loopback.

use std::sync::Arc;

use hammer_core::dispatch::{Load, LoadedWorkload, Open};
use hammer_core::run::{RunSpec, control, run};
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::supply::SupplyBounds;
use hammer_http::{HttpPlan, HttpWorkload};
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::{Detail, Fate, Nanos};
use hammer_net::ClientConfig;
use hammer_values::Agreed;

/// Sends so many requests at 500 a second, each within `timeout`, and returns what was recorded.
pub(crate) fn send(plan: &HttpPlan, url: &str, operations: u64, timeout: Nanos) -> SeriesRecord {
    let mut client = ClientConfig::new(url.parse().unwrap());
    client.connections = 8;
    let schedule = Schedule::even(Profile::Constant(Constant { rate: 500.0 })).operations(operations);
    let lane = LoadedWorkload {
        name: "http".into(),
        workload: Arc::new(
            HttpWorkload::new(&Agreed::new(plan.clone()).unwrap(), client).unwrap().warm_up(1),
        ),
        load: Load::Open(Open { schedule, in_flight: 64, backlog: 10_000 }),
        timeout,
        supply: SupplyBounds::default(),
    };
    let spill = tempfile::tempdir().unwrap();
    let (_control, inbox) = control();
    let spec = RunSpec {
        shards: 2.into(),
        spill_folder: spill.path().to_owned(),
        drain: Nanos::from_secs(20),
        interval: Nanos::from_millis(250),
        ..RunSpec::new(vec![Arc::new(lane)])
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
