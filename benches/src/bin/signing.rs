//! What a signature of ring's costs with a key: `signing KEY [RATE SECONDS]`, of RSA or P-256, in the DER of a PKCS #8. It prints the milliseconds
//! of the thread's CPU that one takes, for `scripts/cpu-per-signature.sh`: the least of several dozen batches, or the mean of so many in a second,
//! each behind a sleep.

#![expect(clippy::print_stdout, reason = "the figure is for the script")]

use std::hint::black_box;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use hammer_benches::cpu;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};

fn main() {
    let path: PathBuf = std::env::args_os().nth(1).expect("a file with a key").into();
    let key = std::fs::read(path).expect("the file of a key");
    let random = SystemRandom::new();
    // As long as signed attributes are.
    let message = [7; 200];
    let paced: Vec<u32> =
        std::env::args().skip(2).map(|text| text.parse().expect("a whole number")).collect();
    let measured = |sign: &mut dyn FnMut()| match paced.as_slice() {
        [rate, seconds] => paced_ms(*rate, *seconds, sign),
        _ => least_ms(sign),
    };
    let ms = match RsaKeyPair::from_pkcs8(&key) {
        Ok(pair) => {
            let mut signature = vec![0; pair.public().modulus_len()];
            measured(&mut || {
                pair.sign(&RSA_PKCS1_SHA256, &random, &message, &mut signature).expect("a signature");
                black_box(&signature);
            })
        }
        Err(_) => {
            let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &key, &random);
            let pair = pair.expect("a key of RSA or of P-256, in PKCS #8");
            measured(&mut || {
                black_box(pair.sign(&random, &message).expect("a signature"));
            })
        }
    };
    println!("{ms:.3}");
}

/// The least that one takes on the average of a batch.
fn least_ms(mut sign: impl FnMut()) -> f64 {
    let batches = (0..BATCHES).map(|_| {
        let before = cpu::of_thread();
        (0..BATCH).for_each(|_| sign());
        cpu::of_thread().since(before).0
    });
    batches.min().unwrap_or_default() as f64 / 1e6 / f64::from(BATCH)
}

/// The mean of what one takes where so many are made in a second: others have had the caches meanwhile.
#[expect(clippy::disallowed_methods, reason = "others have the caches for as long as it really sleeps")]
fn paced_ms(rate: u32, seconds: u32, mut sign: impl FnMut()) -> f64 {
    let (start, pause) = (Instant::now(), Duration::from_secs(1) / rate);
    let each = (0..rate * seconds).map(|number| {
        thread::sleep((start + pause * number).saturating_duration_since(Instant::now()));
        let before = cpu::of_thread();
        sign();
        cpu::of_thread().since(before).0
    });
    each.sum::<u64>() as f64 / 1e6 / f64::from(rate * seconds)
}

const BATCHES: u32 = 48;
const BATCH: u32 = 16;
