//! Runs of requests over loopback.

use std::sync::Arc;

use hammer_core::dispatch::{Load, LoadedWorkload, Open};
use hammer_core::run::{RunSpec, control, run};
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::Workload as _;
use hammer_exchange::stock::TokenStock;
use hammer_exchange::{ServiceConfig, WallTime};
use hammer_http::{Destination, HttpFlowsPlan, HttpPlan, HttpWorkload};
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::{Detail, Fate, Nanos};
use hammer_net::ClientConfig;
use hammer_values::Agreed;

/// Sends so many requests at 500 a second, each within `timeout`, and returns what was recorded.
pub(crate) fn send(plan: &HttpPlan, url: &str, operations: u64, timeout: Nanos) -> SeriesRecord {
    let workload = HttpWorkload::of_request(&Agreed::new(plan.clone()).unwrap(), to(url), 7).unwrap();
    carry_out(workload, operations, timeout).remove(0).1
}

/// The same with tokens, which requests take in turn.
pub(crate) fn send_with(
    plan: &HttpPlan,
    tokens: Option<(Arc<TokenStock>, WallTime)>,
    url: &str,
    operations: u64,
) -> SeriesRecord {
    let to = Destination { tokens, ..to(url) };
    let workload = HttpWorkload::of_request(&Agreed::new(plan.clone()).unwrap(), to, 7).unwrap();
    carry_out(workload, operations, Nanos::from_secs(20)).remove(0).1
}

/// The same with flows, all of which go to `url`: what was recorded of each series, by its name.
pub(crate) fn send_flows(plan: &HttpFlowsPlan, url: &str, operations: u64) -> Vec<(String, SeriesRecord)> {
    send_flows_with(plan, None, url, operations)
}

/// The same with tokens.
pub(crate) fn send_flows_with(
    plan: &HttpFlowsPlan,
    tokens: Option<&Arc<TokenStock>>,
    url: &str,
    operations: u64,
) -> Vec<(String, SeriesRecord)> {
    let to: Vec<Destination> =
        plan.requests().map(|_| Destination { tokens: tokens.map(stocked), ..to(url) }).collect();
    let workload = HttpWorkload::of_flows(&Agreed::new(plan.clone()).unwrap(), to, 7).unwrap();
    carry_out(workload, operations, Nanos::from_secs(20))
}

/// Tokens of a run that starts with the Unix epoch.
fn stocked(stock: &Arc<TokenStock>) -> (Arc<TokenStock>, WallTime) {
    (stock.clone(), WallTime { epoch_unix_ms: 0 })
}

fn to(url: &str) -> Destination {
    let mut client = ClientConfig::new(url.parse().unwrap());
    client.connections = 8;
    let service = ServiceConfig { warm_up: 1, ..ServiceConfig::new("url", client) };
    Destination { service, tokens: None }
}

fn carry_out(workload: HttpWorkload, operations: u64, timeout: Nanos) -> Vec<(String, SeriesRecord)> {
    let names: Vec<String> = workload.series().into_iter().map(|series| series.name).collect();
    let schedule = Schedule::even(Profile::Constant(Constant { rate: 500.0 })).operations(operations);
    let lane = LoadedWorkload {
        name: "http".into(),
        workload: Arc::new(workload),
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
    let records = result.total.series.iter().map(|phases| phases[1].clone());
    let records: Vec<_> = names.into_iter().zip(records).collect();
    assert!(records.iter().all(|(_, record)| record.balances()));
    records
}

/// The one way in which all operations of a record ended.
pub(crate) fn only_end(record: &SeriesRecord) -> (Fate, Detail, u64) {
    assert_eq!(record.causes.len(), 1, "{:?}", record.causes);
    record.causes[0]
}
