//! Workloads against the embedded service.

use std::sync::Arc;

use hammer_cms::signature::KnownSigner;
use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::dispatch::{Load, LoadedWorkload, Open};
use hammer_core::run::{RunSpec, control, run};
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::Workload;
use hammer_exchange::ServiceConfig;
use hammer_lab_pki::{LieRule, PkiLabHandle, PkiLabPlan, PkiLieKind};
use hammer_measure::snapshot::RunResult;
use hammer_measure::{Fate, Nanos};
use hammer_net::{ClientConfig, Secret};
use hammer_pki::{
    AuthenticateWorkload, Dialect, DocumentLengths, Documents, SignConfig, SignWorkload, SignatureJudge,
    SignatureKind, Signer, SigningKey, TimestampInterface, TimestampJudge, TimestampWorkload,
};
use hammer_tlog::keys::chain::TrustedAuthorities;

const SEED: u64 = 7;
const OPERATIONS: u64 = 40;

/// Three signers, whose certificates are valid until that year.
fn signers(year: i32) -> Vec<Arc<Signer>> {
    let signer = |_| {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let certificate = params.self_signed(&key).unwrap();
        let key = SigningKey::new(&key.serialize_der(), certificate.der().to_vec()).unwrap();
        Arc::new(Signer { key, issuers: Vec::new() })
    };
    (0..3).map(signer).collect()
}

/// The client of a service that is called by that token.
fn service(lab: &PkiLabHandle) -> ServiceConfig {
    let mut client = ClientConfig::new(lab.url.parse().unwrap());
    client.bearer = Some(Secret::new("lab-token").unwrap());
    ServiceConfig::new("pki", client)
}

/// What a run of a workload leaves that started at an instant of that clock.
fn carried_out(workload: impl Workload, (clock, epoch_unix_ms): (MonotonicClock, u64)) -> Arc<RunResult> {
    let schedule = Schedule::even(Profile::Constant(Constant { rate: 40.0 })).operations(OPERATIONS);
    let lane = LoadedWorkload {
        name: "pki".to_owned(),
        workload: Arc::new(workload),
        load: Load::Open(Open { schedule, in_flight: 64, backlog: 100 }),
        timeout: Nanos::from_secs(20),
        supply: SupplyBounds::default(),
    };
    let spill = tempfile::tempdir().unwrap();
    let spec = RunSpec {
        clock,
        epoch_unix_ms,
        seed: SEED,
        spill_folder: spill.path().to_owned(),
        drain: Nanos::from_secs(20),
        ..RunSpec::new(vec![Arc::new(lane)])
    };
    let (_control, inbox) = control();
    run(spec, inbox, &mut []).unwrap()
}

fn now() -> (MonotonicClock, u64) {
    (MonotonicClock::starting_now(), unix_millis())
}

fn authorities(lab: &PkiLabHandle) -> TrustedAuthorities {
    TrustedAuthorities::from_pem(&lab.target().timestamp_authority().pem().join("\n")).unwrap()
}

/// What a run of all four kinds of signatures leaves, against a service of that plan.
fn signed(plan: PkiLabPlan, lengths: DocumentLengths) -> Arc<RunResult> {
    signed_and_fetched(plan, lengths, false)
}

/// The same, of files that are within the answer or fetched.
fn signed_and_fetched(plan: PkiLabPlan, lengths: DocumentLengths, by_url: bool) -> Arc<RunResult> {
    let (lab, signers) = (PkiLabHandle::spawn(plan).unwrap(), signers(4096));
    let documents = Documents::new(SEED, 0, lengths).unwrap();
    let known = signers.iter().map(|signer| KnownSigner::new(signer.key.certificate().to_vec()).unwrap());
    let started = now();
    let judge = SignatureJudge {
        kept_files: Arc::default(),
        documents: documents.clone(),
        signers: known.collect(),
        timestamps: Some(authorities(&lab)),
        epoch_unix_ms: started.1,
        skew_ms: 1_000,
    };
    let config = SignConfig {
        multipart_from: None,
        dialect: Dialect::RestPki,
        kinds: SignatureKind::ALL.map(|kind| (kind, 1)).to_vec(),
        by_digest: false,
        by_url,
        signers,
        security_context: None,
        documents,
        judge,
        service: service(&lab),
        seed: SEED,
    };
    carried_out(SignWorkload::new(config), started)
}

/// Ends of that fate in the series of that place.
fn fate(result: &RunResult, series: usize, fate: Fate) -> u64 {
    result.total.series[series].iter().map(|record| record.fate(fate)).sum()
}

