//! Recorded answers, as a verifier judges them.

use std::fs;
use std::sync::Mutex;

use hammer_core::promise::{Finding, PromiseLedger, PromiseRecord};
use hammer_measure::Nanos;
use hammer_measure::promise::Breach;
use hammer_synth::{FileChains, Minted};
use hammer_tlog::ct::rfc6962::AddChainRequest;
use hammer_tlog::ct::sct::Sct;
use hammer_tlog::encoding::base64;
use hammer_tlog::logs::merkle::Hash;
use proptest::prelude::*;

use super::rules::{LOG_ID, PROMISED_TWICE, SIGNATURE, TIMESTAMP};
use super::*;
use crate::log::LogKind;
use crate::plan::InvalidKind;
use crate::promise::LogPromise;
use crate::record::{self, Judged, SctRecord, SubmissionRecord};
use hammer_core::promise::Fault;

/// What was sent to TesseraCT, and its answer.
const RECORDED: [(&str, &str); 4] = [
    (include_str!("../../testdata/01-x509.request.json"), include_str!("../../testdata/01-x509.response")),
    (
        include_str!("../../testdata/04-precert.request.json"),
        include_str!("../../testdata/04-precert.response"),
    ),
    (
        include_str!("../../testdata/05-precert-by-precert-signing-cert.request.json"),
        include_str!("../../testdata/05-precert-by-precert-signing-cert.response"),
    ),
    (
        include_str!("../../testdata/06-precert-by-root.request.json"),
        include_str!("../../testdata/06-precert-by-root.response"),
    ),
];
const ROOT: &[u8] = include_bytes!("../../testdata/root.der");

/// The chain of a recorded request, as if it came from a file.
fn chain(request: &str) -> Minted {
    let request: AddChainRequest = serde_json::from_str(request).unwrap();
    let sent = request.chain.into_iter().map(|certificate| certificate.0);
    let pem: String = sent.chain([ROOT.to_vec()]).map(|der| pem(&der)).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), pem).unwrap();
    let mut minted = Minted::new();
    FileChains::read(&[file.path().to_owned()]).unwrap().write(0, &mut minted);
    minted
}

fn pem(der: &[u8]) -> String {
    let text = base64(der);
    let lines: Vec<&str> = (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

/// The record of that answer, received at the run's epoch.
fn record(request: &str, answer: &str) -> Vec<u8> {
    let (mut out, chain) = (Vec::new(), chain(request));
    record::write(&mut out, record::Instants::default(), answer.as_bytes(), (&chain, chain.kind()), None)
        .unwrap();
    out
}

/// The SCT of a record.
fn sct(bytes: &[u8]) -> SctRecord<'_> {
    match SubmissionRecord::read(bytes).unwrap() {
        SubmissionRecord::Sct(record) => record,
        other => panic!("{other:?}"),
    }
}

fn log(kind: LogKind) -> LogTarget {
    let key = include_str!("../../testdata/log-public-key.b64").parse().unwrap();
    LogTarget::new(kind, "http://127.0.0.1/vectors".parse().unwrap(), key)
}

/// A run that started when the answer was stamped.
fn verifier(answer: &str, distinct: bool) -> SctVerifier {
    let epoch_unix_ms = Sct::from_json(answer.as_bytes()).unwrap().timestamp_ms;
    SctVerifier::new(Arc::new(log(LogKind::StaticCt)), epoch_unix_ms, vec![ROOT.to_vec()], distinct)
}

impl SctVerifier {
    fn judge(&self, record: &SctRecord<'_>) -> Result<(), Fault> {
        let mut batch = SignatureBatch::new();
        let entry = self.rules.signed(record, &mut batch)?;
        let signature = self.rules.log.key.verify_batch(&mut batch).first();
        self.rules.judge(record, entry, signature).map(drop)
    }
}

fn kind_of<T>(judged: Result<T, Fault>) -> &'static str {
    judged.map_or_else(|fault| fault.kind, |_| "kept")
}

