//! Submissions that have to be refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use hammer_core::workload::Workload;
use hammer_ct::{
    AuditInterval, Auditor, CaPlan, CtRun, ExtKeyUsage, InvalidKind, LogKind, LogTarget, PolicyPlan,
    SubmitPlan, SubmitWorkload, Window,
};
use hammer_lab::ct::Flavour;
use hammer_lab::{CtLabPlan, RecordingLabHandle, RecordingLabPlan};
use hammer_measure::{Detail, Fate};
use hammer_synth::MintScratch;
use hammer_tlog::keys::key::LogKey;
use hammer_values::Agreed;

use crate::canned;
use crate::harness::{Outcome, TestRun, client, lab, percent, target, weights, whole_percent};

fn of(kinds: &[InvalidKind], invalid_percent: f64) -> SubmitPlan {
    let (invalid_percent, invalid) =
        (percent(invalid_percent), weights(kinds.iter().map(|kind| (*kind, 1u32))));
    SubmitPlan { precert_percent: whole_percent(30), invalid_percent, invalid, ..SubmitPlan::default() }
}

fn submit(plan: &SubmitPlan, log: LogTarget, operations: u64) -> Outcome {
    let mut run = TestRun::new();
    let client = client(&log);
    let workload = SubmitWorkload::new(plan, Arc::new(log), client, &run.ct()).unwrap();
    run.load(workload, 200.0, operations);
    run.run()
}

fn always() -> Vec<InvalidKind> {
    InvalidKind::ALL.into_iter().filter(|kind| kind.is_always()).collect()
}

/// The kinds that breaches of that kind name.
fn named(outcome: &Outcome, breach: &str) -> BTreeSet<String> {
    let breaches = outcome.result.breaches.iter().filter(|found| found.kind == breach);
    breaches.map(|found| found.detail.split(':').next().unwrap_or_default().to_owned()).collect()
}

fn names(kinds: &[InvalidKind]) -> BTreeSet<String> {
    kinds.iter().map(|kind| kind.name().to_owned()).collect()
}

/// A log that gives a good SCT for whatever chain it is sent.
fn careless() -> (RecordingLabHandle, LogTarget) {
    let lab = RecordingLabHandle::spawn(RecordingLabPlan::default()).unwrap();
    let key = LogKey::from_der(lab.log_key_spki()).unwrap();
    let log = LogTarget::new(LogKind::Rfc6962, lab.url.parse().unwrap(), key);
    (lab, log)
}

#[test]
fn refusals_are_meant_in_the_series_of_what_is_wrong_on_purpose_and_in_no_other() {
    let plan = SubmitPlan { duplicate_percent: percent(10.0), ..of(&InvalidKind::ALL, 20.0) };
    let log = canned::log(LogKind::StaticCt, 404, "");
    let client = client(&log);
    let workload = SubmitWorkload::new(&plan, Arc::new(log), client, &TestRun::new().ct()).unwrap();
    let series = workload.series().into_iter().map(|series| (series.name, series.refusals_meant));
    let (meant, others): (Vec<_>, Vec<_>) = series.partition(|(_, refusals_meant)| *refusals_meant);
    let names = |series: Vec<(String, bool)>| series.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(meant), ["invalid", "observed"]);
    assert_eq!(names(others), ["add-chain", "add-pre-chain", "duplicate", "nothing-to-repeat"]);
}

#[test]
fn an_honest_log_refuses_each_kind_and_keeps_its_promise() {
    for (flavour, percent) in [(Flavour::StaticCt, 0), (Flavour::Rfc6962, 50)] {
        for kind in always() {
            let plan = SubmitPlan { precert_percent: whole_percent(percent), ..of(&[kind], 100.0) };
            let lab = lab(&plan, CtLabPlan { flavour, ..CtLabPlan::default() });
            let outcome = submit(&plan, target(&lab, flavour), 12);
            assert_eq!(outcome.fate(2, Fate::Refused), 12, "{kind:?}: {:?}", outcome.causes(2));
            assert_eq!(outcome.causes(2), [(Fate::Refused, Detail::Status(400))]);
            outcome.assert_kept(12);
            assert_eq!(lab.stop().distinct, 0);
        }
    }
}

