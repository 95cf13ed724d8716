//! What the services of Sigstore answer, as it is judged, and what says whom to trust.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hammer_audit::{AnsweredSource as _, LogSource as _, ReadBack};
use hammer_core::promise::{PromiseLedger, Verdicts};
use hammer_core::workload::Workload as _;
use hammer_measure::Nanos;
use hammer_messages::bundle::Bundle;
use hammer_net::ClientConfig;
use hammer_sigstore::{
    BundleVerifier, CorpusFile, ExpectedBundle, FoundEntry, FoundShards, RekorLog, RekorTilesLeaves,
    ServedTrust, ServiceEndpoints, SignedBundle, SigningConfig, SigstoreRun, SigstoreTarget,
    SigstoreTargetPlan, TimestampPlan, TimestampWorkload, Trust, TrustedRoot, judge_found, one_found,
};
use hammer_tlog::encoding::{base64, from_base64};
use hammer_tlog::logs::audit::{LeafFormat as _, Receipt};
use hammer_tlog::logs::merkle::leaf_hash;
use serde_json::Value;

use crate::structure::text;
use crate::timestamp::signed_content;

/// A corpus: whatever is cut off its end, it has no entry that the whole has not, and no other mistake in an earlier line.
pub(crate) fn corpus(data: &[u8]) -> bool {
    let whole = CorpusFile::parse(data);
    let half = CorpusFile::parse(&data[..data.len() / 2]);
    match (&whole, &half) {
        (Ok(whole), Ok(half)) => assert!(half.entries() <= whole.entries()),
        // What ends in the middle of a line may be no corpus yet; a bad line that is whole stays one.
        (Ok(_), Err(bad)) => assert!(bad.line == 1, "{bad:?}"),
        (Err(whole), Err(half)) => assert!(half.line <= whole.line, "{whole:?} {half:?}"),
        (Err(_), Ok(_)) => {}
    }
    whole.is_ok_and(|file| file.entries() > 0)
}

/// A record on which a promise is kept holds what the recorded services answered to what was recorded.
pub(crate) fn record(data: &[u8]) -> bool {
    let ledger = Arc::new(PromiseLedger::new(JUDGE.promise_kinds()));
    let mut verdicts = Verdicts::new("fuzz", ledger.clone(), Box::new(drop));
    let mut verifier = JUDGE.verifier().expect("timestamps are verified");
    verifier.check(1, data, Nanos::ZERO, &mut verdicts);
    assert_eq!(verdicts.resolved(), 1, "every record gets one verdict");
    let believed = ledger.read().kept == 1;
    assert!(!believed || is_recorded(data));
    believed
}

/// Whether a record is about what is known to have been answered: a certificate's key and identity, an entry as it is stored, a
/// timestamp's content.
fn is_recorded(record: &[u8]) -> bool {
    let has = |part: &[u8]| record.windows(part.len()).any(|window| window == part);
    match record.first() {
        Some(&CERTIFICATE) => {
            has(b"jdoe@redhat.com") && CERTIFICATES.iter().any(|known| has(part(known, 1).as_slice()))
        }
        Some(&ENTRY) => {
            let stored = |entry: &[u8]| serde_json::from_slice::<Value>(&part(entry, 0)).ok();
            ENTRIES.iter().any(|known| stored(known) == stored(record))
        }
        Some(&TIMESTAMP) => has(signed_content(STAMPED).expect("a timestamp")),
        // A chain is nothing but certificates that are trusted.
        kind => kind == Some(&TIMESTAMP_CHAIN),
    }
}

/// The nth part of a record of a certificate or an entry that stands behind its own length.
fn part(record: &[u8], nth: usize) -> Vec<u8> {
    let mut rest = record.get(PARTS..).unwrap_or_default();
    let mut found = Vec::new();
    for _ in 0..=nth {
        let Some((length, behind)) = rest.split_first_chunk() else { return Vec::new() };
        let length = (u32::from_be_bytes(*length) as usize).min(behind.len());
        let (this, next) = behind.split_at(length);
        (found, rest) = (this.to_vec(), next);
    }
    found
}

/// Whatever was read as a trusted root can be trusted, or says what is missing.
pub(crate) fn trusted_root(data: &[u8]) -> bool {
    let Ok(root) = TrustedRoot::parse(&text(data)) else { return false };
    let trust = Trust::of(&plan(), Some(&root));
    trust.is_ok_and(|trust| trust.expect_rekor_tiles().is_ok())
}

