//! Submissions that repeat others.

use std::collections::BTreeMap;
use std::sync::Arc;

use hammer_core::workload::Workload;
use hammer_ct::{AuditInterval, Auditor, CtRun, LogKind, SubmitPlan, SubmitWorkload};
use hammer_lab::ct::{Flavour, Lie, LieKind, ToldLie};
use hammer_lab::{CtLabHandle, CtLabPlan};
use hammer_measure::{Detail, Fate};
use hammer_synth::MintScratch;
use hammer_values::Count;

use crate::canned;
use crate::harness::{Outcome, TestRun, client, lab, percent, target, whole_percent};

const ADD_CHAIN: usize = 0;
const ADD_PRE_CHAIN: usize = 1;
const DUPLICATE: usize = 2;
const NOTHING_TO_REPEAT: usize = 3;

fn repeating() -> SubmitPlan {
    SubmitPlan {
        precert_percent: whole_percent(30),
        duplicate_percent: percent(30.0),
        ..SubmitPlan::default()
    }
}

/// Submits to the lab at 200/s on two shards, with or without an audit.
fn submit(plan: &SubmitPlan, lab: &CtLabHandle, flavour: Flavour, audited: bool) -> Outcome {
    let mut run = TestRun { shards: 2, ..TestRun::new() };
    let log = Arc::new(target(lab, flavour));
    let submit = SubmitWorkload::new(plan, log.clone(), client(&log), &run.ct()).unwrap();
    match audited {
        true => {
            let auditor = Auditor::new("log", log.clone(), client(&log), run.epoch_unix_ms);
            let mut auditor = auditor.every(AuditInterval::LEAST);
            run.load(submit.audited(auditor.link("w0")), 200.0, 400);
            run.observers = vec![Box::new(auditor)];
        }
        false => run.load(submit, 200.0, 400),
    }
    run.run()
}

fn accepted(outcome: &Outcome, series: &[usize]) -> u64 {
    series.iter().map(|series| outcome.fate(*series, Fate::Accepted)).sum()
}

#[test]
fn duplicates_are_drawn_from_what_was_answered_and_get_what_was_promised() {
    for flavour in [Flavour::StaticCt, Flavour::Rfc6962] {
        for audited in [false, true] {
            let plan = repeating();
            let lab = lab(&plan, CtLabPlan { flavour, ..CtLabPlan::default() });
            let outcome = submit(&plan, &lab, flavour, audited);
            outcome.assert_kept(400);
            assert!(outcome.result.breaches.is_empty(), "{:?}", outcome.result.breaches);
            let duplicates = accepted(&outcome, &[DUPLICATE]);
            let own = accepted(&outcome, &[NOTHING_TO_REPEAT]);
            assert!((85..155).contains(&duplicates) && own < 40, "{duplicates} {own}");
            let fresh = accepted(&outcome, &[ADD_CHAIN, ADD_PRE_CHAIN, NOTHING_TO_REPEAT]);
            assert_eq!(lab.stop().distinct, fresh, "a duplicate is no leaf");
            if audited {
                let audited = outcome.result.observations.iter().find(|seen| seen.name == "audited");
                assert_eq!(audited.unwrap().value, fresh as f64, "each leaf once");
            }
        }
    }
}

/// What a log that makes some duplicates entries of their own says, and what was found.
fn caught(flavour: Flavour, plan: &SubmitPlan, audited: bool) -> (Vec<ToldLie>, Outcome) {
    let lies = vec![Lie { after: 10, every: Count::at_least_one(20), ..Lie::of(LieKind::DuplicateNewIndex) }];
    let lab = lab(plan, CtLabPlan { flavour, lies, ..CtLabPlan::default() });
    let outcome = submit(plan, &lab, flavour, audited);
    (lab.stop().lies, outcome)
}