#[test]
fn invalid_submissions_among_good_ones_disturb_neither_the_others_nor_the_audit() {
    let plan = SubmitPlan { duplicate_percent: percent(10.0), ..of(&[], 30.0) };
    let lab = lab(&plan, CtLabPlan::default());
    let log = Arc::new(target(&lab, Flavour::StaticCt));
    let mut run = TestRun { shards: 2, ..TestRun::new() };
    let auditor = Auditor::new("log", log.clone(), client(&log), run.epoch_unix_ms);
    let mut auditor = auditor.every(AuditInterval::LEAST);
    let submit = SubmitWorkload::new(&plan, log.clone(), client(&log), &run.ct()).unwrap();
    run.load(submit.audited(auditor.link("w0")), 200.0, 400);
    run.observers = vec![Box::new(auditor)];
    let outcome = run.run();
    outcome.assert_kept(400);
    let invalid = outcome.fate(3, Fate::Refused);
    assert!((85..155).contains(&invalid), "{invalid}: 30 of 100");
    let leaves: u64 = [0, 1, 4].iter().map(|series| outcome.fate(*series, Fate::Accepted)).sum();
    assert_eq!(lab.stop().distinct, leaves);
}

#[test]
fn what_a_careless_log_accepts_is_named_by_kind_and_its_sct_is_verified() {
    let kinds: Vec<_> = always().into_iter().filter(|kind| *kind != InvalidKind::EndpointSwapped).collect();
    let (lab, log) = careless();
    let outcome = submit(&of(&kinds, 100.0), log, 120);
    let (ledger, breaches) = (outcome.result.promises, &outcome.result.breaches);
    let accepted = outcome.fate(2, Fate::Accepted);
    assert!(accepted > 30 && ledger.broken >= accepted, "{ledger:?}");
    let chains = [InvalidKind::UnknownRoot, InvalidKind::BrokenSignature, InvalidKind::PoisonNotCritical];
    assert!(named(&outcome, "accepted-invalid").is_superset(&names(&chains)), "{breaches:?}");
    assert!(breaches.iter().all(|breach| breach.kind == "accepted-invalid"), "{breaches:?}");
    assert!(ledger.kept >= 30 && ledger.pending + ledger.unchecked == 0, "{ledger:?}: the SCTs");
    drop(lab);
}

#[test]
fn a_200_for_anything_is_acceptance_of_everything_invalid() {
    let answer = include_str!("../../testdata/01-x509.response");
    for (answer, fate) in [(answer, Fate::Accepted), ("fine", Fate::Malformed)] {
        let outcome = submit(&of(&[], 100.0), canned::log(LogKind::StaticCt, 200, answer), 100);
        assert_eq!(outcome.fate(2, fate), 100);
        assert_eq!(named(&outcome, "accepted-invalid"), names(&always()));
        assert!(outcome.result.breaches.iter().all(|breach| breach.seq < Some(100)));
    }
}

#[test]
fn an_answer_that_says_nothing_about_the_submission_judges_nothing() {
    for status in [302, 429, 500, 503] {
        let log = canned::log(LogKind::StaticCt, status, "busy");
        submit(&of(&InvalidKind::ALL, 100.0), log, 30).assert_kept(0);
    }
}

const OBSERVED: [InvalidKind; 4] = [
    InvalidKind::Expired,
    InvalidKind::Oversized,
    InvalidKind::NoServerAuthEku,
    InvalidKind::OutsideNotAfterWindow,
];

/// A policy of which each kind that depends on it falls foul, or none.
fn policy(strict: bool) -> PolicyPlan {
    PolicyPlan {
        reject_expired: Some(strict),
        max_body: strict.then(|| hammer_values::ByteSize::from_bytes(10_000).try_into().unwrap()),
        ext_key_usages: Some(if strict { vec![ExtKeyUsage::ServerAuth] } else { Vec::new() }),
    }
}

