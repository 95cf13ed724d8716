use hammer_measure::Quantile;
use serde_json::{Value, json};

use super::*;

fn found(finding: &health::Finding) -> Value {
    serde_json::to_value(Finding::from(finding)).unwrap()
}

#[test]
fn each_finding_has_the_figures_of_its_kind_and_no_other() {
    assert_eq!(
        found(&health::Finding::Starved { count: 7 }),
        json!({ "kind": "starved", "text": "7 operations were due before they were prepared", "count": 7 })
    );
    let standstill = health::Standstill {
        series: "web/get".to_owned(),
        count: 12,
        of: 400,
        longest: Nanos(2_000_000_000),
        free_p99: Some(Quantile::At(Nanos(5_000_000))),
        causes: vec![health::StandstillCause::StoodStill, health::StandstillCause::Supply],
    };
    assert_eq!(
        found(&health::Finding::Standstill(standstill)),
        json!({
            "kind": "standstill",
            "text": "hammer held up 12 of 400 operations of web/get, for 2.00s at most: a thread that sends stood still; \
                     supply had not prepared what users waited for",
            "series": "web/get", "count": 12, "of": 400, "longest_ns": 2_000_000_000_u64,
            "free_p99_ns": 5_000_000, "causes": ["stood_still", "supply"],
        })
    );
    let late = health::Finding::DispatchLag { p99: Nanos(4_000_000), bound: Nanos(1_000_000) };
    assert_eq!(
        found(&late),
        json!({
            "kind": "dispatch_lag", "text": "dispatch lag p99 is 4.00ms, over its bound of 1.00ms",
            "p99_ns": 4_000_000, "bound_ns": 1_000_000,
        })
    );
    let read = health::Finding::ReadLag { p99: Nanos(3_000_000), bound: Nanos(1_000_000) };
    assert_eq!(
        found(&read),
        json!({
            "kind": "read_lag", "text": "read lag p99 is 3.00ms, over its bound of 1.00ms",
            "p99_ns": 3_000_000, "bound_ns": 1_000_000,
        })
    );
    let waiting = health::Finding::ComputeWait { p99: Nanos(4_000_000), bound: Nanos(1_000_000) };
    assert_eq!(
        found(&waiting),
        json!({
            "kind": "compute_wait",
            "text": "computing in flows waited p99 4.00ms for a thread, over its bound of 1.00ms",
            "p99_ns": 4_000_000, "bound_ns": 1_000_000,
        })
    );
    assert_eq!(
        found(&health::Finding::Cpu { share: 0.97 }),
        json!({ "kind": "cpu", "text": "the generator used 97 % of its cores", "share": 0.97 })
    );
    assert_eq!(
        found(&health::Finding::Exhausted { count: 5, what: "local ports".to_owned() }),
        json!({
            "kind": "exhausted", "text": "5 operations failed since local ports ran out", "count": 5,
            "what": "local ports",
        })
    );
}

#[test]
fn a_finding_comes_back_without_the_figures_that_it_never_had() {
    let finding = Finding::from(&health::Finding::Starved { count: 7 });
    let text = serde_json::to_string(&finding).unwrap();
    assert!(!text.contains("null"), "{text}");
    assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), finding);
}

#[test]
fn a_share_that_json_cannot_say_is_zero() {
    assert_eq!(found(&health::Finding::Cpu { share: f64::INFINITY })["share"], 0.0);
}

#[test]
fn healthy_is_to_have_no_finding() {
    assert_eq!(
        Health::from(&health::Health::default()),
        Health { healthy: true, findings: Vec::new(), alarms: None }
    );
    let findings = vec![health::Finding::Starved { count: 1 }, health::Finding::Cpu { share: 1.0 }];
    let health = Health::from(&health::Health { findings });
    assert!(!health.healthy);
    let kinds: Vec<&str> = health.findings.iter().map(|finding| finding.kind.words()).collect();
    assert_eq!(kinds, ["starved", "cpu"], "in the order of the run");
}

#[test]
fn kinds_have_words_that_are_their_names() {
    use FindingKind::{ComputeWait, Cpu, DispatchLag, Exhausted, ReadLag, Standstill, Starved};
    for kind in [Starved, Standstill, DispatchLag, ReadLag, ComputeWait, Cpu, Exhausted] {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.words().replace(' ', "_"));
    }
}
