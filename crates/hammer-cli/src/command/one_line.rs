//! A plan from one line: one or more workloads within the bounds that the line gives.

use serde_json::{Value, json};

use crate::args::BoundsArgs;

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