#[test]
fn every_file_that_comes_back_is_a_promise_that_is_kept() {
    for lengths in [DocumentLengths::Of(140_288), DocumentLengths::Between(1_024, 1 << 20)] {
        let result = signed(PkiLabPlan::default(), lengths);
        let ledger = result.promises;
        assert_eq!((ledger.made, ledger.kept), (OPERATIONS, OPERATIONS), "{ledger:?} {:?}", result.breaches);
        let accepted = [0, 1, 2, 3].map(|series| fate(&result, series, Fate::Accepted));
        assert_eq!(accepted, [OPERATIONS / 4; 4]);
        assert_eq!([4, 5].map(|step| fate(&result, step, Fate::Accepted)), [OPERATIONS; 2], "both steps");
    }
}

#[test]
fn a_file_that_is_asked_for_by_its_url_is_fetched_by_a_step_of_its_own_and_judged() {
    let result = signed_and_fetched(PkiLabPlan::default(), DocumentLengths::Of(20_000), true);
    let ledger = result.promises;
    assert_eq!((ledger.made, ledger.kept), (OPERATIONS, OPERATIONS), "{ledger:?} {:?}", result.breaches);
    assert_eq!([4, 5, 6].map(|step| fate(&result, step, Fate::Accepted)), [OPERATIONS; 3], "all steps");
}

#[test]
fn each_lie_is_told_as_often_as_it_was_told_and_of_whom() {
    use PkiLieKind::{AnotherSigner, ByteRangeHole, StaleTimestamp};
    for (lie, kind) in
        [(AnotherSigner, "another-signer"), (ByteRangeHole, "byte-range"), (StaleTimestamp, "timestamp-time")]
    {
        let lies = vec![LieRule { after: 2, times: Some(3), ..LieRule::of(lie) }];
        let plan = PkiLabPlan { lies, ..PkiLabPlan::default() };
        let result = signed(plan, DocumentLengths::Of(5_000));
        let ledger = result.promises;
        assert_eq!((ledger.made, ledger.broken, ledger.kept), (OPERATIONS, 3, OPERATIONS - 3), "{ledger:?}");
        for breach in &result.breaches {
            assert!(breach.kind == kind && breach.seq.is_some(), "{breach:?}");
        }
    }
}

#[test]
fn what_was_refused_promises_nothing() {
    let plan = PkiLabPlan { access_token: "another".to_owned(), ..PkiLabPlan::default() };
    let result = signed(plan, DocumentLengths::Of(5_000));
    assert_eq!(result.promises.made, 0);
    assert_eq!((0..4).map(|series| fate(&result, series, Fate::Refused)).sum::<u64>(), OPERATIONS);
}

#[test]
fn a_login_is_accepted_by_a_nonce_and_by_a_token_and_one_that_is_invalid_is_refused_with_a_success() {
    for (by_token, year, outcome) in
        [(false, 4096, Fate::Accepted), (true, 4096, Fate::Accepted), (true, 2020, Fate::Refused)]
    {
        let lab = PkiLabHandle::spawn(PkiLabPlan::default()).unwrap();
        let workload = AuthenticateWorkload::new(signers(year), by_token, service(&lab));
        let result = carried_out(workload, now());
        assert_eq!(fate(&result, 0, outcome), OPERATIONS, "{by_token} {year}");
        assert_eq!([1, 2].map(|step| fate(&result, step, Fate::Accepted) > 0), [true, year > 2020]);
    }
}

#[test]
fn every_timestamp_is_a_promise_that_is_kept() {
    let lab = PkiLabHandle::spawn(PkiLabPlan::default()).unwrap();
    let other = PkiLabHandle::spawn(PkiLabPlan { key_seed: 2, ..PkiLabPlan::default() }).unwrap();
    for (authorities, kept) in [(authorities(&lab), OPERATIONS), (authorities(&other), 0)] {
        let started = now();
        let judge = TimestampJudge { authorities, epoch_unix_ms: started.1, skew_ms: 1_000 };
        for interface in [
            TimestampInterface::RestPki { plan: "any".to_owned() },
            TimestampInterface::Http { path: "/tsa".to_owned().try_into().unwrap() },
        ] {
            let workload = TimestampWorkload::new(interface, (SEED, 0), judge.clone(), service(&lab));
            let ledger = carried_out(workload, started).promises;
            assert_eq!((ledger.made, ledger.kept, ledger.broken), (OPERATIONS, kept, OPERATIONS - kept));
        }
    }
}
