//! Verification by keys that are met once: tables of their multiples would cost more than they save.

use crate::der::RawSignature;
use crate::digit::{digits, narrow_digits};
use crate::entry::Entry;
use crate::jacobian::Jacobian;
use crate::limbs::Limbs;
use crate::point::Point;
use crate::residue::invert_all;
use crate::scalar::Scalar;
use crate::table;
use crate::verifier::{abscissas, has_second};
use crate::wide::{self, Ifma, LANES, OnceSum, OnceVerdicts};

/// Bits of a digit of the factor of the key.
const WIDTH: usize = 5;
/// Odd multiples below 2^(WIDTH - 1).
const MULTIPLES: usize = 1 << (WIDTH - 2);
/// Places of digits: one more than a scalar has bits, since the last digit may leave a carry.
const PLACES: usize = 257;
/// Fewer signatures take less time one by one than in eight lanes of which the rest idles.
const FEW: usize = 2;

/// Signatures, each by a key of its own, that are verified together: eight abreast where the processor can, so that eight take less
/// time than one takes elsewhere. It keeps its memory for the next batch.
#[derive(Debug, Clone, Default)]
pub struct OnceBatch {
    candidates: Vec<OnceCandidate>,
    /// One for each signature; what is not a candidate is false from the start.
    verdicts: Vec<bool>,
    inverses: Vec<Scalar>,
    products: Vec<Scalar>,
    sums: Vec<OnceSum>,
}

/// A key and a signature in form, whose verdict is open.
#[derive(Debug, Clone)]
struct OnceCandidate {
    /// Its place among the verdicts.
    at: usize,
    key: Point,
    digest: Scalar,
    signature: RawSignature,
}

/// Whether `signature` (DER) is that of an uncompressed public key (SEC 1 section 2.3.3) over a SHA-256 digest (FIPS 186-4
/// section 6.4); false of what is no point of the curve.
pub fn verify_once(public_key: &[u8], digest: &[u8; 32], signature: &[u8]) -> bool {
    let Some(candidate) = OnceCandidate::new(0, public_key, digest, signature) else { return false };
    candidate.holds(Scalar::from_limbs(candidate.signature.s).invert())
}

/// The same of a signature that is r and s, 32 bytes each (RFC 7518 section 3.4, RFC 9053 section 2.1).
pub fn verify_once_fixed(public_key: &[u8], digest: &[u8; 32], signature: &[u8; 64]) -> bool {
    let candidate = OnceCandidate::of(0, public_key, digest, RawSignature::from_fixed(signature));
    let Some(candidate) = candidate else { return false };
    candidate.holds(Scalar::from_limbs(candidate.signature.s).invert())
}

/// Whether signatures of many keys are verified eight abreast here, so that a batch of them is worth while.
pub fn verifies_abreast() -> bool {
    Ifma::try_new().is_some()
}

impl OnceBatch {
    /// An empty batch, whose memory grows with its first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a signature (DER) by an uncompressed public key (SEC 1 section 2.3.3) over a SHA-256 digest.
    pub fn push(&mut self, public_key: &[u8], digest: &[u8; 32], signature: &[u8]) {
        let at = self.verdicts.len();
        self.verdicts.push(false);
        self.candidates.extend(OnceCandidate::new(at, public_key, digest, signature));
    }

    /// What [`verify_once`] says of each signature of the batch, in the order in which they were pushed.
    pub fn verify(&mut self) -> &[bool] {
        self.verify_by(Ifma::try_new())
    }

    /// How many signatures were pushed since it was empty.
    pub fn len(&self) -> usize {
        self.verdicts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.verdicts.is_empty()
    }

