//! Submissions, and what their answers are.

use std::sync::Arc;

use hammer_core::workload::Workload;
use hammer_ct::{CtError, LogKind, LogTarget, PlanDate, SignerAlgorithm, SubmitPlan, SubmitWorkload, roots};
use hammer_lab::ct::Flavour;
use hammer_lab::{CtLabPlan, RecordingLabHandle, RecordingLabPlan};
use hammer_measure::{Detail, Fate};
use hammer_synth::{ChainMinter, Kind, MintScratch, Minted};
use hammer_tlog::ct::rfc6962::AddChainRequest;
use hammer_tlog::keys::key::LogKey;
use hammer_values::Weights;

use crate::canned;
use crate::harness::{Outcome, SEED, TestRun, client, lab, target, weights, whole_percent};

fn mixed() -> SubmitPlan {
    let profiles = [("dv-p256-chain2", 3u32), ("dv-rsa2048-chain3", 1), ("san100-p256-chain2", 1)];
    SubmitPlan {
        precert_percent: whole_percent(40),
        precert_signing_percent: whole_percent(50),
        profiles: weights(profiles.map(|(name, weight)| (name.to_owned().try_into().unwrap(), weight))),
        ..SubmitPlan::default()
    }
}

fn submit(plan: &SubmitPlan, log: LogTarget, operations: u64) -> Outcome {
    let mut run = TestRun::new();
    let client = client(&log);
    let workload = SubmitWorkload::new(plan, Arc::new(log), client, &run.ct()).unwrap();
    run.load(workload, 200.0, operations);
    run.run()
}

#[test]
fn every_sct_of_a_static_log_is_verified() {
    let plan = mixed();
    let lab = lab(&plan, CtLabPlan::default());
    let outcome = submit(&plan, target(&lab, Flavour::StaticCt), 200);
    outcome.assert_kept(200);
    let (chains, precerts) = (outcome.fate(0, Fate::Accepted), outcome.fate(1, Fate::Accepted));
    assert_eq!(chains + precerts, 200);
    assert!((50..110).contains(&precerts), "{precerts}: 40 of 100");
    let stats = lab.stop();
    assert_eq!(stats.requests["add-chain"][&200], chains);
    assert_eq!(stats.requests["add-pre-chain"][&200], precerts);
    assert_eq!((stats.distinct, stats.tree_size), (200, 200));
}

#[test]
fn every_sct_of_an_rfc6962_log_is_verified() {
    for signer in [SignerAlgorithm::P256, SignerAlgorithm::Ed25519] {
        let plan = SubmitPlan { signer, with_root: true, ..mixed() };
        let lab = lab(&plan, CtLabPlan { flavour: Flavour::Rfc6962, ..CtLabPlan::default() });
        submit(&plan, target(&lab, Flavour::Rfc6962), 100).assert_kept(100);
    }
}

#[test]
fn the_scts_of_another_key_are_broken_promises() {
    let plan = mixed();
    let (lab_one, lab_two) =
        (lab(&plan, CtLabPlan::default()), lab(&plan, CtLabPlan { key_seed: 2, ..CtLabPlan::default() }));
    let mut log = target(&lab_one, Flavour::StaticCt);
    log.key = LogKey::from_der(lab_two.log_key_spki()).unwrap();
    submit(&plan, log, 50).assert_broken(50, "sct-of-another-log");
}

#[test]
fn a_static_log_that_gives_no_index_breaks_its_promise() {
    let plan = SubmitPlan::default();
    let lab = lab(&plan, CtLabPlan { flavour: Flavour::Rfc6962, ..CtLabPlan::default() });
    submit(&plan, target(&lab, Flavour::StaticCt), 20).assert_broken(20, "no-leaf-index");
}

#[test]
fn a_timestamp_beyond_the_stated_skew_is_a_broken_promise() {
    for ahead_ms in [-120_000, 120_000] {
        let plan = SubmitPlan::default();
        let lab = lab(&plan, CtLabPlan::default());
        let log = target(&lab, Flavour::StaticCt);
        let mut run = TestRun { ahead_ms, ..TestRun::new() };
        let client = client(&log);
        let workload = SubmitWorkload::new(&plan, Arc::new(log), client, &run.ct()).unwrap();
        run.load(workload, 200.0, 20);
        run.run().assert_broken(20, "sct-timestamp");
    }
}