#[test]
fn what_the_policy_decides_is_only_counted_where_no_policy_is_stated() {
    let plan = of(&OBSERVED, 100.0);
    let lab = lab(&plan, CtLabPlan { reject_expired: true, ..CtLabPlan::default() });
    let outcome = submit(&plan, target(&lab, Flavour::StaticCt), 100);
    let (accepted, refused) = (outcome.fate(2, Fate::Accepted), outcome.fate(2, Fate::Refused));
    assert!(accepted > 40 && refused > 10 && accepted + refused == 100, "{accepted} {refused}");
    outcome.assert_kept(accepted);
    assert_eq!(lab.stop().distinct, accepted);
}

#[test]
fn acceptance_against_the_stated_policy_and_refusal_of_what_it_allows_are_broken() {
    let plan = SubmitPlan { policy: policy(true), ..of(&OBSERVED, 100.0) };
    let lab_of_all = lab(&plan, CtLabPlan::default());
    let mut log = target(&lab_of_all, Flavour::StaticCt);
    log.window.limit = Some(4_000_000_000);
    let outcome = submit(&plan, log, 60);
    assert_eq!(named(&outcome, "accepted-invalid"), names(&OBSERVED));
    let ledger = outcome.result.promises;
    assert_eq!((ledger.made, ledger.broken, ledger.kept), (120, 60, 60), "{:?}", outcome.result.breaches);

    let kinds = [InvalidKind::Expired, InvalidKind::NoServerAuthEku];
    let plan = SubmitPlan { policy: policy(false), ..of(&kinds, 100.0) };
    let lab_without_expired = lab(&plan, CtLabPlan { reject_expired: true, ..CtLabPlan::default() });
    let outcome = submit(&plan, target(&lab_without_expired, Flavour::StaticCt), 60);
    assert_eq!(named(&outcome, "refused-allowed"), names(&[InvalidKind::Expired]));
    assert_eq!(outcome.result.promises.broken, outcome.fate(2, Fate::Refused));
}

#[test]
fn a_window_that_is_stated_as_the_log_has_it_is_kept() {
    let plan = of(&[InvalidKind::OutsideNotAfterWindow], 50.0);
    // From 2020 to 2037.
    let (start, limit) = (1_577_836_800, 2_114_380_800);
    for window in [
        Window { start: Some(start), limit: None },
        Window { start: None, limit: Some(limit) },
        Window { start: Some(start), limit: Some(limit) },
    ] {
        let not_after_start = "2020-01-01".parse().ok();
        let not_after_limit = "2037-01-01".parse().ok();
        let lab = lab(&plan, CtLabPlan { not_after_start, not_after_limit, ..CtLabPlan::default() });
        let log = LogTarget { window, ..target(&lab, Flavour::StaticCt) };
        let outcome = submit(&plan, log, 60);
        outcome.assert_kept(60);
        assert!(outcome.fate(2, Fate::Refused) > 15);
    }
}

#[test]
fn what_is_invalid_follows_from_seed_and_seq_whatever_the_shards() {
    let run = CtRun { seed: 1, epoch_unix_ms: 1_800_000_000_000, workload: 0 };
    let log = Arc::new(canned::log(LogKind::StaticCt, 200, ""));
    let plan = of(&InvalidKind::ALL, 40.0);
    let workload = || SubmitWorkload::new(&plan, log.clone(), client(&log), &run).unwrap();
    let good = SubmitWorkload::new(&of(&[], 0.0), log.clone(), client(&log), &run).unwrap();
    let (one, same) = (workload(), workload());
    let (mut scratch, mut reused) = (MintScratch::of_one_among(2), None);
    for seq in 0..200 {
        let op = one.prepare(&mut scratch, seq, reused.take());
        assert_eq!(op.body(), same.prepare(&mut MintScratch::new(), seq, None).body());
        if one.series_of(seq) < 2 {
            assert_eq!(op.body(), good.prepare(&mut MintScratch::new(), seq, None).body());
        }
        reused = Some(op);
    }
    let digest = |shards| {
        let (lab, log) = careless();
        let mut test = TestRun { shards, ..TestRun::new() };
        let client = client(&log);
        test.load(SubmitWorkload::new(&plan, Arc::new(log), client, &run).unwrap(), 500.0, 100);
        test.run();
        lab.digest().unwrap()
    };
    assert_eq!(digest(1), digest(3));
}

