//! What a verifier, an auditor and the lab's log do most: SCTs verified, leaves hashed, bundles audited, trees grown.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use hammer_tlog::ct::bundle::{Entry, StaticCtLeaves};
use hammer_tlog::ct::issuance::{ChainAudit, LoggedChain};
use hammer_tlog::ct::precert::signed_entry;
use hammer_tlog::ct::rfc6962::{
    AddChainRequest, EntryType, MerkleTreeLeaf, SignedEntryRef, leaf_index_extension,
};
use hammer_tlog::ct::sct::Sct;
use hammer_tlog::encoding::from_base64;
use hammer_tlog::keys::key::{LogKey, SignatureBatch};
use hammer_tlog::logs::audit::{self, AuditBounds, NoSpill, Receipt, TileAudit, TileSweep};
use hammer_tlog::logs::follow::{Event, Follower, Head, ProofMethod};
use hammer_tlog::logs::merkle::{Frontier, Hash, Tree, leaf_hash};
use hammer_tlog::logs::tile::{self, Level, TileId, encode_hashes};
use ring::digest::{SHA256, digest};

/// What TesseraCT answered to its first chain.
const REQUEST: &str = include_str!("../../crates/hammer-tlog/testdata/tesseract/01-x509.request.json");
const PRECERT: &str = include_str!("../../crates/hammer-tlog/testdata/tesseract/04-precert.request.json");
const ROOT: &[u8] = include_bytes!("../../crates/hammer-tlog/testdata/tesseract/root.der");
const RESPONSE: &[u8] = include_bytes!("../../crates/hammer-tlog/testdata/tesseract/01-x509.response");
const KEY: &str = include_str!("../../crates/hammer-tlog/testdata/tesseract/log-public-key.b64");

fn sct(c: &mut Criterion) {
    let request: serde_json::Value = serde_json::from_str(REQUEST).expect("a recorded request");
    let leaf = request["chain"][0].as_str().expect("a chain of base64");
    let certificate = from_base64(leaf).expect("base64");
    let key = LogKey::from_base64(KEY).expect("a recorded key");
    let entry = SignedEntryRef::X509 { certificate: &certificate };
    let sct = Sct::from_json(RESPONSE).expect("a recorded answer");
    let mut group = c.benchmark_group("sct");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    group.measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(200));
    group.bench_function("parse", |b| b.iter(|| Sct::from_json(black_box(RESPONSE))));
    group.bench_function("verify/single", |b| {
        b.iter(|| sct.verify(&key, black_box(entry)).expect("it verifies"));
    });
    let mut batch = SignatureBatch::new();
    for size in [16, 64] {
        group.throughput(Throughput::Elements(size));
        group.bench_function(format!("verify/batch{size}"), |b| {
            b.iter(|| {
                batch.clear();
                let add = |_| sct.verify_in(&mut batch, &key, black_box(entry)).expect("it may verify");
                (0..size).for_each(add);
                assert!(key.verify_batch(&mut batch).iter().all(Result::is_ok));
            });
        });
    }
    group.finish();
}

fn merkle(c: &mut Criterion) {
    let leaf = vec![7; 1_000];
    let hashes: Vec<Hash> = (0..256u32).map(|index| leaf_hash(&index.to_be_bytes())).collect();
    let mut group = c.benchmark_group("merkle");
    group.sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    group.throughput(Throughput::Bytes(leaf.len() as u64));
    group.bench_function("leaf_hash", |b| b.iter(|| leaf_hash(black_box(&leaf))));
    group.throughput(Throughput::Elements(hashes.len() as u64));
    group.bench_function("tile_root", |b| b.iter(|| tile::root(black_box(&hashes))));
    group.bench_function("frontier_append", |b| {
        b.iter(|| {
            let mut frontier = Frontier::new();
            hashes.iter().for_each(|hash| frontier.append(*hash));
            black_box(frontier.root())
        });
    });
    group.finish();
}

/// A log of one full bundle, whose 256 certificates have 1,500 bytes each.
struct Bundle {
    head: Head,
    hashes: Vec<u8>,
    entries: Vec<u8>,
    receipts: Vec<Receipt>,
}

const BUNDLE: TileId = TileId { level: Level::Data, index: 0, width: 256 };
const HASHES: TileId = TileId { level: Level::Hashes(0), ..BUNDLE };

