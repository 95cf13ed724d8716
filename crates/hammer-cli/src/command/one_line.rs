//! A plan from one line: one or more workloads within the bounds that the line gives.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::args::{BoundsArgs, LoadArgs, ReachArgs};

use super::http;

/// A workload of that name, whose operations stand under `section`.
pub(super) fn workload(
    name: &str,
    (section, operations): (&str, Value),
    load: &Value,
    bounds: &BoundsArgs,
) -> Value {
    json!({
        "name": name,
        section: operations,
        "load": load,
        "in_flight": bounds.in_flight,
        "timeout": bounds.timeout,
    })
}

/// The plan of workloads on a target.
pub(super) fn plan(target: &Value, workloads: &[Value], bounds: &BoundsArgs) -> Value {
    json!({
        "seed": bounds.seed.unwrap_or_default(),
        "target": target,
        "workloads": workloads,
        "phases": { "measurement": bounds.duration },
    })
}

impl LoadArgs {
    /// As a plan would have it.
    pub(super) fn plan(&self) -> Value {
        let rate = self.rate.as_deref().or(self.users.is_none().then_some(RATE));
        load(rate, self.users)
    }
}

/// A load of a rate or of users.
pub(super) fn load(rate: Option<&str>, users: Option<usize>) -> Value {
    json!({ "rate": rate.map(http::rate), "users": users })
}

impl ReachArgs {
    /// The target whose services stand under `section`.
    pub(super) fn target(&self, section: &str, services: &Value) -> Value {
        json!({
            section: services,
            "authorized": self.authorized,
            "tls": { "roots": self.cacert.iter().collect::<Vec<&PathBuf>>() },
        })
    }
}

/// Which key each argument stands for that lines of one workload have in common.
pub(super) const ONE_LOAD: [(&str, &str); 2] =
    [("--rate", "workloads[0].load.rate"), ("--users", "workloads[0].load.users")];

/// The same of bounds, and of how services are reached.
pub(super) const BOUNDS: [(&str, &str); 7] = [
    ("--cacert", "target.tls.roots"),
    ("--authorized", "target.authorized"),
    ("-z", "phases.measurement"),
    ("-c", "workloads[0].in_flight"),
    ("-c", "workloads[1].in_flight"),
    ("-t", "workloads[0].timeout"),
    ("-t", "workloads[1].timeout"),
];

/// What is sent where neither a rate nor users are given.
const RATE: &str = "20/s";