/// What a service says of whom to trust is believed as a whole, and then told; the first byte says which service.
pub(crate) fn served_trust(data: &[u8]) -> bool {
    let Some((which, body)) = data.split_first() else { return false };
    let mut trust = ServedTrust::default();
    let service = ServedTrust::SERVICES[usize::from(*which) % ServedTrust::SERVICES.len()];
    let believed = trust.believe(service, body, "http://127.0.0.1").is_ok();
    assert_eq!(trust.note().is_some(), believed);
    believed
}

/// A signing configuration that says where a service is says so at any time of its validity.
pub(crate) fn signing_config(data: &[u8]) -> bool {
    let at = |seconds| SigningConfig::parse(&text(data), seconds);
    let Ok(read) = at(NOW) else { return false };
    assert_eq!(at(NOW).ok().as_ref(), Some(&read));
    read != SigningConfig::default()
}

/// A bundle that is believed is one that cosign wrote for the recorded servers, but for what nobody signs.
pub(crate) fn signed_bundle(data: &[u8]) -> bool {
    let Ok(bundle) = SignedBundle::parse(data) else { return false };
    let root = TrustedRoot::parse(TRUSTED_ROOT).expect("a trusted root");
    let verified = BundleVerifier::of_root(&root).verify(&bundle, &ExpectedBundle::default());
    let Ok(verified) = verified else { return false };
    let is_recorded = |(known, index): &(&[u8], i64)| {
        let read = |json: &[u8]| serde_json::from_slice::<Bundle>(json).expect("a bundle").message_signature;
        read(known) == read(data) && verified.log_index == *index
    };
    assert!(BUNDLES.iter().any(is_recorded));
    assert_eq!(verified.identity.as_deref(), Some("jdoe@redhat.com"));
    true
}

/// The entries of a bundle up to the first that cannot be read are the bytes up to there.
pub(crate) fn bundle(data: &[u8]) -> bool {
    let (mut written, mut is_whole) = (Vec::new(), !data.is_empty());
    for entry in RekorTilesLeaves::entries(data) {
        let Ok(entry) = entry else {
            is_whole = false;
            break;
        };
        written.extend_from_slice(&(entry.len() as u16).to_be_bytes());
        written.extend_from_slice(entry);
        assert_eq!(RekorTilesLeaves::leaf_hash(&entry).ok(), Some(leaf_hash(entry)));
    }
    assert!(data.starts_with(&written));
    assert!(!is_whole || written.len() == data.len());
    is_whole
}

/// A head of Rekor v1 that is believed is the recorded one, and entries that are read back are kept only as they were recorded.
pub(crate) fn log(data: &[u8]) -> bool {
    let has = |part: &str| data.windows(part.len()).any(|window| window == part.as_bytes());
    let opened = LOG.open_head(data);
    if let Ok(head) = &opened {
        // Hexadecimal digits are the same in capitals.
        let (root, lower) = (head.root.to_hex(), data.to_ascii_lowercase());
        let has_root = lower.windows(root.len()).any(|window| window == root.as_bytes());
        assert!(head.size == 1 && has_root, "{head:?}");
    }
    let receipt = Receipt::new(0, leaf_hash(&LOGGED), Some(0), 0, 0);
    let read = LOG.read_back(&[receipt], data);
    let is_found = read.is_ok_and(|read| read == [ReadBack::Kept]);
    assert!(!is_found || has(&base64(&LOGGED)));
    let proof = LOG.consistency_in(1, 1, 2).and_then(|query| (query.read)(data).ok());
    opened.is_ok() || is_found || proof.is_some_and(|hashes| !hashes.is_empty())
}

/// Whatever is drawn of what a search found is a UUID that stands there; and of entries that are read by the recorded one's only that is
/// believed to be it.
pub(crate) fn search(data: &[u8]) -> bool {
    let has = |part: &str| data.windows(part.len()).any(|window| window == part.as_bytes());
    let draws = [0, 1, data.len() as u64 / 2, u64::MAX];
    for uuid in draws.into_iter().filter_map(|draw| one_found(data, draw)) {
        assert!(matches!(uuid.len(), 64 | 80) && has(&format!("\"{uuid}\"")), "{uuid}");
    }
    let found = FoundEntry { asked: FOUND_BY, uuid: FOUND.as_bytes(), answer: Some(data) };
    let is_believed = judge_found(&TRUST, &FoundShards::default(), found).is_ok();
    let lower = data.to_ascii_lowercase();
    assert!(
        !is_believed || lower.windows(LEAF).any(|window| window == &FOUND.as_bytes()[FOUND.len() - LEAF..])
    );
    is_believed || one_found(data, 0).is_some()
}