#[test]
fn streams_of_one_seed_submit_different_leaves_under_the_same_root() {
    // Dates from the epoch would make other leaves of a later run.
    let [not_before, not_after] = ["2026-01-01", "2027-01-01"].map(|date| date.parse().unwrap());
    let dated = SubmitPlan { not_before, not_after, ..SubmitPlan::default() };
    let plan = |stream| SubmitPlan { stream: Some(stream), ..dated.clone() };
    let lab = lab(&plan(5), CtLabPlan::default());
    for (stream, distinct) in [(5, 10), (5, 10), (6, 20)] {
        submit(&plan(stream), target(&lab, Flavour::StaticCt), 10).assert_kept(10);
        assert_eq!(lab.stats().distinct, distinct);
    }
}

#[test]
fn an_index_given_to_two_leaves_is_a_broken_promise() {
    let plan = SubmitPlan::default();
    let lab = lab(&plan, CtLabPlan::default());
    let log = target(&lab, Flavour::StaticCt);
    let mut run = TestRun::new();
    let client = client(&log);
    let ct = run.ct();
    let workload = SubmitWorkload::new(&plan, Arc::new(log), client, &ct).unwrap();
    // Two schedules of one workload send each leaf twice, and the log answers both with one index.
    let workload = Twice(workload);
    run.load(workload, 200.0, 20);
    let outcome = run.run();
    assert_eq!((outcome.result.promises.kept, outcome.result.promises.broken), (10, 10));
    assert!(outcome.result.breaches.iter().all(|breach| breach.kind == "index-promised-twice"));
}

#[test]
fn an_answer_of_200_that_is_no_sct_is_malformed_and_a_broken_promise() {
    let good = include_str!("../../testdata/01-x509.response");
    let longer_id = good.replacen("\"id\":\"", "\"id\":\"AAAA", 1);
    for (answer, cause) in [
        ("", "empty answer"),
        ("not JSON", "answer is not an sct"),
        ("{}", "answer is not an sct"),
        (r#"{"ok":true}"#, "answer is not an sct"),
        ("<!DOCTYPE html><html><body>It works!</body></html>", "answer is not an sct"),
        (&good.replacen('{', "{\"sct_version\":0,", 1), "answer is not an sct"),
        (&good.replace("\"sct_version\":0", "\"sct_version\":1"), "sct version is not v1"),
        (&longer_id, "log id is not of 32 bytes"),
        (&good.replacen("\"signature\":\"", "\"signature\":\"!", 1), "sct with broken base64"),
        (&format!("{good}{}", " ".repeat(64 << 10)), "answer too large"),
    ] {
        let outcome = submit(&SubmitPlan::default(), canned::log(LogKind::StaticCt, 200, answer), 5);
        assert_eq!(outcome.fate(0, Fate::Malformed), 5, "{cause}");
        assert_eq!(outcome.causes(0), [(Fate::Malformed, Detail::Failure(cause))]);
        outcome.assert_broken(5, "unreadable-sct");
        let breach = &outcome.result.breaches[0];
        assert!(breach.detail.starts_with(cause), "{breach:?}");
        assert!(breach.detail.len() <= cause.len() + 2 + 300, "{breach:?}");
    }
}

#[test]
fn an_sct_over_another_leaf_is_a_broken_promise() {
    let answer = include_str!("../../testdata/01-x509.response");
    let outcome = submit(&SubmitPlan::default(), canned::log(LogKind::StaticCt, 200, answer), 5);
    outcome.assert_broken(5, "bad-sct-signature");
    assert_eq!(outcome.fate(0, Fate::Accepted), 5, "the outcome is the answer as said");
}

#[test]
fn every_other_status_is_told_by_its_status() {
    for (status, fate) in [
        (400, Fate::Refused),
        (404, Fate::Refused),
        (429, Fate::Pushback),
        (503, Fate::Pushback),
        (500, Fate::ServerError),
    ] {
        let outcome = submit(&SubmitPlan::default(), canned::log(LogKind::StaticCt, status, "no"), 5);
        assert_eq!(outcome.causes(0), [(fate, Detail::Status(status))]);
    }
    for (status, answer, cause) in [
        (201, "made", "answered 201 where RFC 6962 says 200"),
        (202, "later", "answered 202 where RFC 6962 says 200"),
        (204, "", "answered 204 where RFC 6962 says 200"),
        (206, "part", "answered 206 where RFC 6962 says 200"),
        (203, "other", "answered a success other than the 200 of RFC 6962"),
    ] {
        let outcome = submit(&SubmitPlan::default(), canned::log(LogKind::StaticCt, status, answer), 5);
        assert_eq!(outcome.causes(0), [(Fate::Malformed, Detail::Failure(cause))]);
        assert_eq!(outcome.result.promises.made, 0, "no promise was made: {status}");
    }
}

#[test]
fn a_log_that_is_not_there_is_unreachable() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut log = canned::log(LogKind::StaticCt, 200, "");
    log.submission = vec![format!("http://127.0.0.1:{port}/log").parse().unwrap()];
    assert_eq!(submit(&SubmitPlan::default(), log, 5).fate(0, Fate::Unreachable), 5);
}

