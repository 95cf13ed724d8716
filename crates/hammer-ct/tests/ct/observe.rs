//! Logs whose heads alone are followed.

use std::sync::Arc;

use hammer_core::run::StopRule;
use hammer_ct::{Auditor, LogKind, LogTarget, SubmitPlan, SubmitWorkload};
use hammer_lab::CtLabPlan;
use hammer_lab::ct::Flavour;
use hammer_measure::snapshot::Observation;
use hammer_measure::{Fate, Nanos};
use hammer_tlog::keys::key::LogKey;

use crate::harness::{Outcome, TestRun, client, lab, target};
use crate::{canned, lagging};

/// Observes `log` while chains are submitted to a lab, for so long or until its tree has 100 leaves.
fn observe(flavour: Flavour, seconds: u64, observed: impl FnOnce(LogTarget) -> LogTarget) -> Outcome {
    let plan = SubmitPlan::default();
    let lab = lab(&plan, CtLabPlan { flavour, ..CtLabPlan::default() });
    let log = target(&lab, flavour);
    let mut run = TestRun::new();
    let submit = SubmitWorkload::new(&plan, Arc::new(log.clone()), client(&log), &run.ct()).unwrap();
    run.load(submit, 200.0, 1_000_000);
    run.measurement = Some(Nanos::from_secs(seconds));
    run.stops = vec![StopRule::at_least("tree_size", 100.0)];
    let observed = observed(log);
    let client = client(&observed);
    let observer = Auditor::of_heads("log", Arc::new(observed), client, run.epoch_unix_ms);
    let observer = observer.every("100ms".parse().unwrap());
    run.observers = vec![Box::new(observer)];
    run.run()
}

fn observation<'a>(outcome: &'a Outcome, name: &str) -> Option<&'a Observation> {
    outcome.result.observations.iter().find(|seen| seen.name == name)
}

#[test]
fn the_tree_is_followed_and_may_end_the_run() {
    for flavour in [Flavour::StaticCt, Flavour::Rfc6962] {
        let outcome = observe(flavour, 20, |log| log);
        assert!(observation(&outcome, "tree_size").unwrap().value >= 100.0);
        assert!(outcome.result.stopped.contains("tree_size"), "{}", outcome.result.stopped);
        let requests = observation(&outcome, "observer_requests").unwrap();
        let most = 10.0 + 50.0 * requests.at.as_secs_f64();
        assert!((1.0..=most).contains(&requests.value), "{requests:?}: ten looks a second, and a last one");
        assert!(outcome.result.breaches.is_empty());
    }
}

#[test]
fn a_server_that_lags_behind_is_no_tree_that_shrank() {
    for flavour in [Flavour::StaticCt, Flavour::Rfc6962] {
        let outcome = observe(flavour, 20, |log| lagging::front(&log));
        assert!(observation(&outcome, "tree_size").unwrap().value >= 100.0);
        assert!(observation(&outcome, "stale_heads").unwrap().value >= 1.0);
        assert!(outcome.result.breaches.is_empty(), "{:?}", outcome.result.breaches);
    }
}

#[test]
fn the_last_look_after_drain_sees_all_that_was_accepted() {
    let outcome = observe(Flavour::StaticCt, 1, |log| log);
    let records = outcome.result.total.series.iter().flatten();
    let accepted: u64 = records.map(|record| record.fate(Fate::Accepted)).sum();
    assert!(accepted > 0);
    assert_eq!(observation(&outcome, "tree_size").unwrap().value, accepted as f64);
}

#[test]
fn a_tree_head_of_another_key_is_a_breach() {
    for (flavour, kind) in [(Flavour::StaticCt, "checkpoint-signature"), (Flavour::Rfc6962, "sth-signature")]
    {
        let key: LogKey = include_str!("../../testdata/log-public-key.b64").parse().unwrap();
        let outcome = observe(flavour, 1, |log| LogTarget { key, ..log });
        assert_eq!(outcome.result.breaches[0].kind, kind);
        assert_eq!(observation(&outcome, "tree_size"), None);
    }
}

#[test]
fn a_log_that_does_not_serve_its_tree_head_is_a_note_told_once() {
    let outcome = observe(Flavour::StaticCt, 1, |_| canned::log(LogKind::StaticCt, 404, "not found"));
    let told = outcome.notes.iter().filter(|note| note.contains("status 404")).count();
    assert_eq!(told, 1, "{:?}", outcome.notes);
    assert!(observation(&outcome, "observer_requests").unwrap().value > 1.0);
    assert!(outcome.result.breaches.is_empty());
}