/// The recorded hashedrekord of Rekor v1, and by what it is found.
const FOUND: &str = "5bf5224abb06a469ba2526533139253cc2e32482c6adb32809ee0d6c84184ba767db329ca3425c5f";
/// Digits of a leaf's hash, with which a UUID ends.
const LEAF: usize = 64;
const FOUND_BY: &[u8] =
    br#"{"hash":"sha256:e9bf07ea1d33ac99c27fbf1c0cb89cf8e06815570f1deb77fe571e63f361f601"}"#;
static TRUST: LazyLock<Trust> = LazyLock::new(|| {
    let root = TrustedRoot::parse(TRUSTED_ROOT).expect("a trusted root");
    Trust::of(&plan(), Some(&root)).expect("all that is trusted")
});

/// The recorded log of Rekor v1, and its first entry.
static LOG: LazyLock<RekorLog> = LazyLock::new(|| {
    let root = TrustedRoot::parse(TRUSTED_ROOT).expect("a trusted root");
    let trust = Arc::new(Trust::of(&plan(), Some(&root)).expect("all that is trusted"));
    RekorLog::new("http://127.0.0.1:1/".to_owned(), trust, Duration::ZERO)
});
static LOGGED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let answer: Value = serde_json::from_slice(RETRIEVED).expect("an answer");
    let entry = answer[0].as_object().and_then(|one| one.values().next()).expect("an entry");
    from_base64(entry["body"].as_str().expect("a body")).expect("base64")
});
const RETRIEVED: &[u8] = include_bytes!("../../../fuzz/seeds/rekor_log/retrieved");

/// The recorded services, and when they answered.
static JUDGE: LazyLock<TimestampWorkload> = LazyLock::new(|| {
    let root = TrustedRoot::parse(TRUSTED_ROOT).expect("a trusted root");
    let trust = Arc::new(Trust::of(&plan(), Some(&root)).expect("all that is trusted"));
    let target = SigstoreTarget {
        endpoints: ServiceEndpoints::of(&plan()),
        trust,
        tokens: None,
        certified_issuer: None,
        certified_subject: None,
    };
    let run = SigstoreRun { seed: 0, epoch_unix_ms: RECORDED_AT_MS, workload: 0 };
    let client = ClientConfig::new("http://127.0.0.1:1".parse().expect("a URL"));
    TimestampWorkload::new(&TimestampPlan::default(), &target, &run, client).expect("a chain")
});

fn plan() -> SigstoreTargetPlan {
    let plan = r#"{"rekor_tiles_url":"http://127.0.0.1:13003","rekor_tiles_origin":"127.0.0.1"}"#;
    serde_json::from_str(plan).expect("a plan")
}

/// 2026-11-22, in seconds.
const NOW: u64 = 1_795_305_600;
const TRUSTED_ROOT: &str = include_str!("../../../fuzz/seeds/trusted_root/of-the-records.json");
/// 2026-11-21T06:48:10Z.
const RECORDED_AT_MS: u64 = 1_795_243_690_000;
const CERTIFICATES: [&[u8]; 2] = [
    include_bytes!("../../../fuzz/seeds/sigstore_record/certificate-v1"),
    include_bytes!("../../../fuzz/seeds/sigstore_record/certificate-v2"),
];
const ENTRIES: [&[u8]; 3] = [
    include_bytes!("../../../fuzz/seeds/sigstore_record/entry-hashedrekord"),
    include_bytes!("../../../fuzz/seeds/sigstore_record/entry-rfc3161"),
    include_bytes!("../../../fuzz/seeds/sigstore_record/entry-tiles"),
];
/// With the index of each one's entry.
const BUNDLES: [(&[u8], i64); 2] = [
    (include_bytes!("../../../fuzz/seeds/sigstore_bundle/cosign-rekor-v1.json"), 7495),
    (include_bytes!("../../../fuzz/seeds/sigstore_bundle/cosign-rekor-v2.json"), 0),
];
const STAMPED: &[u8] = include_bytes!("../../../fuzz/seeds/timestamp/timestamp-server.tsr");
/// What a record starts with.
const CERTIFICATE: u8 = 1;
const ENTRY: u8 = 2;
const TIMESTAMP: u8 = 3;
const TIMESTAMP_CHAIN: u8 = 4;
/// Where the parts of a certificate's or an entry's record start: behind two bytes of kind and three instants.
const PARTS: usize = 2 + 3 * 8;
