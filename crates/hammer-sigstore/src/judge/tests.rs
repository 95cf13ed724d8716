//! Recorded answers hold, and each alteration is found by its own name.

mod altered;
mod read_back;

use std::sync::LazyLock;

use hammer_core::promise::Fault;
use hammer_read::{LogHeads, Part, ProvedTrees, write_parts};
use hammer_tlog::encoding::from_base64;
use hammer_tlog::hash::Hash;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::logs::merkle::leaf_hash;
use hammer_tlog::logs::tile::{Level, TileId};
use serde_json::Value;

use super::*;
use crate::plan::{FulcioInterface, SigstoreTargetPlan};
use crate::record::{CertificateRecord, FoundOnTiles, TilesArtifactRecord, TimestampRecord};
use crate::trust::TrustedRoot;

const ENTRY: &str = include_str!("../../testdata/rekor-v1-hashedrekord-response.json");
const TILES_ENTRY: &str = include_str!("../../testdata/rekor-v2-cert-response.json");
const TILES_HEAD: &[u8] = include_bytes!("../../testdata/rekor-v2-checkpoint.txt");
const TILE: &[u8] = include_bytes!("../../testdata/rekor-v2-tile-0-000.p2.bin");
const CHAIN: &str = include_str!("../../testdata/fulcio-v1-response.pem");
const TIMESTAMP: &[u8] = include_bytes!("../../testdata/tsa-response.tsr");
const QUERY: &[u8] = include_bytes!("../../testdata/tsa-request.tsq");
const TIMESTAMP_CHAIN: &str = include_str!("../../testdata/tsa-certchain.pem");
const IDENTITY: &str = "jdoe@redhat.com";
const AT: Instants = Instants { intended: Nanos::ZERO, sent: Nanos::ZERO, received: Nanos::ZERO };

static TRUST: LazyLock<Trust> = LazyLock::new(|| {
    let root = TrustedRoot::parse(include_str!("../../testdata/trusted_root.json")).unwrap();
    let plan = r#"{"rekor_tiles_url":"http://127.0.0.1:13003","rekor_tiles_origin":"127.0.0.1"}"#;
    Trust::of(&serde_json::from_str::<SigstoreTargetPlan>(plan).unwrap(), Some(&root)).unwrap()
});

/// The recorded entry of Rekor v1 says so, in seconds since 1970.
const INTEGRATED: i64 = 1_795_243_691;

/// What was sent and answered at once.
fn at(unix_ms: i64) -> StampWindow {
    StampWindow::new(unix_ms, unix_ms, TRUST.skew)
}

fn kind<T>(judged: Result<T, Fault>) -> &'static str {
    judged.map_or_else(|fault| fault.kind, |_| "kept")
}

/// What is judged with its signatures.
fn together(judge: impl FnOnce(&mut Signatures) -> Result<(), Fault>) -> &'static str {
    let mut signatures = Signatures::default();
    let judged = judge(&mut signatures);
    let places = 0..signatures.len();
    kind(signatures.verify().check(places).and(judged))
}

fn stored_in(text: &str, pointer: &str) -> Vec<u8> {
    let answer: Value = serde_json::from_str(text).unwrap();
    let entry = answer.as_object().unwrap().values().find(|value| value.get("body").is_some());
    let body = entry.and_then(|entry| entry.get("body")).or_else(|| answer.pointer(pointer));
    from_base64(body.unwrap().as_str().unwrap()).unwrap()
}

fn rekor(body: &str, stored: &[u8]) -> &'static str {
    rekor_at(body, stored, INTEGRATED * 1000)
}

fn rekor_at(body: &str, stored: &[u8], at_ms: i64) -> &'static str {
    let record = EntryRecord { at: AT, log: EntryLog::Rekor, stored, body: body.as_bytes() };
    let (shards, mut believed) = (ShardOffsets::default(), BelievedNote::default());
    let judged = kind(entry::judge_rekor(log_trust(&shards), &record, at(at_ms), &mut believed));
    // What is remembered of it changes nothing, nor does what is remembered of an honest one.
    assert_eq!(kind(entry::judge_rekor(log_trust(&shards), &record, at(at_ms), &mut believed)), judged);
    let honest = EntryRecord { body: ENTRY.as_bytes(), ..record };
    let _ = entry::judge_rekor(log_trust(&shards), &honest, at(at_ms), &mut believed);
    assert_eq!(kind(entry::judge_rekor(log_trust(&shards), &record, at(at_ms), &mut believed)), judged);
    judged
}

