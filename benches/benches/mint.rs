//! Chains minted a second: each profile by a P-256 issuer, the everyday profile by each issuer; and their add-chain bodies.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hammer_synth::{
    Algorithm, ChainMinter, HierarchySpec, IssuerSource, MintScratch, Minted, MinterSpec, Profile, Seed,
    Validity,
};
use hammer_tlog::rfc6962::AddChainRequest;

fn minter(algorithm: Algorithm, profile: Profile) -> ChainMinter {
    let validity = Validity::new(1_767_225_600, 1_775_001_600).expect("it begins before it ends");
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
    group.finish();
    encode(c);
}

fn encode(c: &mut Criterion) {
    let mut minted = Minted::new();
    minter(Algorithm::P256, Profile::DV).mint(0, &mut MintScratch::new(), &mut minted);
    let mut body = Vec::new();
    write(&minted, &mut body);
    let mut group = c.benchmark_group("encode");
    group.throughput(Throughput::Bytes(body.len() as u64)).sample_size(20);
    group.measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    group.bench_function("add_chain_body", |b| b.iter(|| write(&minted, &mut body)));
    group.finish();
}

fn write(minted: &Minted, body: &mut Vec<u8>) {
    body.clear();
    let chain: Vec<&[u8]> = minted.certificates().collect();
    AddChainRequest::write(body, &chain);
}

criterion_group!(benches, mint);
criterion_main!(benches);