    /// Takes all signatures out.
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.verdicts.clear();
    }

    fn verify_by(&mut self, ifma: Option<Ifma>) -> &[bool] {
        let Self { candidates, verdicts, inverses, products, sums } = self;
        inverses.clear();
        inverses.extend(candidates.iter().map(|one| Scalar::from_limbs(one.signature.s)));
        products.resize(inverses.len(), Scalar::ONE);
        invert_all(inverses, products);
        for (some, inverses) in candidates.chunks(LANES).zip(inverses.chunks(LANES)) {
            let lanes = ifma.filter(|_| some.len() >= FEW).map(|ifma| judge_wide(ifma, some, inverses, sums));
            for (lane, (candidate, inverse)) in some.iter().zip(inverses).enumerate() {
                let judged =
                    lanes.filter(|lanes| lanes.met >> lane & 1 == 0 && !has_second(candidate.signature.r));
                verdicts[candidate.at] = match judged {
                    Some(lanes) => lanes.holds >> lane & 1 == 1,
                    // What eight lanes cannot judge: points that met, and an r that stands for two coordinates.
                    None => candidate.holds(*inverse),
                };
            }
        }
        verdicts
    }
}

impl OnceCandidate {
    /// None of what cannot hold: no point of the curve, and what is no signature.
    fn new(at: usize, public_key: &[u8], digest: &[u8; 32], signature: &[u8]) -> Option<Self> {
        Self::of(at, public_key, digest, RawSignature::from_der(signature))
    }

    fn of(at: usize, public_key: &[u8], digest: &[u8; 32], signature: Option<RawSignature>) -> Option<Self> {
        let (key, signature) = (Point::from_sec1(public_key)?, signature?);
        Some(Self { at, key, digest: Scalar::from_digest(digest), signature })
    }

    /// The verdict, where 1 / s is known.
    fn holds(&self, inverse: Scalar) -> bool {
        let of_key = multiply(self.key, Scalar::from_limbs(self.signature.r) * inverse);
        let of_base = digits(self.digest * inverse);
        table::generator().add_product(of_key, &of_base).has_x(abscissas(self.signature.r))
    }

    fn sum(&self, inverse: Scalar) -> OnceSum {
        OnceSum {
            key: Entry::of(self.key, true),
            of_key: narrow_digits(Scalar::from_limbs(self.signature.r) * inverse),
            of_base: digits(self.digest * inverse),
            r: self.signature.r,
        }
    }
}

/// The verdicts of up to eight candidates, whose 1 / s are known.
fn judge_wide(
    ifma: Ifma,
    candidates: &[OnceCandidate],
    inverses: &[Scalar],
    sums: &mut Vec<OnceSum>,
) -> OnceVerdicts {
    sums.clear();
    sums.extend(candidates.iter().zip(inverses).map(|(candidate, inverse)| candidate.sum(*inverse)));
    wide::have_x_once(ifma, sums, table::generator().windows())
}

/// The product of a point, which is not infinity, with a scalar.
fn multiply(point: Point, scalar: Scalar) -> Jacobian {
    let multiples = odd_multiples(point);
    let mut product = Jacobian::INFINITY;
    for digit in signed_digits(scalar.to_limbs()).iter().rev() {
        product = product.double();
        let multiple = || multiples[usize::from(digit.unsigned_abs() / 2)];
        match digit.signum() {
            0 => {}
            1 => product = product.add(multiple()),
            _ => product = product.add(multiple().negate()),
        }
    }
    product
}

/// The point times 1, 3, 5 and so on; none is infinity, since the order of the group is a greater prime.
fn odd_multiples(point: Point) -> Vec<Point> {
    let first = Jacobian::INFINITY.add(point);
    let twice = first.double().to_point();
    let multiples = std::iter::successors(Some(first), |last| Some(last.add(twice)));
    Jacobian::to_points(&multiples.take(MULTIPLES).collect::<Vec<_>>())
}