#[test]
fn what_is_sent_does_not_depend_on_the_shards() {
    let digest = |shards| {
        let recording = RecordingLabHandle::spawn(RecordingLabPlan::default()).unwrap();
        let key = LogKey::from_der(recording.log_key_spki()).unwrap();
        let log = LogTarget::new(LogKind::Rfc6962, recording.url.parse().unwrap(), key);
        let mut run = TestRun { shards, ..TestRun::new() };
        let client = client(&log);
        let ct = hammer_ct::CtRun { epoch_unix_ms: 1_800_000_000_000, ..run.ct() };
        run.load(SubmitWorkload::new(&mixed(), Arc::new(log), client, &ct).unwrap(), 500.0, 200);
        let outcome = run.run();
        assert_eq!(outcome.fate(0, Fate::Accepted) + outcome.fate(1, Fate::Accepted), 200);
        assert_eq!(recording.recorded().count, 200);
        recording.digest().unwrap()
    };
    let one = digest(1);
    assert_eq!(digest(2), one);
    assert_eq!(digest(7), one);
}

#[test]
fn a_body_is_what_serde_json_writes_and_follows_from_seed_and_seq() {
    let (run, plan) = (TestRun::new(), mixed());
    let log = Arc::new(canned::log(LogKind::StaticCt, 200, ""));
    let workload = |seed| {
        let ct = hammer_ct::CtRun { seed, ..run.ct() };
        SubmitWorkload::new(&plan, log.clone(), client(&log), &ct).unwrap()
    };
    let (one, same, other) = (workload(1), workload(1), workload(2));
    let (mut scratch, mut reused) = (MintScratch::new(), None);
    for seq in 0..50 {
        let op = one.prepare(&mut scratch, seq, reused.take());
        let chain = op.chain().certificates().map(|der| der.to_vec().into()).collect();
        assert_eq!(op.body(), serde_json::to_vec(&AddChainRequest { chain }).unwrap());
        assert_eq!(op.body(), same.prepare(&mut MintScratch::new(), seq, None).body());
        assert_ne!(op.body(), other.prepare(&mut MintScratch::new(), seq, None).body());
        assert_eq!(one.series_of(seq), usize::from(op.chain().kind() == Kind::Precert));
        assert!(one.weight(&op) >= op.body().len());
        reused = Some(op);
    }
}

#[test]
fn the_series_of_a_seq_is_the_kind_that_the_minter_mints() {
    let (run, plan) = (TestRun::new(), mixed());
    let log = Arc::new(canned::log(LogKind::StaticCt, 200, ""));
    let minter = ChainMinter::new(&plan.minter_spec(&run.ct()).unwrap()).unwrap();
    let workload = SubmitWorkload::new(&plan, log.clone(), client(&log), &run.ct()).unwrap();
    let mut chain = Minted::new();
    for seq in 0..500 {
        minter.mint(seq, &mut MintScratch::new(), &mut chain);
        assert_eq!(workload.series_of(seq), usize::from(chain.kind() == Kind::Precert), "{seq}");
    }
}

