//! Chains minted a second: each profile by a P-256 issuer, by walking nonces and slowly; and add-chain bodies, of the
//! everyday profile by each issuer. Each chain is another seq, with a subject key of its own.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hammer_benches::encode::{self, write};
use hammer_synth::{
    Algorithm, ChainMinter, HierarchySpec, IssuerSource, MintScratch, Minted, MinterSpec, Profile, Seed,
    Validity,
};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};

fn minter(algorithm: Algorithm, profile: Profile) -> ChainMinter {
    let validity = Validity::new(1_767_225_600, 1_775_001_600).expect("it starts before it ends");
    let issuer = IssuerSource::Derived(HierarchySpec { algorithm, depth: 2, validity });
    let spec = MinterSpec {
        seed: Seed::from_u64(1),
        stream: 0,
        issuer,
        mix: vec![(profile, 1)],
        validity,
        precert_percent: 30,
        precert_signing_percent: 0,
        with_root: false,
    };
    ChainMinter::new(&spec).expect("a derived hierarchy")
}

fn mint(c: &mut Criterion) {
    let mut group = c.benchmark_group("mint");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    group.measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    let mut scratch = MintScratch::new();
    for profile in Profile::all() {
        let (minter, mut minted, mut seq) = (minter(Algorithm::P256, profile), Minted::new(), 0);
        group.bench_function(BenchmarkId::new("chain", profile), |b| {
            b.iter(|| {
                minter.mint(seq, &mut scratch, &mut minted);
                seq += 1;
            });
        });
        group.bench_function(BenchmarkId::new("slow", profile), |b| {
            b.iter(|| {
                minter.mint_slowly(seq, &mut minted);
                seq += 1;
            });
        });
    }
    for (name, algorithm) in
        [("p256", Algorithm::P256), ("rsa2048", Algorithm::Rsa2048), ("ed25519", Algorithm::Ed25519)]
    {
        let (minter, mut minted, mut body) = (minter(algorithm, Profile::DV), Minted::new(), Vec::new());
        let mut seq = 0;
        group.bench_function(BenchmarkId::new("add_chain_body", name), |b| {
            b.iter(|| {
                minter.mint(seq, &mut scratch, &mut minted);
                write(&minted, &mut body);
                seq += 1;
            });
        });
    }
    references(&mut group);
    group.finish();
    encode(c);
}

/// What other hours and machines make of a figure: a hash of as much as is signed of a certificate, and a signature by ring.
fn references(group: &mut BenchmarkGroup<'_, WallTime>) {
    let message = [0x5a; 800];
    group.bench_function("reference/sha256_800B", |b| b.iter(|| digest(&SHA256, black_box(&message))));
    let (rng, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &rng).expect("a key pair");
    let ring = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &rng).expect("a key pair");
    group.bench_function("reference/ring_sign", |b| {
        b.iter(|| ring.sign(&rng, black_box(&message)).expect("it signs"));
    });
}

fn encode(c: &mut Criterion) {
    let (chain, mut body) = (encode::chain(), Vec::new());
    write(&chain, &mut body);
    let mut group = c.benchmark_group("encode");
    group.throughput(Throughput::Bytes(body.len() as u64)).sample_size(20);
    group.measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    group.bench_function("add_chain_body", |b| b.iter(|| write(&chain, &mut body)));
    group.finish();
}

criterion_group!(benches, mint);
criterion_main!(benches);