#[test]
fn recorded_answers_of_a_real_log_are_kept_promises() {
    for (request, answer) in RECORDED {
        let bytes = record(request, answer);
        let read = sct(&bytes);
        assert_eq!(read.sct, Sct::from_json(answer.as_bytes()).unwrap());
        verifier(answer, true).judge(&read).unwrap();
    }
}

#[test]
fn the_issuer_of_a_precertificate_is_found_among_the_roots_that_were_not_sent() {
    let (request, answer) = RECORDED[3];
    let bytes = record(request, answer);
    let mut read = sct(&bytes);
    read.chain.truncate(1);
    verifier(answer, true).judge(&read).unwrap();
    let mut unknown = verifier(answer, true);
    unknown.rules.roots = Arc::default();
    assert_eq!(kind_of(unknown.judge(&read)), SIGNATURE);
}

#[test]
fn whatever_the_log_did_not_sign_breaks_the_promise() {
    for (request, answer) in RECORDED {
        let bytes = record(request, answer);
        let read = || sct(&bytes);
        let judge = |record: &SctRecord<'_>| kind_of(verifier(answer, true).judge(record));
        let mut stamped = read();
        stamped.sct.timestamp_ms += 1;
        assert_eq!(judge(&stamped), SIGNATURE);
        let mut indexed = read();
        indexed.sct.extensions[7] ^= 1;
        assert_eq!(judge(&indexed), SIGNATURE);
        let mut other = read();
        other.sct.log_id = Hash([7; 32]);
        assert_eq!(judge(&other), LOG_ID);
        let mut cut = read();
        cut.sct.signature.pop();
        assert_eq!(judge(&cut), SIGNATURE);
        let leaf = read().chain[0].to_vec();
        let altered: Vec<u8> = leaf.iter().rev().copied().collect();
        let mut foreign = read();
        foreign.chain[0] = &altered;
        assert_eq!(judge(&foreign), SIGNATURE);
    }
}

#[test]
fn a_timestamp_is_held_against_the_skew_on_the_side_that_can_be_wrong() {
    let (request, answer) = RECORDED[0];
    let bytes = record(request, answer);
    let mut read = sct(&bytes);
    let judge = |read: &SctRecord<'_>, epoch_ms: i64, distinct| {
        let mut verifier = verifier(answer, distinct);
        let epoch_unix_ms = &mut verifier.rules.epoch_unix_ms;
        *epoch_unix_ms = epoch_unix_ms.checked_add_signed(epoch_ms).unwrap();
        kind_of(verifier.judge(read))
    };
    for (epoch_ms, distinct, kind) in [
        (60_000, true, "kept"),
        (60_001, true, TIMESTAMP),
        (86_400_000, false, "kept"),
        (-60_000, false, "kept"),
        (-60_001, false, TIMESTAMP),
    ] {
        assert_eq!(judge(&read, epoch_ms, distinct), kind, "{epoch_ms} {distinct}");
    }
    // An answer that was held for two minutes: it may have been stamped at any time of these.
    read.at.received = Nanos::from_secs(120);
    for (epoch_ms, kind) in [(60_000, "kept"), (60_001, TIMESTAMP), (-180_000, "kept"), (-180_001, TIMESTAMP)]
    {
        assert_eq!(judge(&read, epoch_ms, true), kind, "{epoch_ms}");
    }
}

#[test]
fn an_index_may_come_twice_only_where_leaves_do() {
    let (request, answer) = RECORDED[0];
    let bytes = record(request, answer);
    let read = sct(&bytes);
    for (distinct, second) in [(true, PROMISED_TWICE), (false, "kept")] {
        let verifier = verifier(answer, distinct);
        assert_eq!(kind_of(verifier.judge(&read)), "kept");
        // Another thread's verifier is a clone, and knows the same indices.
        assert_eq!(kind_of(verifier.clone().judge(&read)), second);
    }
}

