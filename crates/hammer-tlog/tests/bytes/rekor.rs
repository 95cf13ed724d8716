//! Bytes of Rekor.

use hammer_tlog::logs::merkle::Hash;
use hammer_tlog::logs::note::{Verifier, open_checkpoint};
use hammer_tlog::logs::tile::{self, TileId};

use crate::testdata;

/// The log's Ed25519 key, as its trusted root states it.
const KEY: &str = "vbp2XMmB0EKBPBXndMfICNEX72sF5U8tuth0o7bfUR8=";

#[test]
fn an_ed25519_checkpoint_verifies_and_has_no_timestamp() {
    let key = Hash::from_base64(KEY).unwrap();
    let verifier = Verifier::ed25519("127.0.0.1", &key.0).unwrap();
    let (checkpoint, verified) = open_checkpoint(&testdata("rekor-tiles/checkpoint"), &verifier).unwrap();
    assert_eq!(checkpoint.size, 2);
    assert_eq!(verified.timestamp_ms, None);
    let partial = TileId { width: 2, ..TileId::hashes(0, 0) };
    let hashes = partial.parse_hashes(&testdata("rekor-tiles/tile-0-000.p.2")).unwrap();
    assert_eq!(tile::root(&hashes), checkpoint.root);
}