#[test]
fn an_oversized_chain_leaves_no_large_buffers_behind_and_the_ring_has_room_for_them() {
    let run = CtRun { seed: 1, epoch_unix_ms: 1_800_000_000_000, workload: 0 };
    let log = Arc::new(canned::log(LogKind::StaticCt, 200, ""));
    let workload = |plan| SubmitWorkload::new(&plan, log.clone(), client(&log), &run).unwrap();
    let (some, none) = (workload(of(&[InvalidKind::Oversized], 50.0)), workload(of(&[], 0.0)));
    let oversized = (0..).find(|seq| some.series_of(*seq) == 2).unwrap();
    let usual = (0..).find(|seq| some.series_of(*seq) < 2).unwrap();
    let op = some.prepare(&mut MintScratch::new(), oversized, None);
    assert!(op.body().len() > 192 << 10);
    let op = some.prepare(&mut MintScratch::new(), usual, Some(op));
    let weight = some.weight(&op);
    assert!(none.weight(&op) < 40_000 && (250_000..450_000).contains(&weight), "{weight}");
}

#[test]
fn shares_and_kinds_that_cannot_be_are_refused_by_their_keys() {
    let chains = vec!["/nonexistent".into()];
    let ca = Some(CaPlan { chain: "/nonexistent".into(), key: "/nonexistent".into() });
    let precert_signing_percent = whole_percent(1);
    let dated = |not_before: &str, not_after: &str, until: Option<&str>| SubmitPlan {
        not_before: not_before.parse().unwrap(),
        not_after: not_after.parse().unwrap(),
        not_after_until: until.map(|until| until.parse().unwrap()),
        ..SubmitPlan::default()
    };
    for (plan, key) in [
        (SubmitPlan { duplicate_percent: percent(60.0), ..of(&[], 41.0) }, "invalid_percent"),
        (SubmitPlan { chains, ..of(&[InvalidKind::Expired], 1.0) }, "invalid"),
        (SubmitPlan { ca, precert_signing_percent, ..SubmitPlan::default() }, "precert_signing_percent"),
        (dated("+9d", "+8d", None), "not_after"),
        (dated("2026-01-02", "2026-01-01", None), "not_after"),
        (dated("-1d", "+8d", Some("+7d")), "not_after_until"),
    ] {
        assert_eq!(Agreed::new(plan).unwrap_err().key(), key);
    }
    assert!(Agreed::new(SubmitPlan::default()).is_ok() && Agreed::new(of(&[], 60.0)).is_ok());
    for nonsense in [
        r#"{"invalid":{"expird":1}}"#,
        r#"{"invalid":{"expired":0}}"#,
        r#"{"invalid_percent":-1}"#,
        r#"{"duplicate_percent":101}"#,
    ] {
        assert!(serde_json::from_str::<SubmitPlan>(nonsense).is_err(), "{nonsense}");
    }
}

#[test]
fn chains_from_files_are_made_invalid_as_far_as_that_takes_no_issuer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chain.pem");
    std::fs::write(&file, include_str!("../../testdata/ca.pem")).unwrap();
    let plan = SubmitPlan { chains: vec![file], ..of(&[], 100.0) };
    let lab = lab(&SubmitPlan::default(), CtLabPlan::default());
    let outcome = submit(&plan, target(&lab, Flavour::StaticCt), 40);
    assert_eq!(outcome.fate(2, Fate::Refused), 40);
    outcome.assert_kept(40);
}