fn log_trust(shards: &ShardOffsets) -> LogTrust<'_> {
    LogTrust { trust: &TRUST, shards }
}

fn tiles(body: &str, stored: &[u8]) -> &'static str {
    let record = EntryRecord { at: AT, log: EntryLog::Tiles, stored, body: body.as_bytes() };
    let mut believed = BelievedCheckpoint::default();
    let judged = kind(entry::judge_tiles(&TRUST, &record, &mut believed));
    // What is remembered of it changes nothing.
    assert_eq!(kind(entry::judge_tiles(&TRUST, &record, &mut believed)), judged);
    judged
}

#[test]
fn a_recorded_entry_of_rekor_v1_holds_and_what_is_altered_is_named() {
    let stored = stored_in(ENTRY, "");
    assert_eq!(rekor(ENTRY, &stored), "kept");
    let other = String::from_utf8(stored.clone()).unwrap().replace("sha256", "sha512");
    assert_eq!(rekor(ENTRY, other.as_bytes()), "another-entry");
    let told = "\"integratedTime\":1795243691";
    assert!(ENTRY.contains(told));
    assert_eq!(rekor(&ENTRY.replace(told, "\"integratedTime\":1795243692"), &stored), "bad-set");
    let uuid = ENTRY.replace("ba2526533139253c", "ba2526533139253d");
    assert_eq!(rekor(&uuid, &stored), "entry-uuid");
    let foreign = ENTRY.replace("a1e1a55cc994d53a", "a1e1a55cc994d53b");
    assert_eq!(rekor(&foreign, &stored), "entry-of-another-log");
    let mut answer: Value = serde_json::from_str(ENTRY).unwrap();
    let entry = answer.as_object_mut().unwrap().values_mut().next().unwrap();
    entry["verification"]["inclusionProof"]["treeSize"] = 2.into();
    assert_eq!(rekor(&answer.to_string(), &stored), "inclusion-proof");
    let mut answer: Value = serde_json::from_str(ENTRY).unwrap();
    let proof =
        &mut answer.as_object_mut().unwrap().values_mut().next().unwrap()["verification"]["inclusionProof"];
    let checkpoint =
        proof["checkpoint"].as_str().unwrap().replace("6626240131106251881", "6626240131106251882");
    proof["checkpoint"] = checkpoint.into();
    assert_eq!(rekor(&answer.to_string(), &stored), "checkpoint");
    assert_eq!(rekor("{}", &stored), "malformed-answer");
    // A UUID names the tree, too.
    assert_eq!(rekor(&ENTRY.replace("5bf5224abb06a469", "5bf5224abb06a468"), &stored), "entry-uuid");
    // Who cosigned may stand before the log.
    let mut answer: Value = serde_json::from_str(ENTRY).unwrap();
    let proof =
        &mut answer.as_object_mut().unwrap().values_mut().next().unwrap()["verification"]["inclusionProof"];
    let cosigned = "\n\n\u{2014} witness.example AAAAAAAA\n";
    proof["checkpoint"] = proof["checkpoint"].as_str().unwrap().replacen("\n\n", cosigned, 1).into();
    assert_eq!(rekor(&answer.to_string(), &stored), "kept");
    // The stated skew is a minute.
    assert_eq!(rekor_at(ENTRY, &stored, (INTEGRATED + 60) * 1000), "kept");
    assert_eq!(rekor_at(ENTRY, &stored, (INTEGRATED + 62) * 1000), "entry-time");
    assert_eq!(rekor_at(ENTRY, &stored, (INTEGRATED - 61) * 1000), "entry-time");
}

