//! Structures without a signature: what is read is what was written.

use hammer_tlog::ct::bundle::Entries;
use hammer_tlog::ct::log_list::Log;
use hammer_tlog::ct::names;
use hammer_tlog::ct::rfc6962::{
    EntryType, ExtraData, MerkleTreeLeaf, encode_precert_chain_entry, encode_x509_chain_entry, leaf_index,
};
use hammer_tlog::encoding::base64;
use hammer_tlog::keys::key::{DigitallySigned, LogKey};
use hammer_tlog::logs::audit::Receipt;
use hammer_tlog::logs::merkle::leaf_hash;
use hammer_tlog::logs::tile::{TileId, encode_hashes};

pub(crate) fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// `MerkleTreeLeaf`, `DigitallySigned`, `CtExtensions` and `extra_data` have one encoding each.
pub(crate) fn leaf(data: &[u8]) -> bool {
    let _ = leaf_index(data);
    if let Ok(signed) = DigitallySigned::parse(data) {
        assert_eq!(signed.encode().as_deref(), Ok(data));
    }
    if let Ok(ExtraData::X509 { chain }) = ExtraData::parse(EntryType::X509, data) {
        assert_eq!(encode_x509_chain_entry(&chain.collect::<Vec<_>>()).as_deref(), Ok(data));
    }
    if let Ok(ExtraData::Precert { pre_certificate, chain }) = ExtraData::parse(EntryType::Precert, data) {
        let chain: Vec<_> = chain.collect();
        assert_eq!(encode_precert_chain_entry(pre_certificate, &chain).as_deref(), Ok(data));
    }
    let Ok(leaf) = MerkleTreeLeaf::parse(data) else { return false };
    assert_eq!(leaf.encode().as_deref(), Ok(data));
    assert_eq!(leaf.leaf_hash(), Ok(leaf_hash(data)));
    true
}

/// The entries up to the first that cannot be read are the bytes up to there.
pub(crate) fn bundle(data: &[u8]) -> bool {
    let (mut written, mut is_whole) = (Vec::new(), !data.is_empty());
    for entry in Entries::new(data) {
        let Ok(entry) = entry else {
            is_whole = false;
            break;
        };
        let _ = (entry.leaf_index(), entry.submitted());
        entry.encode(&mut written).expect("what was read has an encoding");
        assert!(entry.leaf_hash().is_ok());
    }
    assert!(data.starts_with(&written));
    assert!(!is_whole || written.len() == data.len());
    is_whole
}

/// A tile is its hashes, as many as its name says; a path has one spelling.
pub(crate) fn hash_tile(data: &[u8]) -> bool {
    let path = text(data).parse::<TileId>();
    if let Ok(tile) = &path {
        assert_eq!(tile.path(), text(data));
        let _ = (tile.first(), tile.full(), TileId::covering(tile.level, tile.first(), u64::MAX));
    }
    let mut is_tile = path.is_ok();
    for width in [1, 2, 255, 256] {
        let tile = TileId { width, ..TileId::hashes(0, 0) };
        if let Ok(hashes) = tile.parse_hashes(data) {
            assert_eq!(hashes.len(), usize::from(width));
            assert!(data.starts_with(&encode_hashes(&hashes)));
            is_tile = true;
        }
    }
    is_tile
}

/// A line that was read says the same when it is written and read again.
pub(crate) fn names(data: &[u8]) -> bool {
    let lines: Vec<_> = names::lines(data).collect();
    let is_whole = !lines.is_empty() && lines.iter().all(Result::is_ok);
    for line in lines.into_iter().flatten() {
        let written = serde_json::to_vec(&line).expect("JSON");
        assert_eq!(names::lines(&written).next().expect("a line").expect("a line"), line);
    }
    is_whole
}

/// A key is its `SubjectPublicKeyInfo`, however it was told.
pub(crate) fn key(data: &[u8]) -> bool {
    let (text, der) = (text(data), LogKey::from_der(data));
    let from_text = text.parse::<LogKey>();
    if let Ok(key) = &der {
        assert_eq!(key.spki(), data);
        assert_eq!(LogKey::from_base64(&base64(data)).as_ref(), Ok(key));
    }
    if let Ok(key) = &from_text {
        let again = LogKey::from_der(key.spki()).expect("its own DER");
        assert_eq!((again.log_id(), again.bytes()), (key.log_id(), key.bytes()));
        assert!(key.verify_raw(b"message", data).is_err());
    }
    der.is_ok() || from_text.is_ok()
}

/// A log that was read has the id of its key.
pub(crate) fn log_list(data: &[u8]) -> bool {
    let Ok(log) = Log::from_json(data) else { return false };
    let _ = log.origin();
    assert_eq!(log.log_key().expect("it was checked").log_id(), log.log_id);
    assert_eq!(Log::from_json(&serde_json::to_vec(&log).expect("JSON")).expect("a log"), log);
    true
}

/// A receipt is its bytes.
pub(crate) fn receipt(data: &[u8]) -> bool {
    let Ok(bytes) = data.try_into() else { return false };
    let receipt = Receipt::decode(bytes);
    let _ = receipt.index();
    assert_eq!(receipt.encode(), *bytes);
    assert!(receipt.duplicate().is_duplicate() && receipt.duplicate().index() == receipt.index());
    true
}
