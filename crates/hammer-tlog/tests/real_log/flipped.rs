//! The recorded log with a bit that is flipped.

use hammer_tlog::ct::bundle::Entries;
use hammer_tlog::hash::sha256;
use hammer_tlog::logs::tile::{TileId, data_tiles_for_growth, tiles_for};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::archive::{RECORDED, RecordedLog, SIZES, head};
use crate::audit::swept;
use crate::entries::fault_of_submission;

/// Whether the reading of one file finds it to be another than the log's.
fn is_found(log: &RecordedLog, path: &str) -> bool {
    let bytes = &log.files[path];
    if path == "checkpoint" {
        return log.open().is_err();
    }
    if let Some(name) = path.strip_prefix("issuer/") {
        return sha256(bytes).to_hex() != name;
    }
    let tile: TileId = path.parse().unwrap();
    let has = |size: &u64| tiles_for(*size).chain(data_tiles_for_growth(0, *size)).any(|other| other == tile);
    let size = SIZES.into_iter().find(has).unwrap();
    let (proved, flaws, issuers) = swept(log, &head(size));
    let submitted = || Entries::new(bytes).flatten().any(|entry| fault_of_submission(log, &entry).is_some());
    !proved
        || !flaws.is_empty()
        || issuers.iter().any(|issuer| log.issuer(issuer).is_none())
        || path.starts_with("tile/data/") && submitted()
}

#[test]
fn nothing_is_found_in_the_log_as_it_is() {
    for path in RECORDED.files.keys() {
        assert!(!is_found(&RECORDED, path), "{path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn one_flipped_byte_anywhere_is_found(file: Index, at: Index, flip in 1..=u8::MAX) {
        let (path, bytes) = RECORDED.files.iter().nth(file.index(RECORDED.files.len())).unwrap();
        let (mut bytes, at) = (bytes.clone(), at.index(bytes.len()));
        bytes[at] ^= flip;
        prop_assert!(is_found(&RECORDED.with(path, bytes), path), "{} {}", path, at);
    }
}
