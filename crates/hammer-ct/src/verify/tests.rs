use std::fs;

use hammer_synth::{FileChains, Minted};
use hammer_tlog::encoding::base64;
use hammer_tlog::merkle::Hash;
use hammer_tlog::rfc6962::AddChainRequest;
use hammer_tlog::sct::Sct;

use super::*;
use crate::record;

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
fn sct(bytes: &[u8]) -> Record<'_> {
    match Told::read(bytes).unwrap() {
        Told::Sct(record) => record,
        Told::Judged(judged) => panic!("{judged:?}"),
    }
}

fn log(kind: LogKind) -> LogTarget {
    let key = include_str!("../../testdata/log-public-key.b64").parse().unwrap();
    LogTarget::new(kind, "http://127.0.0.1/vectors".parse().unwrap(), key)
}

/// A run that began when the answer was stamped.
fn verifier(answer: &str, distinct: bool) -> SctVerifier {
    let epoch_unix_ms = Sct::from_json(answer.as_bytes()).unwrap().timestamp_ms;
    SctVerifier::new(Arc::new(log(LogKind::StaticCt)), epoch_unix_ms, vec![ROOT.to_vec()], distinct)
}

fn kind_of<T>(judged: Result<T, Broken>) -> &'static str {
    judged.map_or_else(|(kind, _)| kind, |_| "kept")
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
    let unknown = SctVerifier { roots: Arc::default(), ..verifier(answer, true) };
    assert_eq!(kind_of(unknown.judge(&read)), SIGNATURE);
}

#[test]
fn whatever_the_log_did_not_sign_breaks_the_promise() {
    for (request, answer) in RECORDED {
        let bytes = record(request, answer);
        let read = || sct(&bytes);
        let judge = |record: &Record<'_>| kind_of(verifier(answer, true).judge(record));
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
    let read = sct(&bytes);
    let judge = |epoch_ms: i64, distinct| {
        let verifier = verifier(answer, distinct);
        let epoch_unix_ms = verifier.epoch_unix_ms.checked_add_signed(epoch_ms).unwrap();
        kind_of(SctVerifier { epoch_unix_ms, ..verifier }.judge(&read))
    };
    for (epoch_ms, distinct, kind) in [
        (60_000, true, "kept"),
        (60_001, true, TIMESTAMP),
        (86_400_000, false, "kept"),
        (-60_000, false, "kept"),
        (-60_001, false, TIMESTAMP),
    ] {
        assert_eq!(judge(epoch_ms, distinct), kind, "{epoch_ms} {distinct}");
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
        if let Ok(Told::Sct(record)) = Told::read(&bytes[..length]) {
            assert_ne!(kind_of(verifier(answer, true).judge(&record)), "kept", "{length}");
        }
    }
}
