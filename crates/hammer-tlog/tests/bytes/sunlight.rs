//! Bytes of Sunlight.

use hammer_tlog::ct::bundle::{BundleError, Entries, Entry};
use hammer_tlog::ct::log_list::{Log, LogListError};
use hammer_tlog::ct::names;
use hammer_tlog::ct::precert::precert_tbs;
use hammer_tlog::ct::rfc6962::{SignedEntry, SignedEntryRef};
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::key::LogKey;
use hammer_tlog::logs::merkle::{Hash, sha256};
use hammer_tlog::logs::note::{self, Checkpoint, Note, NoteError, Verifier, open_checkpoint, rfc6962_key_id};
use hammer_tlog::logs::tile::{TileId, root};

use crate::{gunzip, testdata, text};

const ORIGIN: &str = "127.0.0.1/sun";

fn key() -> LogKey {
    text("sunlight/log-public-key.b64").parse().unwrap()
}

fn checkpoint() -> Vec<u8> {
    testdata("sunlight/checkpoint")
}

fn full_bundle() -> Vec<u8> {
    gunzip(&testdata("sunlight/tile/data/000"))
}

fn entries(bundle: &[u8]) -> Vec<Entry<'_>> {
    Entries::new(bundle).collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_checkpoint_verifies_by_its_last_line_of_four() {
    let (checkpoint, verified) = open_checkpoint(&checkpoint(), &Verifier::rfc6962(ORIGIN, key())).unwrap();
    let root = Hash::from_base64("4qLoFX3ZTqOQ97XiHvmRdjfl6nDQi+zB4lv8uipAV/s=").unwrap();
    assert_eq!(checkpoint, Checkpoint::new(ORIGIN, 49275, root));
    // Between the first entry and the end of the day in which the log was made.
    assert!(verified.timestamp_ms.is_some_and(|ms| (1_795_245_491_107..1_795_305_600_000).contains(&ms)));
}

#[test]
fn a_note_is_written_as_it_was_read() {
    let bytes = checkpoint();
    let note = Note::parse(&bytes).unwrap();
    assert_eq!(note.signatures.len(), 4);
    assert_eq!(note.signatures[1].name, "grease.invalid");
    assert_eq!(note.signatures[2].key_id, rfc6962_key_id(ORIGIN, &key().log_id()));
    assert_eq!(note::format(note.text, &note.signatures).into_bytes(), bytes);
    assert_eq!(Checkpoint::parse(note.text).unwrap().to_string(), note.text);
}

#[test]
fn a_checkpoint_of_another_log_or_by_another_key_is_refused() {
    let other: LogKey = text("tesseract/log-public-key.b64").parse().unwrap();
    let error = open_checkpoint(&checkpoint(), &Verifier::rfc6962(ORIGIN, other)).unwrap_err();
    assert!(matches!(error, NoteError::NoSignature { .. }), "{error}");
    let error = open_checkpoint(&checkpoint(), &Verifier::rfc6962("127.0.0.1/moon", key())).unwrap_err();
    assert!(matches!(error, NoteError::Origin { .. }), "{error}");
}

#[test]
fn a_checkpoint_with_another_size_or_root_is_refused() {
    let verifier = Verifier::rfc6962(ORIGIN, key());
    for (from, to) in [("49275", "49276"), ("4qLo", "4qLp"), ("p9KINQAAAaH8", "p9KINQAAAaH9")] {
        let altered = text("sunlight/checkpoint").replace(from, to);
        let error = open_checkpoint(altered.as_bytes(), &verifier).unwrap_err();
        assert!(matches!(error, NoteError::BadSignature(_)), "{error}");
    }
}

#[test]
fn the_hash_tile_is_the_leaf_hashes_of_the_data_tile() {
    let tile = TileId::hashes(0, 0).parse_hashes(&testdata("sunlight/tile/0/000")).unwrap();
    let bundle = full_bundle();
    let leaves = entries(&bundle).iter().map(|entry| entry.leaf_hash().unwrap()).collect::<Vec<_>>();
    assert_eq!(leaves, tile);
    assert_eq!(root(&tile), leaves.into_iter().collect::<hammer_tlog::logs::merkle::Frontier>().root());
}

