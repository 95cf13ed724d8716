//! Logs that refuse some reads for then: an audit asks again, and ends as it would have.

use hammer_core::draw::Draws;
use hammer_ct::{LogTarget, SubmitPlan};
use hammer_lab::CtLabPlan;
use hammer_lab::ct::Flavour;
use hammer_lab::fault::{FaultRule, FaultScript};
use hammer_values::{Count, Share};

use crate::faults::{FLAVOURS, audit, refusing};
use crate::harness::{Outcome, SEED, lab, target};
use crate::lagging;

/// More than a full tile of leaves, and a part of one.
const LEAVES: u64 = 300;

/// Every promise was kept, some requests were sent again, and nothing was found wrong.
fn assert_audited(outcome: &Outcome) {
    outcome.assert_kept(LEAVES);
    assert!(outcome.result.breaches.is_empty(), "{:?}", outcome.result.breaches);
    let repeated = outcome.result.observations.iter().find(|seen| seen.name == "audit_repeated").unwrap();
    assert!(repeated.value > 0.0, "{:?}", outcome.notes);
}

/// Audits a log of which reads meet these faults, and which gives so many entries at once.
fn audit_under(flavour: Flavour, faults: FaultScript, max_get_entries: usize) {
    let plan = SubmitPlan::default();
    let max_get_entries = Count::at_least_one(max_get_entries);
    let lab = lab(&plan, CtLabPlan { flavour, faults, max_get_entries, ..CtLabPlan::default() });
    assert_audited(&audit(&target(&lab, flavour), 0, LEAVES, &plan));
}

const STATIC_CT: [&str; 3] = ["checkpoint", "tile", "data-tile"];
const RFC6962: [&str; 5] =
    ["get-sth", "get-sth-consistency", "get-entries", "get-entry-and-proof", "get-proof-by-hash"];

#[test]
fn an_audit_that_is_pushed_back_at_times_goes_on() {
    audit_under(Flavour::StaticCt, refusing(&STATIC_CT, 0.5, 429), 1000);
    audit_under(Flavour::Rfc6962, refusing(&RFC6962, 0.5, 503), 1000);
}

#[test]
fn so_does_one_that_gets_fewer_entries_than_it_asked_for() {
    audit_under(Flavour::Rfc6962, refusing(&RFC6962, 0.5, 429), 7);
}

#[test]
fn an_audit_whose_connections_are_reset_at_times_goes_on() {
    for (flavour, endpoints) in [(Flavour::StaticCt, &STATIC_CT[..]), (Flavour::Rfc6962, &RFC6962)] {
        let endpoints = endpoints.iter().map(ToString::to_string).collect();
        let rule =
            FaultRule { endpoints, reset_share: Share::try_from(0.3).unwrap(), ..FaultRule::default() };
        audit_under(flavour, FaultScript { rules: vec![rule], ..FaultScript::default() }, 1000);
    }
}

/// The log at a front that refuses some requests.
fn audit_behind(flavour: Flavour, front: impl Fn(&LogTarget) -> LogTarget) {
    let plan = SubmitPlan::default();
    let lab = lab(&plan, CtLabPlan { flavour, ..CtLabPlan::default() });
    assert_audited(&audit(&front(&target(&lab, flavour)), 0, LEAVES, &plan));
}

#[test]
fn an_audit_of_a_log_that_limits_partial_tiles_goes_on() {
    let draws = Draws::new(SEED, 429);
    audit_behind(Flavour::StaticCt, |log| {
        lagging::refusing(log, move |nth, path| {
            (path.contains(".p/") && draws.unit(nth as u64) < 0.7).then_some(429)
        })
    });
}

#[test]
fn what_was_promised_before_the_log_could_be_read_is_found_in_its_first_tree() {
    for flavour in FLAVOURS {
        audit_behind(flavour, |log| lagging::refusing(log, |nth, _| (nth < 20).then_some(503)));
    }
}

/// Audits a log that is read at two servers, of which the first refuses such paths with such a status.
fn audit_at_two(flavour: Flavour, status: u16, paths: &'static [&'static str]) -> Outcome {
    let plan = SubmitPlan::default();
    let lab = lab(&plan, CtLabPlan { flavour, ..CtLabPlan::default() });
    let whole = target(&lab, flavour);
    let first = lagging::refusing(&whole, move |_, path| {
        paths.iter().any(|refused| path.contains(refused)).then_some(status)
    });
    let second = lagging::refusing(&whole, |_, _| None);
    let log = LogTarget { monitoring: [first.monitoring, second.monitoring].concat(), ..whole };
    audit(&log, 0, LEAVES, &plan)
}

#[test]
fn an_audit_goes_on_at_the_next_url_where_one_is_of_no_use() {
    let refused: [(_, &[_]); 2] = [(Flavour::StaticCt, &["/tile/"]), (Flavour::Rfc6962, &["/get-entries"])];
    for (flavour, paths) in refused {
        let outcome = audit_at_two(flavour, 503, paths);
        assert_audited(&outcome);
        assert!(outcome.notes.iter().any(|note| note.contains("next URL")), "{:?}", outcome.notes);
    }
}

#[test]
fn a_tile_that_one_server_has_not_is_read_at_another() {
    let outcome = audit_at_two(Flavour::StaticCt, 404, &["/tile/0/000", "/tile/data/000"]);
    outcome.assert_kept(LEAVES);
    assert!(outcome.result.breaches.is_empty(), "{:?}", outcome.result.breaches);
}
