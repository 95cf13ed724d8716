//! The recorded log's entries, and what they were made of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use hammer_tlog::ct::bundle::{Entries, Entry, StaticCtLeaves};
use hammer_tlog::ct::issuance::{ChainAudit, LoggedChain};
use hammer_tlog::ct::precert::{is_poison_well_formed, signed_entry};
use hammer_tlog::ct::rfc6962::{EntryType, MerkleTreeLeaf};
use hammer_tlog::hash::{Hash, sha256};
use hammer_tlog::keys::certificate::{Certificate, POISON};
use hammer_tlog::keys::key::LogKey;
use hammer_tlog::logs::audit::LeafFormat as _;
use hammer_tlog::logs::tile::{Level, TileId};

use crate::archive::{RECORDED, RecordedLog, SIZE};
use crate::tree::theirs;

/// The keys of the issuers, by fingerprint: each is read once, since what verification prepares for a key costs more than it
/// does to verify.
static KEYS: LazyLock<BTreeMap<[u8; 32], LogKey>> = LazyLock::new(|| {
    let issuers = RECORDED.files.iter().filter(|(path, _)| path.starts_with("issuer/"));
    let key = |der: &[u8]| LogKey::from_der(Certificate::parse(der).unwrap().spki).unwrap();
    issuers.map(|(_, der)| (sha256(der).0, key(der))).collect()
});

/// The bundles of the last tree.
pub(crate) fn bundles() -> impl Iterator<Item = &'static [u8]> {
    let tiles = (0..SIZE).step_by(256).filter_map(|leaf| TileId::covering(Level::Data, leaf, SIZE));
    tiles.map(|tile| RECORDED.tile(tile).unwrap())
}

/// All entries of the last tree, in order.
pub(crate) fn entries() -> impl Iterator<Item = Entry<'static>> {
    bundles().flat_map(Entries::new).map(Result::unwrap)
}

pub(crate) fn leaf_input(entry: &Entry<'_>) -> Vec<u8> {
    let Entry { timestamp_ms, signed, extensions, .. } = *entry;
    MerkleTreeLeaf { timestamp_ms, entry: signed, extensions }.encode().unwrap()
}

/// What is wrong with what was submitted for an entry, of which the leaf holds a part at most: the chain must be served and
/// lead to what the log signed, and a precertificate must have been signed by its issuer.
pub(crate) fn fault_of_submission(log: &RecordedLog, entry: &Entry<'_>) -> Option<&'static str> {
    let issuers: Option<Vec<&[u8]>> =
        entry.fingerprints.iter().map(|fingerprint| log.issuer(&Hash(*fingerprint))).collect();
    let Some(issuers) = issuers else { return Some("an issuer is not served") };
    let kind = entry.signed.entry_type();
    let chain: Vec<&[u8]> = std::iter::once(entry.submitted()).chain(issuers).collect();
    let rebuilt = signed_entry(&chain, kind);
    if !rebuilt.is_ok_and(|rebuilt| rebuilt.by_ref() == entry.signed) {
        return Some("the chain leads to another entry");
    }
    let Ok(submitted) = Certificate::parse(chain[0]) else { return Some("it is no certificate") };
    let poison = submitted.extension(POISON);
    if poison.is_some_and(|poison| !is_poison_well_formed(&poison)) {
        return Some("the poison is malformed");
    }
    // The inner identifier of the algorithm stands in what is signed, the outer one does not.
    if !submitted
        .tbs
        .windows(submitted.signature_algorithm.len())
        .any(|part| part == submitted.signature_algorithm)
    {
        return Some("the signature's algorithm is another");
    }
    let Some(key) = KEYS.get(&entry.fingerprints[0]) else { return Some("the issuer has no key") };
    key.verify_raw(submitted.tbs, submitted.signature).err().map(|_| "its issuer did not sign it")
}

#[test]
fn every_bundle_hashes_to_its_tile_partial_ones_too() {
    let mut widths = Vec::new();
    for (bundle, bytes) in RECORDED.tiles(|level| level == Level::Data) {
        let tile = TileId { level: Level::Hashes(0), ..bundle };
        let hashes = tile.parse_hashes(RECORDED.tile(tile).unwrap()).unwrap();
        assert_eq!(StaticCtLeaves::leaf_hashes(bytes, 256), hashes, "{bundle}");
        widths.push(bundle.width);
    }
    widths.sort_unstable();
    assert_eq!(widths, [34, 68, 105, 142, 179, 213, 256, 256, 256, 256]);
    assert_eq!(RECORDED.tiles(|level| level == Level::Names).count(), 0, "this server writes none");
}

#[test]
fn every_entry_has_its_index_and_is_written_as_it_was_read() {
    let mut written = Vec::new();
    for (index, entry) in (0..).zip(entries()) {
        assert_eq!(entry.leaf_index(), Ok(Some(index)));
        assert_eq!(
            theirs(entry.leaf_hash().unwrap()),
            tlog_tiles::record_hash(&leaf_input(&entry)),
            "{index}"
        );
        entry.encode(&mut written).unwrap();
    }
    assert_eq!(written, bundles().collect::<Vec<_>>().concat());
}

#[test]
fn every_entry_follows_from_what_was_submitted() {
    for (index, entry) in entries().enumerate() {
        assert_eq!(fault_of_submission(&RECORDED, &entry), None, "{index}");
    }
    let count = |kind| entries().filter(|entry| entry.signed.entry_type() == kind).count();
    let (certificates, precertificates) = (count(EntryType::X509), count(EntryType::Precert));
    assert_eq!((certificates + precertificates) as u64, SIZE);
    assert!(certificates > 100 && precertificates > 100, "{certificates} {precertificates}");
}

#[test]
fn every_issuer_has_the_name_of_its_bytes_and_is_in_a_chain() {
    let named: BTreeSet<Hash> = entries().flat_map(|entry| entry.fingerprints).copied().map(Hash).collect();
    let issuers =
        RECORDED.files.iter().filter_map(|(path, bytes)| Some((path.strip_prefix("issuer/")?, bytes)));
    let served: BTreeSet<Hash> = issuers
        .map(|(name, bytes)| {
            assert_eq!(name, sha256(bytes).to_hex());
            sha256(bytes)
        })
        .collect();
    assert_eq!((served.len(), named), (17, served));
}

#[test]
fn every_certificate_of_every_chain_issued_the_one_below_it() {
    let mut audit = ChainAudit::new();
    for (index, entry) in (0..).zip(entries()) {
        for fingerprint in entry.fingerprints {
            audit.issuer(RECORDED.issuer(&Hash(*fingerprint)).unwrap());
        }
        let (signed, submitted, fingerprints) = (entry.signed, entry.submitted(), entry.fingerprints);
        audit.add(&LoggedChain { index, signed, submitted, fingerprints });
    }
    assert_eq!(audit.faults(), []);
    assert_eq!((audit.verified(), audit.unverified().count()), (SIZE, 0));
}
