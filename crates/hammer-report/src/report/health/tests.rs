use hammer_measure::health::LatenessKind;
use hammer_measure::{Nanos, Quantile};
use serde_json::{Value, json};

use super::*;
use crate::fixture::late;

fn found(finding: &health::Finding) -> Value {
    serde_json::to_value(Finding::from(finding)).unwrap()
}

#[test]
fn each_finding_has_the_figures_of_its_kind_and_no_other() {
    assert_eq!(
        found(&health::Finding::Starved { count: 7 }),
        json!({
            "kind": "starved", "text": "7 operations were due before they were prepared",
            "remedy": "raise threads.supply, or ask for fewer operations", "count": 7,
        })
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
            "remedy": "give hammer cores that nobody else uses; --tolerate-lag takes the figures as they are",
            "series": "web/get", "count": 12, "of": 400, "longest_ns": 2_000_000_000_u64,
            "free_p99_ns": 5_000_000, "causes": ["stood_still", "supply"],
        })
    );
    for (kind, name, words) in [
        (LatenessKind::Dispatch, "dispatch_lag", "dispatch lag"),
        (LatenessKind::Read, "read_lag", "read lag"),
        (LatenessKind::Compute, "compute_wait", "the wait of flows for a thread to compute on"),
    ] {
        assert_eq!(
            found(&late(kind, Nanos(4_000_000))),
            json!({
                "kind": name,
                "text": format!("{words} p99 of submit/add-chain is 4.00ms, over its bound of 1.00ms"),
                "remedy": kind.remedy(), "series": "submit/add-chain", "of": 12_345,
                "percentile": 99, "late_ns": 4_000_000, "p99_ns": 4_000_000, "bound_ns": 1_000_000,
            })
        );
    }
    assert_eq!(
        found(&health::Finding::Cpu { share: 0.97 }),
        json!({
            "kind": "cpu", "text": "the generator used 97 % of its cores",
            "remedy": "give hammer more cores, or ask for less", "share": 0.97,
        })
    );
    assert_eq!(
        found(&health::Finding::Exhausted { count: 5, what: "local ports".to_owned() }),
        json!({
            "kind": "exhausted", "text": "5 operations failed since local ports ran out", "count": 5,
            "what": "local ports",
            "remedy": "raise the limit (ulimit -n), or bound connections and operations in flight",
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
    assert_eq!(Health::from(&health::Health::default()), Health { healthy: true, ..Health::default() });
    let findings = vec![health::Finding::Starved { count: 1 }, health::Finding::Cpu { share: 1.0 }];
    let health = Health::from(&health::Health { findings, ..health::Health::default() });
    assert!(!health.healthy);
    let kinds: Vec<&str> = health.findings.iter().map(|finding| finding.kind.words()).collect();
    assert_eq!(kinds, ["starved", "cpu"], "in the order of the run");
}

#[test]
fn a_run_has_what_is_to_be_known_beside_its_figures_and_what_its_plan_says_of_findings() {
    let limit = health::Limit { series: "web/get".to_owned(), per_s: 1_234.5 };
    let policy = health::HealthPolicy { dispatch_lag_p99: Some(Nanos(7)), on_fail: health::OnFail::Warn };
    let notes = vec![health::HealthNote::Limit(limit)];
    let found = health::Health { notes, policy, ..health::Health::default() };
    let of_run = serde_json::to_value(Health::of_run(&found, &AlarmRecord::default())).unwrap();
    let text = "hammer was the limit of web/get: at least 1234/s";
    assert_eq!(
        of_run["notes"],
        json!([{ "kind": "limit", "text": text, "series": "web/get", "per_s": 1_234.5 }])
    );
    assert_eq!((&of_run["on_fail"], &of_run["dispatch_lag_p99_ns"]), (&json!("warn"), &json!(7)));
    let of_interval = serde_json::to_value(Health::from(&found)).unwrap();
    assert_eq!(of_interval, json!({ "healthy": true, "findings": [] }), "an interval is told none of it");
}

#[test]
fn kinds_have_words_that_are_their_names() {
    use FindingKind::{ComputeWait, Cpu, DispatchLag, Exhausted, ReadLag, Standstill, Starved};
    for kind in [Starved, Standstill, DispatchLag, ReadLag, ComputeWait, Cpu, Exhausted] {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.words().replace(' ', "_"));
    }
}