impl Bundle {
    fn new() -> Self {
        let (mut tree, mut entries, mut receipts) = (Tree::default(), Vec::new(), Vec::new());
        let timestamp_ms = 1_800_000_000_000;
        for index in 0..256u64 {
            let certificate: Vec<u8> = index.to_be_bytes().into_iter().cycle().take(1_500).collect();
            let signed = SignedEntryRef::X509 { certificate: &certificate };
            let extensions = leaf_index_extension(index).expect("a small index");
            let extensions = extensions.as_slice();
            let leaf = MerkleTreeLeaf { timestamp_ms, entry: signed, extensions };
            let leaf = leaf.leaf_hash().expect("it has an encoding");
            Entry { timestamp_ms, signed, extensions, pre_certificate: None, fingerprints: &[[7; 32]] }
                .encode(&mut entries)
                .expect("it has an encoding");
            receipts.push(Receipt::new(index, leaf, Some(index), 0, timestamp_ms).within(60_000));
            tree.append(leaf);
        }
        let hashes = encode_hashes(tree.leaves());
        let root = tile::root(tree.leaves());
        Self {
            head: Head { size: 256, root, timestamp_ms, asked_ns: 1, fetched_ns: 1, raw: [][..].into() },
            hashes,
            entries,
            receipts,
        }
    }

    /// Follows the log from nothing.
    fn follow(&self) -> Vec<Event> {
        let mut follower = Follower::from_empty(ProofMethod::Leaves, audit::bundles::<StaticCtLeaves>());
        follower.head(self.head.clone());
        while follower.need().is_some() {
            follower.tile(HASHES, &self.hashes);
        }
        follower.events()
    }

    /// An audit that has the promises, and knows that they are to be in the tree.
    fn audit(&self, events: &[Event]) -> TileAudit<StaticCtLeaves, NoSpill> {
        let mut audit = TileAudit::new(AuditBounds::default(), NoSpill);
        self.receipts.iter().for_each(|receipt| audit.accept(*receipt));
        events.iter().for_each(|event| audit.follow(event));
        audit
    }
}

/// The whole way of a full bundle: its hash tile followed, its entries held against receipts and tile; and the sweep of a
/// log that made no promises.
fn bundles(c: &mut Criterion) {
    let bundle = Bundle::new();
    let events = bundle.follow();
    let mut group = c.benchmark_group("merkle");
    group.throughput(Throughput::Elements(256)).sample_size(20);
    group.measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    group.bench_function("full_tile_256x1500B", |b| {
        let root = encode_hashes(&[bundle.head.root]);
        let serve = |tile: TileId| match tile.level {
            Level::Data => bundle.entries.clone(),
            Level::Hashes(0) => bundle.hashes.clone(),
            _ => root.clone(),
        };
        b.iter(|| {
            let mut sweep = TileSweep::<StaticCtLeaves>::new(&bundle.head, 0..256);
            while !sweep.is_over() {
                sweep.needs(4).into_iter().for_each(|tile| sweep.tile(tile, serve(tile)));
            }
            assert!(sweep.is_proved() && sweep.flaws().is_empty());
        });
    });
    // What other hours and machines make of a figure: the bytes that any audit hashes, once.
    group.bench_function("full_tile_256x1500B/sha256", |b| {
        b.iter(|| digest(&SHA256, black_box(&bundle.entries)));
    });
    group.bench_function("full_tile_256x1500B/followed", |b| b.iter(|| black_box(&bundle).follow()));
    group.bench_function("full_tile_256x1500B/audited", |b| {
        b.iter_batched(
            || bundle.audit(&events),
            |mut audit| {
                audit.tile(BUNDLE, black_box(&bundle.entries));
                assert_eq!(audit.verdicts().len(), 256);
                audit
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

/// The chains of a full bundle, held against themselves as an audit does of a log of which nothing is known.
fn chains(c: &mut Criterion) {
    let mut group = c.benchmark_group("chains");
    group.throughput(Throughput::Elements(256)).sample_size(20);
    group.measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    for (name, request, kind) in
        [("x509", REQUEST, EntryType::X509), ("precert", PRECERT, EntryType::Precert)]
    {
        let request: AddChainRequest = serde_json::from_str(request).expect("a recorded request");
        let mut chain: Vec<Vec<u8>> = request.chain.into_iter().map(|certificate| certificate.0).collect();
        chain.push(ROOT.to_vec());
        let signed = signed_entry(&chain, kind).expect("it leads to the root");
        let mut audit = ChainAudit::new();
        let above: Vec<[u8; 32]> = chain[1..].iter().map(|der| audit.issuer(der).0).collect();
        group.bench_function(format!("256_{name}/issued"), |b| {
            b.iter(|| {
                for index in 0..256 {
                    let signed = black_box(signed.by_ref());
                    let (submitted, fingerprints) = (chain[0].as_slice(), above.as_slice());
                    audit.add(&LoggedChain { index, signed, submitted, fingerprints });
                }
                assert!(audit.faults().is_empty() && audit.unverified().next().is_none());
            });
        });
    }
    group.finish();
}

criterion_group!(benches, sct, merkle, bundles, chains);
criterion_main!(benches);
