//! RSA-2048 keys by a prime search that starts where the seed says.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crypto_bigint::{Limb, NonZero, Odd, U1024, U2048};
use crypto_primes::{Flavor, is_prime};
use ring::signature::RsaKeyPair;

use super::pair::KeyPair;
use crate::der::Der;
use crate::seed::Seed;

/// The key of this seed; the search runs once for each seed in a process.
pub(super) fn derive(seed: &Seed) -> Arc<KeyPair> {
    static FOUND: LazyLock<Mutex<HashMap<[u8; 32], Arc<KeyPair>>>> = LazyLock::new(Mutex::default);
    let name = seed.derive("rsa cache", 0);
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(found.entry(name).or_insert_with(|| Arc::new(generate(seed))))
}

fn generate(seed: &Seed) -> KeyPair {
    let (first, second) = (prime(seed, 0), prime(seed, 1));
    let (p, q) = if first > second { (first, second) } else { (second, first) };
    let der = private_key_der(&p, &q);
    KeyPair::rsa2048(RsaKeyPair::from_der(&der).expect("two primes of 1024 bits make an RSA key"))
}

/// The first prime at or after the 1024 bits that (seed, index) give, such that 65537 has an inverse modulo one less. The
/// two highest bits are set, so that the product of two has 2048 bits.
fn prime(seed: &Seed, index: u64) -> U1024 {
    let mut start = [0; 128];
    seed.fill("rsa prime", index, &mut start);
    start[0] |= 0b1100_0000;
    start[127] |= 1;
    let start = U1024::from_be_slice(&start);
    let residues: Vec<(u64, u64)> = small_primes().map(|small| (small, remainder(&start, small))).collect();
    (0..)
        .step_by(2)
        .filter(|step| residues.iter().all(|(small, residue)| (residue + step) % small != 0))
        .map(|step| start.wrapping_add(&U1024::from_u64(step)))
        .find(|candidate| remainder(candidate, EXPONENT) != 1 && is_prime(Flavor::Any, candidate))
        .expect("primes are dense")
}

/// The odd primes below 4096: trial division leaves about one odd number in seven for the real test.
fn small_primes() -> impl Iterator<Item = u64> {
    (3..4096)
        .step_by(2)
        .filter(|number| (3..).step_by(2).take_while(|d| d * d <= *number).all(|d| number % d != 0))
}

fn remainder(number: &U1024, divisor: u64) -> u64 {
    number.rem_limb(NonZero::<Limb>::new(Limb::from_u64(divisor)).expect("divisors are not zero")).0
}

/// `RSAPrivateKey` of RFC 8017 appendix A.1.2.
fn private_key_der(p: &U1024, q: &U1024) -> Vec<u8> {
    let one = U1024::ONE;
    let (p_less, q_less) = (p.wrapping_sub(&one), q.wrapping_sub(&one));
    let n: U2048 = p.concatenating_mul(q);
    let phi: U2048 = p_less.concatenating_mul(&q_less);
    let e = U2048::from_u64(EXPONENT);
    let d = e.invert_mod(&NonZero::new(phi).expect("not zero")).expect("e is coprime with p-1 and q-1");
    let reduced = |modulus: &U1024| {
        U1024::from_u64(EXPONENT)
            .invert_mod(&NonZero::new(*modulus).expect("not zero"))
            .expect("e is coprime with p-1 and q-1")
    };
    let coefficient = q.invert_odd_mod(&Odd::new(*p).expect("odd")).expect("two different primes");
    let halves = [*p, *q, reduced(&p_less), reduced(&q_less), coefficient];
    Der::build(|der| {
        der.sequence(|der| {
            der.unsigned(&[0]);
            for number in [n, e, d] {
                der.unsigned(number.to_be_bytes().as_ref());
            }
            for number in halves {
                der.unsigned(number.to_be_bytes().as_ref());
            }
        });
    })
}

const EXPONENT: u64 = 65_537;
