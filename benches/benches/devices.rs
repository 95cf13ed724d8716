//! Devices for attestation verifiers: endorsements and evidence of one after another, each signed, as supply makes them.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hammer_attest::{DeviceClass, DeviceMaterial, DeviceScratch, Devices, Evidence, TokenNumber};
use hammer_rats::{PsaDialect, TokenProfile};

fn evidence(seq: u64) -> Evidence<'static> {
    let token = TokenNumber { stream: 0, seq };
    Evidence { class: DeviceClass::Good, profile: TokenProfile::Psa2, nonce: &[7; 32], token }
}

fn devices(c: &mut Criterion) {
    let mut group = c.benchmark_group("devices");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    group.measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(300));
    let devices = Devices::new(1, 0, None);
    let (mut material, mut scratch) = (DeviceMaterial::default(), DeviceScratch::default());
    let (mut corim, mut token) = (Vec::new(), Vec::new());
    for (name, dialect) in [("iot1", PsaDialect::Iot1), ("psa2025", PsaDialect::Psa2025)] {
        let mut index = 0;
        group.bench_function(format!("corim_and_token/{name}"), |b| {
            b.iter(|| {
                devices.write(index, &mut material);
                devices.write_corim(&material, dialect, &mut scratch, &mut corim);
                devices.write_evidence(index, &evidence(index), &mut scratch, (&mut material, &mut token));
                index += 1;
                black_box((&corim, &token));
            });
        });
    }
    let mut seq = 0;
    // Devices as verify flows draw them: in no order, while tokens are signed one after another.
    group.bench_function("token_of_any", |b| {
        b.iter(|| {
            let index = seq * 0x9e37_79b9 % 1_000_000;
            devices.write_evidence(index, &evidence(seq), &mut scratch, (&mut material, &mut token));
            seq += 1;
            black_box(&token);
        });
    });
    group.finish();
}

criterion_group!(benches, devices);
criterion_main!(benches);