#[test]
fn no_record_panics_wherever_it_ends() {
    let (request, answer) = RECORDED[2];
    let bytes = record(request, answer);
    for length in 0..bytes.len() {
        if let Ok(SubmissionRecord::Sct(record)) = SubmissionRecord::read(&bytes[..length]) {
            assert_ne!(kind_of(verifier(answer, true).judge(&record)), "kept", "{length}");
        }
    }
}

/// What can be wrong with a record, a kept promise among it.
fn lies() -> Vec<Vec<u8>> {
    let mut all: Vec<_> = RECORDED.iter().map(|(request, answer)| record(request, answer)).collect();
    let (request, answer) = RECORDED[0];
    let edit = |change: &dyn Fn(&mut Sct)| {
        let mut sct = Sct::from_json(answer.as_bytes()).unwrap();
        change(&mut sct);
        record(request, &serde_json::to_string(&sct.to_response()).unwrap())
    };
    all.extend([
        edit(&|sct| *sct.signature.last_mut().unwrap() ^= 1),
        edit(&|sct| sct.signature.truncate(20)),
        edit(&|sct| sct.signature[1] = 1),
        edit(&|sct| sct.log_id = Hash([7; 32])),
        edit(&|sct| sct.timestamp_ms += 1),
        edit(&|sct| sct.extensions.clear()),
        record(request, RECORDED[1].1),
        all[0][..100].to_vec(),
        vec![9],
    ]);
    for status in [200, 400] {
        let mut judged = Vec::new();
        let kind = InvalidKind::ALL[0];
        record::write_judged(&mut judged, Judged { kind, refuse: true, status });
        all.push(judged);
    }
    all
}

/// What is told of these records: the breaches, and how many promises were kept, broken and unchecked.
fn told(records: &[(u64, &[u8])], together: usize) -> (Vec<Breach>, [u64; 3]) {
    let mut verifier = verifier(RECORDED[0].1, true);
    let ledger = Arc::new(PromiseLedger::new(&LogPromise::NAMES));
    let breaches = Arc::new(Mutex::new(Vec::new()));
    let tell = breaches.clone();
    let tell = Box::new(move |found: Finding| {
        let Finding::Broken(broken) = found else { panic!("{found:?}") };
        tell.lock().unwrap().push(broken.breach);
    });
    let mut verdicts = Verdicts::new("submit", ledger.clone(), tell);
    for batch in records.chunks(together) {
        let mut together = Records::default();
        batch.iter().for_each(|(seq, record)| {
            together.push(PromiseRecord { seq: *seq, kind: LogPromise::Sct.into(), bytes: record });
        });
        match batch {
            [(seq, record)] => verifier.check(*seq, record, Nanos(0), &mut verdicts),
            _ => verifier.check_all(&together, Nanos(0), &mut verdicts),
        }
    }
    let ledger = ledger.read();
    let breaches = breaches.lock().unwrap().clone();
    (breaches, [ledger.kept, ledger.broken, ledger.unchecked])
}

#[test]
fn each_lie_at_each_place_of_a_batch_breaks_that_promise_alone() {
    let lies = lies();
    let kept = || lies[..4].iter().map(Vec::as_slice);
    for lie in &lies[4..] {
        for at in 0..=4 {
            // Each recorded promise once, since none of their indices may come twice.
            let mut records: Vec<&[u8]> = kept().collect();
            records.insert(at, lie);
            let records: Vec<_> = (0..).zip(records).collect();
            let (breaches, counts) = told(&records, 64);
            assert_eq!((breaches.clone(), counts), told(&records, 1));
            assert!(
                counts[0] >= 4 && breaches.iter().all(|breach| breach.seq == Some(at as u64)),
                "{counts:?}"
            );
            assert_eq!(counts.iter().sum::<u64>(), 5);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn records_together_are_judged_as_one_by_one(
        kinds in prop::collection::vec(0..15usize, 0..100), together in 2..80usize,
    ) {
        let lies = lies();
        let records: Vec<_> = (0..).zip(kinds.iter().map(|kind| lies[*kind].as_slice())).collect();
        prop_assert_eq!(told(&records, together), told(&records, 1));
    }
}
