//! ECDSA over P-256 a second: signatures by walking nonces, by ring's random ones and by RFC 6979; subject keys; and
//! verification with a fixed key, alone and in batches, beside ring's.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use hammer_p256::{
    FixedKeyVerifier, KeyBlocks, KeyWalk, NonceBlocks, OnceBatch, SignatureBatch, ThrowawayKey,
};
use p256::ecdsa::SigningKey;
use p256::ecdsa::signature::hazmat::PrehashSigner;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, UnparsedPublicKey,
};

/// As long as what is signed of a certificate.
const MESSAGE: [u8; 800] = [0x5a; 800];

fn group<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(1)).sample_size(20);
    group.measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    group
}

fn sha256(message: &[u8]) -> [u8; 32] {
    digest(&SHA256, message).as_ref().try_into().expect("32 bytes")
}

/// Each signature with its hash over 800 bytes; `walking_digest` without.
fn sign(c: &mut Criterion) {
    let mut group = group(c, "sign");
    let key = ThrowawayKey::derive(&[1; 32]);
    let (walk, mut block, mut index) = (key.walk(&[1; 32], 0), NonceBlocks::new(), 0);
    group.bench_function("walking", |b| {
        b.iter(|| {
            index += 1;
            walk.sign(index, &sha256(black_box(&MESSAGE)), &mut block)
        });
    });
    group.bench_function("walking_digest", |b| {
        b.iter(|| {
            index += 1;
            walk.sign(index, black_box(&[7; 32]), &mut block)
        });
    });
    let rng = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let ring =
        EcdsaKeyPair::from_private_key_and_public_key(algorithm, &key.to_be_bytes(), key.public_key(), &rng)
            .expect("a key pair");
    group.bench_function("ring", |b| b.iter(|| ring.sign(&rng, black_box(&MESSAGE)).expect("it signs")));
    let rfc6979 = SigningKey::from_slice(&key.to_be_bytes()).expect("a key");
    group.bench_function("rfc6979", |b| {
        b.iter(|| -> p256::ecdsa::Signature {
            rfc6979.sign_prehash(&sha256(black_box(&MESSAGE))).expect("it signs")
        });
    });
    group.finish();
}

fn subject_keys(c: &mut Criterion) {
    let mut group = group(c, "subject_key");
    let (walk, mut block, mut index) = (KeyWalk::derive(&[1; 32], 0), KeyBlocks::new(), 0);
    group.bench_function("walking", |b| {
        b.iter(|| {
            index += 1;
            walk.public_key(index, &mut block)[64]
        });
    });
    group.finish();
}

fn verify(c: &mut Criterion) {
    let mut group = group(c, "verify/fixed_key");
    let key = ThrowawayKey::derive(&[1; 32]);
    let (walk, mut block) = (key.walk(&[1; 32], 0), NonceBlocks::new());
    let messages: Vec<[u8; 8]> = (0..64u64).map(u64::to_be_bytes).collect();
    let digests: Vec<[u8; 32]> = messages.iter().map(|message| sha256(message)).collect();
    let signatures: Vec<_> =
        (0..).zip(&digests).map(|(index, digest)| walk.sign(index, digest, &mut block)).collect();
    let ours = FixedKeyVerifier::new(key.public_key()).expect("a key");
    let mut at = 0;
    group.bench_function("single", |b| {
        b.iter(|| {
            at = (at + 1) % 64;
            assert!(ours.verify(&digests[at], signatures[at].as_ref()));
        });
    });
    let ring = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, key.public_key());
    group.bench_function("ring", |b| {
        b.iter(|| {
            at = (at + 1) % 64;
            assert!(ring.verify(&messages[at], signatures[at].as_ref()).is_ok());
        });
    });
    let without_lanes = FixedKeyVerifier::without_lanes(key.public_key()).expect("a key");
    group.bench_function("single_without_lanes", |b| {
        b.iter(|| {
            at = (at + 1) % 64;
            assert!(without_lanes.verify(&digests[at], signatures[at].as_ref()));
        });
    });
    let mut batch = SignatureBatch::new();
    for (suffix, verifier) in [("", &ours), ("_without_lanes", &without_lanes)] {
        for size in [16, 64] {
            group.throughput(Throughput::Elements(size as u64));
            group.bench_function(format!("batch{size}{suffix}"), |b| {
                b.iter(|| {
                    batch.clear();
                    let signed = digests.iter().zip(&signatures).take(size);
                    signed.for_each(|(digest, signature)| batch.push(digest, signature.as_ref()));
                    assert!(verifier.verify_batch(&mut batch).iter().all(|verdict| *verdict));
                });
            });
        }
    }
    group.throughput(Throughput::Elements(1));
    group.bench_function("table", |b| b.iter(|| FixedKeyVerifier::new(key.public_key())));
    group.finish();
}

/// Each signature by a key of its own.
fn verify_once(c: &mut Criterion) {
    let mut group = group(c, "verify/met_once");
    let signed: Vec<_> = (0..32u8)
        .map(|number| {
            let (key, digest) = (ThrowawayKey::derive(&[number; 32]), [number; 32]);
            let signature = key.walk(&[1; 32], 0).sign(0, &digest, &mut NonceBlocks::new());
            (*key.public_key(), digest, signature)
        })
        .collect();
    let mut batch = OnceBatch::new();
    for size in [1, 2, 8, 32] {
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(format!("batch{size}"), |b| {
            b.iter(|| {
                batch.clear();
                let some = signed.iter().take(size);
                some.for_each(|(key, digest, signature)| batch.push(key, digest, signature.as_ref()));
                assert!(batch.verify().iter().all(|verdict| *verdict));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, sign, subject_keys, verify, verify_once);
criterion_main!(benches);