#[test]
fn an_entry_that_says_something_twice_is_another() {
    let stored = stored_in(ENTRY, "");
    let text = String::from_utf8(stored.clone()).unwrap();
    for (once, twice) in [
        (r#""spec":{"#, r#""spec":{"evil":1},"spec":{"#),
        (r#""algorithm":"sha256""#, r#""algorithm":"sha512","algorithm":"sha256""#),
    ] {
        assert!(text.contains(once), "{text}");
        assert_eq!(rekor(ENTRY, text.replacen(once, twice, 1).as_bytes()), "another-entry");
    }
}

#[test]
fn an_answer_that_has_its_entry_twice_is_malformed_whichever_of_both_is_the_logs() {
    let stored = stored_in(ENTRY, "");
    let (uuid, entry) = ENTRY.trim().strip_prefix('{').unwrap().split_once(':').unwrap();
    let entry = entry.strip_suffix('}').unwrap();
    let other = entry.replace("\"integratedTime\":1795243691", "\"integratedTime\":1");
    assert_ne!(other, entry);
    let escaped = uuid.replacen('5', "\\u0035", 1);
    for (first, second) in [(other.as_str(), entry), (entry, &other), (entry, entry)] {
        for again in [uuid, escaped.as_str()] {
            let twice = format!("{{{uuid}:{first},{again}:{second}}}");
            assert_eq!(rekor(&twice, &stored), "malformed-answer", "{again}");
        }
    }
    assert_eq!(rekor(&format!("{{{escaped}:{entry}}}"), &stored), "kept");
}

#[test]
fn an_entry_in_other_words_is_the_same_entry() {
    let stored = stored_in(ENTRY, "");
    let value: Value = serde_json::from_slice(&stored).unwrap();
    assert_eq!(rekor(ENTRY, serde_json::to_string_pretty(&value).unwrap().as_bytes()), "kept");
}

#[test]
fn a_recorded_entry_of_rekor_v2_holds_and_what_is_altered_is_named() {
    let stored = stored_in(TILES_ENTRY, "/canonicalizedBody");
    assert_eq!(tiles(TILES_ENTRY, &stored), "kept");
    assert_eq!(tiles(TILES_ENTRY, b"{}"), "another-entry");
    assert_eq!(tiles(r#"{"code":13,"message":"internal"}"#, &stored), "malformed-answer");
    let altered = |path: &str, value: Value| {
        let mut answer: Value = serde_json::from_str(TILES_ENTRY).unwrap();
        *answer.pointer_mut(path).unwrap() = value;
        tiles(&answer.to_string(), &stored)
    };
    assert_eq!(altered("/inclusionProof/logIndex", "0".into()), "inclusion-proof");
    let another = hammer_tlog::encoding::base64(&[7; 32]);
    assert_eq!(altered("/logId/keyId", another.into()), "entry-of-another-log");
    assert_eq!(altered("/logId", Value::Null), "entry-of-another-log");
    assert_eq!(altered("/inclusionProof/hashes", Value::Array(Vec::new())), "inclusion-proof");
    assert_eq!(altered("/inclusionProof", Value::Null), "inclusion-proof");
    assert_eq!(altered("/logIndex", "7".into()), "entry-index");
    let answer: Value = serde_json::from_str(TILES_ENTRY).unwrap();
    let envelope = answer.pointer("/inclusionProof/checkpoint/envelope").unwrap().as_str().unwrap();
    let path = "/inclusionProof/checkpoint/envelope";
    assert_eq!(altered(path, envelope.replace("\n2\n", "\n3\n").into()), "checkpoint");
    assert_eq!(altered(path, envelope.replace("127.0.0.1\n2", "127.0.0.2\n2").into()), "checkpoint-origin");
    assert_eq!(altered("/inclusionProof/checkpoint", Value::Null), "checkpoint");
}

fn certificate(trust: &Trust, identity: &str, spki: &[u8], unix_ms: i64) -> &'static str {
    certificate_of(trust, (identity, ""), spki, unix_ms)
}

fn certificate_of(
    trust: &Trust,
    (identity, issuer): (&str, &str),
    spki: &[u8],
    unix_ms: i64,
) -> &'static str {
    let (interface, body) = (FulcioInterface::V1, CHAIN.as_bytes());
    let record = CertificateRecord { at: AT, interface, identity, issuer, spki, sct_header: b"", body };
    together(|signatures| certificate::judge(trust, &record, at(unix_ms), signatures))
}

#[test]
fn a_recorded_certificate_holds_for_its_key_its_identity_its_time_and_its_ct_log() {
    let chain = crate::fulcio::chain(FulcioInterface::V1, CHAIN.as_bytes()).unwrap();
    let leaf = Certificate::parse(&chain[0]).unwrap();
    let issued_ms = leaf.not_before_seconds().unwrap() * 1000;
    let trust = &*TRUST;
    assert_eq!(certificate(trust, IDENTITY, leaf.spki, issued_ms + 1), "kept");
    assert_eq!(certificate(trust, "another@redhat.com", leaf.spki, issued_ms), "certificate-identity");
    let of_issuer = |issuer| certificate_of(trust, (IDENTITY, issuer), leaf.spki, issued_ms);
    assert_eq!(of_issuer("http://127.0.0.1:18888"), "kept");
    assert_eq!(of_issuer("http://127.0.0.1:18889"), "certificate-issuer");
    let root = Certificate::parse(&chain[1]).unwrap();
    assert_eq!(certificate(trust, IDENTITY, root.spki, issued_ms), "certificate-key");
    assert_eq!(certificate(trust, IDENTITY, leaf.spki, issued_ms + 3_600_000), "certificate-untrusted");
    // A service whose clock is half a minute ahead of ours is believed, one that is two minutes ahead is not.
    assert_eq!(certificate(trust, IDENTITY, leaf.spki, issued_ms - 30_000), "kept");
    assert_eq!(certificate(trust, IDENTITY, leaf.spki, issued_ms - 120_000), "certificate-untrusted");
    // It is valid for ten minutes, but the log's SCT is of when it was issued.
    assert_eq!(certificate(trust, IDENTITY, leaf.spki, issued_ms + 300_000), "sct-timestamp");
    let mut foreign = trust.clone();
    foreign.ct_logs = vec![hammer_tlog::keys::key::LogKey::from_der(root.spki).unwrap()];
    assert_eq!(certificate(&foreign, IDENTITY, leaf.spki, issued_ms), "sct-of-another-log");
    foreign.ct_logs.clear();
    foreign.require_sct = false;
    assert_eq!(certificate(&foreign, IDENTITY, leaf.spki, issued_ms), "kept");
}

#[test]
fn a_clock_that_is_a_little_off_signs_within_the_certificates_validity_and_no_other_does() {
    let chain = crate::fulcio::chain(FulcioInterface::V1, CHAIN.as_bytes()).unwrap();
    let leaf = Certificate::parse(&chain[0]).unwrap();
    let (first, last) = (leaf.not_before_seconds().unwrap(), leaf.not_after_seconds().unwrap());
    let at = |seconds| {
        let skew = std::time::Duration::from_secs(5);
        certificate::believed_within(&leaf, skew, seconds)
    };
    for (seconds, believed) in [
        (first - 6, first - 6),
        (first - 5, first),
        (first, first),
        (first + 7, first + 7),
        (last, last),
        (last + 5, last),
        (last + 6, last + 6),
    ] {
        assert_eq!(at(seconds), believed, "{} s into it", seconds - first);
    }
}

#[test]
fn what_is_of_a_trusted_log_on_an_unknown_curve_is_unchecked_and_what_is_of_no_trusted_log_is_not() {
    let chain = crate::fulcio::chain(FulcioInterface::V1, CHAIN.as_bytes()).unwrap();
    let leaf = Certificate::parse(&chain[0]).unwrap();
    let issued_ms = leaf.not_before_seconds().unwrap() * 1000;
    let mut trust = TRUST.clone();
    let ids = trust.ct_logs.drain(..).map(|log| log.log_id()).collect();
    assert_eq!(certificate(&trust, IDENTITY, leaf.spki, issued_ms), "sct-of-another-log");
    trust.leave_unread(ids);
    assert_eq!(certificate(&trust, IDENTITY, leaf.spki, issued_ms), hammer_read::UNVERIFIED);
}

#[test]
fn a_recorded_timestamp_holds_for_its_imprint_its_nonce_and_its_time() {
    let query = hammer_cms::timestamp::TimestampQuery::parse(QUERY).unwrap();
    let trusted = hammer_tlog::keys::chain::TrustedAuthorities::from_pem(TIMESTAMP_CHAIN).unwrap();
    let at_ms = {
        let parsed = hammer_cms::timestamp::ExpectedTimestamp {
            imprint: hammer_cms::timestamp::ExpectedImprint::Sha256(&query.imprint_sha256),
            nonce: query.nonce,
            not_before_ms: None,
            not_after_ms: None,
        };
        TimestampVerifier::new(trusted.clone()).verify(TIMESTAMP, &parsed).unwrap().unix_ms
    };
    let judged = |imprint: [u8; 32], nonce: u64, at_ms: i64| {
        let mut verifier = TimestampVerifier::new(trusted.clone());
        let record = TimestampRecord { at: AT, imprint: Hash(imprint), nonce, body: TIMESTAMP };
        together(|signatures| timestamp::judge((&TRUST, Some(&mut verifier)), &record, at(at_ms), signatures))
    };
    let (imprint, nonce) = (query.imprint_sha256, query.nonce.unwrap());
    assert_eq!(judged(imprint, nonce, at_ms), "kept");
    // The signer is known all the same, where its certificate is sent under another number.
    let chain = crate::pem::certificates(TIMESTAMP_CHAIN).unwrap();
    let serial = Certificate::parse(&chain[0]).unwrap().serial;
    let sent = TIMESTAMP.windows(chain[0].len()).position(|bytes| bytes == chain[0].as_slice()).unwrap();
    let place = TIMESTAMP[sent..].windows(serial.len()).position(|bytes| bytes == serial).unwrap();
    let mut altered = TIMESTAMP.to_vec();
    altered[sent + place + serial.len() - 1] ^= 1;
    let mut verifier = TimestampVerifier::new(trusted.clone());
    let record = TimestampRecord { at: AT, imprint: Hash(imprint), nonce, body: &altered };
    let altered = together(|signatures| {
        timestamp::judge((&TRUST, Some(&mut verifier)), &record, at(at_ms), signatures)
    });
    assert_eq!(altered, "timestamp-signer");
    assert_eq!(judged([0; 32], nonce, at_ms), "timestamp-imprint");
    assert_eq!(judged(imprint, nonce ^ 1, at_ms), "timestamp-nonce");
    assert_eq!(judged(imprint, nonce, at_ms + 3_600_000), "timestamp-time");
}

#[test]
fn a_timestamp_below_an_intermediate_that_a_root_alone_does_not_show_is_told_as_that() {
    let query = hammer_cms::timestamp::TimestampQuery::parse(QUERY).unwrap();
    let record = TimestampRecord {
        at: AT,
        imprint: Hash(query.imprint_sha256),
        nonce: query.nonce.unwrap(),
        body: TIMESTAMP,
    };
    let chain = crate::pem::certificates(TIMESTAMP_CHAIN).unwrap();
    let root = chain[2].clone();
    // Nov 21 06:48:11 2026, as `openssl ts -reply -text` has it.
    let stamped_ms = 1_795_243_691_000;
    for (known, expected) in [
        (vec![root.clone()], "timestamp-intermediate"),
        (vec![chain[0].clone(), root], "timestamp-intermediate"),
        (chain, "kept"),
    ] {
        let trusted = hammer_tlog::keys::chain::TrustedAuthorities::from_der(known).unwrap();
        let mut trust = TRUST.clone();
        trust.trust_timestamps_of(trusted.clone());
        let mut verifier = TimestampVerifier::new(trusted);
        let judged = together(|signatures| {
            timestamp::judge((&trust, Some(&mut verifier)), &record, at(stamped_ms), signatures)
        });
        assert_eq!(judged, expected);
    }
}

#[test]
fn a_chain_of_other_certificates_is_not_the_authoritys() {
    assert_eq!(kind(timestamp::judge_chain(&TRUST, CHAIN.as_bytes())), "timestamp-chain");
    assert_eq!(kind(timestamp::judge_chain(&TRUST, b"")), "malformed-answer");
    let mut trust = TRUST.clone();
    let trusted = hammer_tlog::keys::chain::TrustedAuthorities::from_pem(TIMESTAMP_CHAIN).unwrap();
    trust.trust_timestamps_of(trusted);
    assert_eq!(kind(timestamp::judge_chain(&trust, TIMESTAMP_CHAIN.as_bytes())), "kept");
}

/// The second of the two recorded entries of Rekor v2, as a flow reads it; `alter` is shown what was found, the parts and the record.
fn read_in_tiles(alter: impl FnOnce(&mut ReadInTiles)) -> Result<(), Fault> {
    let entry = stored_in(TILES_ENTRY, "/canonicalizedBody");
    let mut read = ReadInTiles {
        found: FoundOnTiles::Whole,
        head: TILES_HEAD.to_vec(),
        leaf: leaf_hash(&entry),
        entry,
        tile: TILE.to_vec(),
        index: 1,
        artifact: b"what was signed".to_vec(),
        timestamp: Vec::new(),
    };
    let mut proven = ProvenEntries::default();
    proven.keep_for_test(read.leaf, &read.artifact, 0);
    alter(&mut read);
    let ReadInTiles { found, head, leaf, entry, tile, index, artifact, timestamp } = read;
    let id = TileId { width: 2, ..TileId::hashes(0, 0) };
    let bundle = TileId { level: Level::Entries, ..id };
    let rest = match found {
        FoundOnTiles::Whole => vec![Part::numbered(index, &entry), Part::tile(id, false, &tile)],
        FoundOnTiles::Uncovered | FoundOnTiles::HeadAlone => Vec::new(),
        FoundOnTiles::NoTile => vec![Part::numbered(index, &entry), Part::tile(id, false, &[])],
        FoundOnTiles::CutOff => vec![Part::tile(bundle, false, &entry)],
    };
    let mut proof = Vec::new();
    write_parts(&mut proof, found as u8, std::iter::once(Part::bytes(&head)).chain(rest));
    let record = TilesArtifactRecord {
        at: AT,
        leaf,
        index,
        logged_unix_ms: 0,
        artifact: &artifact,
        identity: "",
        timestamp: &timestamp,
        proof: &proof,
    };
    let authorities = hammer_tlog::keys::chain::TrustedAuthorities::from_pem(TIMESTAMP_CHAIN).unwrap();
    let mut timestamps = TimestampVerifier::new(authorities);
    let (heads, mut trees) = (LogHeads::default(), ProvedTrees::default());
    let mut signatures = Signatures::default();
    let mut tiles = TilesJudge {
        trust: &TRUST,
        heads: Some(&heads),
        trees: &mut trees,
        proven: &proven,
        signatures: &mut signatures,
        timestamps: Some(&mut timestamps),
    };
    tiles.judge(&record).1.map(drop)
}

struct ReadInTiles {
    found: FoundOnTiles,
    head: Vec<u8>,
    leaf: Hash,
    entry: Vec<u8>,
    tile: Vec<u8>,
    index: u64,
    artifact: Vec<u8>,
    timestamp: Vec<u8>,
}

#[test]
fn a_false_timestamp_beside_an_entry_is_told_with_the_index_of_the_entry() {
    let fault = read_in_tiles(|read| read.timestamp = b"no timestamp".to_vec()).unwrap_err();
    assert_eq!((fault.kind, fault.place), ("malformed-timestamp", Some(1)), "{}", fault.detail);
}

#[test]
fn an_entry_that_was_read_in_the_tiles_of_rekor_v2_holds_and_what_is_altered_is_named() {
    let judged = |alter: fn(&mut ReadInTiles)| kind(read_in_tiles(alter));
    assert_eq!(judged(|_| {}), "kept");
    assert_eq!(judged(|read| read.entry.push(b' ')), "altered-leaf");
    assert_eq!(judged(|read| read.tile[40] ^= 1), "tampered-tile");
    assert_eq!(judged(|read| read.tile.truncate(63)), "tampered-tile");
    assert_eq!(judged(|read| read.leaf = Hash([1; 32])), "lost-leaf");
    // The first entry stands where the second was promised.
    assert_eq!(judged(|read| read.index = 0), "altered-leaf");
    assert_eq!(judged(|read| read.head[10] = b'3'), "checkpoint-signature");
    assert_eq!(judged(|read| read.head[0] = b'2'), "checkpoint-origin");
    assert_eq!(judged(|read| read.head.clear()), "malformed-answer");
    assert_eq!(judged(|read| read.found = FoundOnTiles::NoTile), "missing-tile");
    assert_eq!(judged(|read| read.found = FoundOnTiles::CutOff), "altered-leaf");
    let alone = |alter: fn(&mut ReadInTiles)| {
        kind(read_in_tiles(|read| {
            (read.found, read.index) = (FoundOnTiles::HeadAlone, 2);
            alter(read);
        }))
    };
    assert_eq!(alone(|_| {}), "kept");
    assert_eq!(alone(|read| read.head[10] = b'3'), "checkpoint-signature");
    assert_eq!(alone(|read| read.head[0] = b'2'), "checkpoint-origin");
    let uncovered =
        |index| kind(read_in_tiles(|read| (read.found, read.index) = (FoundOnTiles::Uncovered, index)));
    assert_eq!((uncovered(2), uncovered(1)), ("lost-entry", ""), "a checkpoint that covers it loses nothing");
    // What was signed is not among what was recorded: all is right but for that.
    let fault = read_in_tiles(|read| read.artifact = b"not it".to_vec()).unwrap_err();
    assert_eq!((fault.kind, &*fault.detail), ("another-entry", "it is about another artifact"));
}
