//! What a verifier and the lab's log do most: SCTs verified, leaves hashed, trees grown.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hammer_tlog::encoding::from_base64;
use hammer_tlog::key::LogKey;
use hammer_tlog::merkle::{Frontier, Hash, leaf_hash};
use hammer_tlog::rfc6962::SignedEntryRef;
use hammer_tlog::sct::Sct;
use hammer_tlog::tile;

/// What TesseraCT answered to its first chain.
const REQUEST: &str = include_str!("../../crates/hammer-tlog/testdata/tesseract/01-x509.request.json");
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
    group.bench_function("verify", |b| b.iter(|| sct.verify(&key, black_box(entry)).expect("it verifies")));
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

criterion_group!(benches, sct, merkle);
criterion_main!(benches);