#[test]
fn every_entry_has_its_place_as_its_leaf_index() {
    let bundle = full_bundle();
    let indices =
        entries(&bundle).iter().map(|entry| entry.leaf_index().unwrap().unwrap()).collect::<Vec<_>>();
    assert_eq!(indices, (0..256).collect::<Vec<_>>());
    let partial = gunzip(&testdata("sunlight/tile/data/002.p/2"));
    let indices =
        entries(&partial).iter().map(|entry| entry.leaf_index().unwrap().unwrap()).collect::<Vec<_>>();
    assert_eq!(indices, [512, 513]);
}

#[test]
fn a_bundle_is_written_as_it_was_read() {
    for bundle in [full_bundle(), gunzip(&testdata("sunlight/tile/data/002.p/2"))] {
        let mut out = Vec::new();
        entries(&bundle).iter().for_each(|entry| entry.encode(&mut out).unwrap());
        assert_eq!(out, bundle);
    }
}

#[test]
fn a_bundle_that_is_cut_off_names_the_entry() {
    let bundle = gunzip(&testdata("sunlight/tile/data/002.p/2"));
    let read = Entries::new(&bundle[..bundle.len() - 1]).collect::<Vec<_>>();
    assert_eq!(read.len(), 2);
    assert!(read[0].is_ok());
    assert!(matches!(read[1], Err(BundleError::Entry { position: 1, .. })));
}

#[test]
fn a_precertificate_in_the_log_rebuilds_to_its_entry() {
    let bundle = full_bundle();
    let mut rebuilt = 0;
    for entry in entries(&bundle) {
        let SignedEntryRef::Precert { issuer_key_hash, tbs_certificate } = entry.signed else { continue };
        let issuer_at =
            |place: usize| testdata(&format!("sunlight/issuer/{}", Hash(entry.fingerprints[place])));
        let chain = std::iter::once(entry.submitted().to_vec())
            .chain((0..entry.fingerprints.len()).map(issuer_at))
            .collect::<Vec<_>>();
        let expected = hammer_tlog::ct::precert::signed_entry(&chain, entry.signed.entry_type()).unwrap();
        assert_eq!(
            expected,
            SignedEntry::Precert {
                issuer_key_hash: Hash(*issuer_key_hash),
                tbs_certificate: tbs_certificate.to_vec()
            }
        );
        assert!(precert_tbs(entry.submitted()).is_ok());
        rebuilt += 1;
    }
    assert!(rebuilt > 0, "no precertificate in the bundle");
}

#[test]
fn every_issuer_lies_under_its_fingerprint_and_is_a_ca() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/sunlight/issuer");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let der = std::fs::read(&path).unwrap();
        assert_eq!(path.file_name().unwrap().to_str(), Some(sha256(&der).to_hex().as_str()));
        let certificate = Certificate::parse(&der).unwrap();
        assert_eq!(certificate.fingerprint(), sha256(&der));
        assert!(certificate.is_ca(), "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 9);
}

#[test]
fn every_fingerprint_of_the_data_tile_is_an_issuer() {
    let bundle = full_bundle();
    for entry in entries(&bundle) {
        assert!(!entry.fingerprints.is_empty());
        for fingerprint in entry.fingerprints {
            testdata(&format!("sunlight/issuer/{}", Hash(*fingerprint)));
        }
    }
}

#[test]
fn the_names_tile_has_a_line_for_every_entry() {
    let tile = gunzip(&testdata("sunlight/tile/names/000"));
    let lines = names::lines(&tile).collect::<Result<Vec<_>, _>>().unwrap();
    let bundle = full_bundle();
    let entries = entries(&bundle);
    assert_eq!(lines.len(), entries.len());
    for (line, entry) in lines.iter().zip(&entries) {
        assert_eq!(line.timestamp, entry.timestamp_ms);
    }
    assert_eq!(lines[0].subject.common_name, "l1.example");
    assert_eq!(lines[0].dns, ["l1.example"]);
}

#[test]
fn the_logs_description_has_its_key_and_origin() {
    let json = text("sunlight/log.v3.json");
    let log = Log::from_json(json.as_bytes()).unwrap();
    assert_eq!(log.log_key().unwrap(), key());
    assert_eq!(log.log_id, key().log_id());
    assert_eq!(log.origin(), Some(ORIGIN));
    assert_eq!(log.mmd, 60);
    assert_eq!(log.temporal_interval.unwrap().end_exclusive, "2030-01-01T00:00:00Z");
    let altered = json.replace("+EmP", "+EmQ");
    assert!(matches!(Log::from_json(altered.as_bytes()), Err(LogListError::LogId { .. })));
}