#[test]
fn a_duplicate_with_another_answer_is_named_with_both() {
    let kinds = [(Flavour::StaticCt, "duplicate-new-index"), (Flavour::Rfc6962, "duplicate-new-timestamp")];
    for (flavour, kind) in kinds {
        for audited in [false, true] {
            let (lies, outcome) = caught(flavour, &repeating(), audited);
            let (ledger, breaches) = (outcome.result.promises, &outcome.result.breaches);
            assert!(lies.len() >= 4, "{lies:?}");
            assert_eq!(ledger.broken, lies.len() as u64, "{breaches:?}");
            assert_eq!(ledger.kept + ledger.broken, 400);
            let run = TestRun::new().ct();
            let log = Arc::new(canned::log(LogKind::StaticCt, 200, ""));
            let workload = SubmitWorkload::new(&repeating(), log.clone(), client(&log), &run).unwrap();
            for lie in &lies {
                // An SCT of RFC 6962 does not say where the log has put the entry.
                let promised = lie.index.filter(|_| flavour == Flavour::StaticCt);
                let named = breaches
                    .iter()
                    .find(|breach| breach.kind == kind && breach.seq == lie.seq && breach.index == promised);
                let breach = named.unwrap_or_else(|| panic!("{lie:?} {breaches:?}"));
                let told = breach.detail.split("told to submission ").nth(1).unwrap();
                let seq = told.split(',').next().unwrap().parse().unwrap();
                assert_eq!(workload.series_of(seq), DUPLICATE);
            }
        }
    }
}

#[test]
fn a_log_that_need_not_deduplicate_may_answer_otherwise() {
    let plan = SubmitPlan { deduplicates: false, ..repeating() };
    for audited in [false, true] {
        let (lies, outcome) = caught(Flavour::StaticCt, &plan, audited);
        assert!(lies.len() >= 4, "{lies:?}");
        outcome.assert_kept(400);
        assert!(outcome.result.breaches.is_empty(), "{:?}", outcome.result.breaches);
    }
}

#[test]
fn a_log_that_refuses_duplicates_holds_up_no_fresh_chain() {
    let plan = repeating();
    let lab = lab(&plan, CtLabPlan { rate_limit_dedup: Some(0), ..CtLabPlan::default() });
    let outcome = submit(&plan, &lab, Flavour::StaticCt, true);
    let duplicates: u64 = Fate::ALL.iter().map(|fate| outcome.fate(DUPLICATE, *fate)).sum();
    let own = accepted(&outcome, &[NOTHING_TO_REPEAT]);
    assert_eq!(accepted(&outcome, &[ADD_CHAIN, ADD_PRE_CHAIN]), 400 - duplicates, "all of them");
    assert_eq!(accepted(&outcome, &[DUPLICATE]), own);
    assert_eq!(outcome.fate(DUPLICATE, Fate::Pushback), duplicates - own);
    assert!(outcome.causes(DUPLICATE).contains(&(Fate::Pushback, Detail::Status(429))));
    outcome.assert_kept(400 - duplicates + own);
}

#[test]
fn duplicates_alone_repeat_their_own_first_chains() {
    let plan = SubmitPlan { duplicate_percent: percent(100.0), ..SubmitPlan::default() };
    let lab = lab(&plan, CtLabPlan::default());
    let outcome = submit(&plan, &lab, Flavour::StaticCt, false);
    outcome.assert_kept(400);
    assert_eq!(accepted(&outcome, &[DUPLICATE]), 400);
    assert_eq!(lab.stop().distinct, accepted(&outcome, &[NOTHING_TO_REPEAT]));
}

#[test]
fn chains_that_are_no_duplicates_are_those_of_a_plan_without() {
    let run = CtRun { seed: 1, epoch_unix_ms: 1_800_000_000_000, workload: 0 };
    let log = Arc::new(canned::log(LogKind::StaticCt, 200, ""));
    let workload =
        |plan: &SubmitPlan, run| SubmitWorkload::new(plan, log.clone(), client(&log), run).unwrap();
    let plan = SubmitPlan { duplicate_percent: percent(2.5), ..repeating() };
    let (with, without) = (
        workload(&plan, &run),
        workload(&SubmitPlan { duplicate_percent: percent(0.0), ..plan.clone() }, &run),
    );
    let other = workload(&plan, &CtRun { seed: 2, ..run });
    let mut series = BTreeMap::<usize, u64>::new();
    let mut moved = 0;
    for seq in 0..4000 {
        *series.entry(with.series_of(seq)).or_default() += 1;
        moved += u64::from((with.series_of(seq) == DUPLICATE) != (other.series_of(seq) == DUPLICATE));
        if seq < 100 && with.series_of(seq) != DUPLICATE {
            let body = |workload: &SubmitWorkload| {
                workload.prepare(&mut MintScratch::new(), seq, None).body().to_vec()
            };
            assert_eq!(body(&with), body(&without));
        }
    }
    assert!((60..140).contains(&series[&DUPLICATE]), "{series:?}: 2.5 of 100");
    assert!(moved > 60, "another seed draws others: {moved}");
    assert_eq!(without.series().len(), 2);
}