#[test]
fn chains_from_files_are_submitted_over_and_over() {
    let folder = tempfile::tempdir().unwrap();
    let plan = mixed();
    let minter = ChainMinter::new(&plan.minter_spec(&TestRun::new().ct()).unwrap()).unwrap();
    let mut chain = Minted::new();
    for seq in 0..10 {
        minter.mint(seq, &mut MintScratch::new(), &mut chain);
        let pem: String = chain.certificates().map(pem).collect();
        std::fs::write(folder.path().join(format!("{seq}.pem")), pem).unwrap();
    }
    let lab = lab(&plan, CtLabPlan::default());
    let files = SubmitPlan { chains: vec![folder.path().to_owned()], ..SubmitPlan::default() };
    submit(&files, target(&lab, Flavour::StaticCt), 30).assert_kept(30);
    let stats = lab.stop();
    assert_eq!((stats.accepted, stats.distinct), (30, 10));
    assert!(matches!(roots(&files, SEED), Err(CtError::ForeignRoots)));
}

#[test]
fn the_roots_say_aloud_that_they_are_throwaway_and_depend_on_the_seed_alone() {
    let one = roots(&mixed(), SEED).unwrap();
    assert!(one.throwaway && one.pem.starts_with("# THROWAWAY ROOT"), "{}", one.pem);
    assert!(one.pem.contains("seed 7") && one.certificates.len() == 1);
    let later = SubmitPlan {
        not_after: PlanDate::Days(200),
        with_root: true,
        profiles: Weights::default(),
        ..mixed()
    };
    assert_eq!(roots(&later, SEED).unwrap(), one);
    assert_ne!(roots(&mixed(), SEED + 1).unwrap().certificates, one.certificates);
}

#[test]
fn a_users_own_ca_issues_and_is_not_called_throwaway() {
    let folder = tempfile::tempdir().unwrap();
    let (chain, key) = (folder.path().join("ca.pem"), folder.path().join("key.pem"));
    std::fs::write(&chain, include_str!("../../testdata/ca.pem")).unwrap();
    std::fs::write(&key, include_str!("../../testdata/ca-key.pem")).unwrap();
    let ca = Some(hammer_ct::CaPlan { chain, key });
    let plan = SubmitPlan { ca, precert_percent: whole_percent(50), ..SubmitPlan::default() };
    let issued = roots(&plan, SEED).unwrap();
    assert!(!issued.throwaway && issued.pem.starts_with("-----BEGIN CERTIFICATE-----"));
    let lab = lab(&plan, CtLabPlan::default());
    // The issuer is the root, which is not sent: the verifier knows it from the plan.
    submit(&plan, target(&lab, Flavour::StaticCt), 20).assert_kept(20);
}

/// Every second operation sends what the one before it sent.
struct Twice(SubmitWorkload);

impl Workload for Twice {
    type Op = <SubmitWorkload as Workload>::Op;
    type Session = <SubmitWorkload as Workload>::Session;
    type User = ();
    type Scratch = <SubmitWorkload as Workload>::Scratch;

    fn series(&self) -> Vec<hammer_core::workload::SeriesSpec> {
        self.0.series()
    }

    fn prepare(&self, scratch: &mut Self::Scratch, seq: u64, reuse: Option<Self::Op>) -> Self::Op {
        self.0.prepare(scratch, seq / 2, reuse)
    }

    async fn open(
        &self,
        context: hammer_core::workload::ShardContext,
    ) -> Result<Self::Session, hammer_core::workload::FatalError> {
        self.0.open(context).await
    }

    async fn execute(
        &self,
        session: &Self::Session,
        (): &(),
        op: &mut Self::Op,
        record: &hammer_core::record::OperationRecord,
    ) -> hammer_core::workload::Ended {
        self.0.execute(session, &(), op, record).await
    }

    fn promise_kinds(&self) -> &[&'static str] {
        self.0.promise_kinds()
    }

    fn verifier(&self) -> Option<Box<dyn hammer_core::promise::Verifier>> {
        self.0.verifier()
    }
}

fn pem(der: &[u8]) -> String {
    let text = hammer_tlog::encoding::base64(der);
    let lines: String =
        text.as_bytes().chunks(64).map(|line| format!("{}\n", std::str::from_utf8(line).unwrap())).collect();
    format!("-----BEGIN CERTIFICATE-----\n{lines}-----END CERTIFICATE-----\n")
}
