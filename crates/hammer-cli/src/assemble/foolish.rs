//! What a plan may ask for, though it hardly means it.

use hammer_values::TimeSpan;

use crate::plan::Plan;
use crate::resources;

/// What the reader of a report has to know of it: a deadline that no answer keeps, more threads than cores, no end.
pub(crate) fn foolish(plan: &Plan) -> Vec<String> {
    told(plan, resources::cores())
}

fn told(plan: &Plan, cores: usize) -> Vec<String> {
    let hurried = plan.workloads.iter().filter(|workload| workload.timeout < SHORTEST_ANSWER);
    let hurried = hurried.map(|workload| {
        let (name, timeout) = (&workload.name, workload.timeout);
        format!("timeout of {name} is {timeout}: hardly an answer comes as soon")
    });
    let shards = plan.threads.shards.filter(|shards| shards.get() > cores);
    let crowded = shards.map(|shards| {
        format!("threads.shards is {shards} on {cores} cores: shards that share one are late by one another")
    });
    let unmeasured = plan.phases.measurement.filter(|measurement| *measurement < SHORTEST_MEASUREMENT);
    let unmeasured = unmeasured.map(|measurement| {
        format!("phases.measurement is {measurement}: what is measured for so short is chance")
    });
    let endless = plan.is_endless().then(|| {
        "nothing ends the run but a signal: phases.measurement says for how long it measures".to_owned()
    });
    hurried.chain(crowded).chain(unmeasured).chain(endless).collect()
}

/// What a server on this machine takes at least.
const SHORTEST_ANSWER: TimeSpan = TimeSpan::from_millis(1);
const SHORTEST_MEASUREMENT: TimeSpan = TimeSpan::from_millis(50);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deadline_that_no_answer_keeps_and_shards_without_cores_are_told() {
        let plan = |timeout: &str, shards: usize, measurement: &str| {
            let plan = json!({
                "target": {},
                "workloads": [{ "name": "web", "timeout": timeout }],
                "threads": { "shards": shards },
                "phases": { "measurement": measurement },
            });
            told(&serde_json::from_value(plan).unwrap(), 2)
        };
        assert_eq!(plan("1ms", 2, "50ms"), Vec::<String>::new());
        let endless = json!({ "target": {}, "workloads": [{ "name": "web", "load": { "rate": "5/s" } }] });
        let said = told(&serde_json::from_value(endless).unwrap(), 2);
        assert!(said.len() == 1 && said[0].starts_with("nothing ends the run but a signal: "), "{said:?}");
        let said = plan("1us", 500, "1ms");
        let expected =
            ["timeout of web is 1us: ", "threads.shards is 500 on 2 cores: ", "phases.measurement is 1ms: "];
        assert_eq!(said.len(), expected.len(), "{said:?}");
        assert!(said.iter().zip(expected).all(|(said, expected)| said.starts_with(expected)), "{said:?}");
    }
}