/// Digits whose sum, each times two to its place, is the scalar: 0, or odd and between -2^(WIDTH - 1) and 2^(WIDTH - 1), with
/// WIDTH - 1 of 0 behind each of those (the non-adjacent form of that width).
fn signed_digits(scalar: Limbs) -> [i8; PLACES] {
    let [a, b, c, d] = scalar;
    let limbs = [a, b, c, d, 0];
    let bits = |at: usize, width: usize| {
        let (limb, shift) = (at / 64, at % 64);
        let high = limbs.get(limb + 1).copied().unwrap_or(0);
        let word = (u128::from(high) << 64 | u128::from(limbs[limb])) >> shift;
        word as i16 & ((1 << width) - 1)
    };
    let mut digits = [0; PLACES];
    let (mut at, mut carry) = (0, 0);
    while at < PLACES {
        if bits(at, 1) == carry {
            at += 1;
            continue;
        }
        let width = WIDTH.min(PLACES - at);
        let word = bits(at, width) + carry;
        carry = word >> (WIDTH - 1) & 1;
        digits[at] = (word - (carry << WIDTH)) as i8;
        at += width;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NonceBlocks;
    use crate::residue::Modulus as _;
    use crate::scalar::Order;
    use crate::throwaway::ThrowawayKey;

    /// Keys and signatures of theirs over digests.
    fn signed(count: u64) -> Vec<([u8; 65], [u8; 32], Vec<u8>)> {
        let sign = |number: u64| {
            let mut seed = [7; 32];
            seed[..8].copy_from_slice(&number.to_be_bytes());
            let (key, digest) = (ThrowawayKey::derive(&seed), seed.map(|byte| byte.wrapping_mul(29)));
            let signature = key.walk(&seed, 0).sign(number, &digest, &mut NonceBlocks::new());
            (*key.public_key(), digest, signature.as_ref().to_vec())
        };
        (0..count).map(sign).collect()
    }

    /// r and s of a signature in DER, 32 bytes each.
    fn fixed(der: &[u8]) -> [u8; 64] {
        let RawSignature { r, s } = RawSignature::from_der(der).unwrap();
        let halves = [r, s].map(|half| Scalar::from_limbs(half).to_be_bytes());
        halves.concat().try_into().unwrap()
    }

    #[test]
    fn a_batch_of_any_size_has_the_verdict_of_each_signature_alone() {
        let good = signed(19);
        for arithmetic in [Ifma::try_new(), None] {
            let mut batch = OnceBatch::new();
            for size in [0_usize, 1, 2, 7, 8, 9, 16, 19] {
                for broken in [None, Some(0), Some(size / 2), Some(size.saturating_sub(1))] {
                    batch.clear();
                    for (at, (key, digest, signature)) in good[..size].iter().enumerate() {
                        let mut digest = *digest;
                        digest[31] ^= u8::from(broken == Some(at));
                        batch.push(key, &digest, signature);
                    }
                    let expected: Vec<_> = (0..size).map(|at| broken != Some(at)).collect();
                    assert_eq!(batch.verify_by(arithmetic), expected);
                    assert_eq!((batch.len(), batch.is_empty()), (size, size == 0));
                }
            }
        }
    }

    #[test]
    fn what_is_no_key_or_no_signature_is_false_among_those_that_hold() {
        let good = signed(3);
        let mut batch = OnceBatch::new();
        let [(key, digest, signature), (other, ..), (_, _, foreign)] = good.as_slice() else {
            unreachable!()
        };
        let mut off_the_curve = *key;
        off_the_curve[64] ^= 1;
        for (key, signature) in [
            (&key[..], &signature[..]),
            (&off_the_curve, signature),
            (&key[..64], signature),
            (key, &signature[1..]),
            (key, &[]),
            (other, signature),
            (key, foreign),
            (key, signature),
        ] {
            batch.push(key, digest, signature);
        }
        assert_eq!(batch.verify(), [true, false, false, false, false, false, false, true]);
        for (at, (key, digest, signature)) in good.iter().enumerate() {
            assert!(verify_once(key, digest, signature), "{at}");
            assert!(!verify_once(key, &[0; 32], signature), "{at}");
            let fixed = fixed(signature);
            assert!(verify_once_fixed(key, digest, &fixed), "{at}");
            assert!(!verify_once_fixed(key, &[0; 32], &fixed), "{at}");
            assert!(!verify_once_fixed(&off_the_curve, digest, &fixed), "{at}");
            assert!(!verify_once_fixed(key, digest, &[0; 64]), "{at}");
        }
    }

    /// The public key is a small multiple of the base point, and digest and r are chosen, so that points meet on the way or the sum is
    /// infinity: that is left to one lane.
    #[test]
    fn sums_in_which_points_meet_are_judged_alone() {
        let sec1 = |scalar: Scalar| table::generator().multiply(scalar).to_sec1();
        let der = |r: Scalar, s: Scalar| crate::Signature::new(&r.to_be_bytes(), &s.to_be_bytes());
        let (one, few) = (Scalar::ONE, Scalar::from_u64(5));
        for (secret, r, digest) in [
            // digest + r * secret is 0: infinity.
            (one, few, -few),
            (few, one, -few),
            // Both products are the same point.
            (one, few, few),
            (one, one, one),
            (few, Scalar::from_u64(3), Scalar::from_u64(15)),
        ] {
            let signature = der(r, one);
            let (key, digest) = (sec1(secret), digest.to_be_bytes());
            let candidate = OnceCandidate::new(0, &key, &digest, signature.as_ref()).unwrap();
            let mut batch = OnceBatch::new();
            for _ in 0..9 {
                batch.push(&key, &digest, signature.as_ref());
            }
            assert_eq!(batch.verify(), [candidate.holds(one); 9]);
            assert_eq!(verify_once(&key, &digest, signature.as_ref()), candidate.holds(one));
        }
        // A signature that holds although both products are one point: r is the x of twice that.
        let half = Scalar::from_u64(2).invert();
        let sum = table::generator().multiply(Scalar::from_u64(9));
        let r = Scalar::from_limbs(crate::scalar::reduce(sum.x.to_limbs()));
        // s = 1: digest is 9 / 2, and the secret times r as well.
        let part = Scalar::from_u64(9) * half;
        let (key, digest) = (sec1(part * r.invert()), part.to_be_bytes());
        assert!(verify_once(&key, &digest, der(r, one).as_ref()));
    }

    #[test]
    fn a_product_is_that_of_the_table_for_every_scalar() {
        let base = Point::generator();
        let near = |steps: u64| -Scalar::from_u64(steps);
        let few = (0..200).map(Scalar::from_u64).chain((1..200).map(near));
        let powers = std::iter::successors(Some(Scalar::ONE), |last| Some(last.double())).take(300);
        let seeded = std::iter::successors(Some(Scalar::from_u64(7)), |last| {
            Some(*last * Scalar::from_u64(0x1234_5678_9abc_def1) + Scalar::ONE)
        });
        for scalar in few.chain(powers).chain(seeded.take(500)) {
            let product = multiply(base, scalar);
            match scalar.is_zero() {
                true => assert!(product.z.is_zero()),
                false => assert_eq!(product.to_point(), table::generator().multiply(scalar), "{scalar:?}"),
            }
        }
    }

    #[test]
    fn digits_add_up_to_the_scalar() {
        let all_ones = [u64::MAX; 4];
        for limbs in
            [[0; 4], [1, 0, 0, 0], Order::LIMBS, all_ones, [0x5555_5555_5555_5555; 4], [0, 0, 0, 1 << 63]]
        {
            let digits = signed_digits(limbs);
            assert!(digits.iter().all(|digit| *digit == 0 || digit % 2 != 0 && digit.unsigned_abs() < 16));
            // Bit by bit from the lowest, with what is left over carried on.
            let mut carried = 0i32;
            for (place, digit) in digits.iter().enumerate() {
                carried += i32::from(*digit);
                let bit = limbs.get(place / 64).map_or(0, |limb| limb >> (place % 64) & 1);
                assert_eq!(carried.rem_euclid(2) as u64, bit, "{limbs:x?} at {place}");
                carried = carried.div_euclid(2);
            }
            assert_eq!(carried, 0, "{limbs:x?}");
        }
    }
}
