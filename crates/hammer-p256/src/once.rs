//! Verification by a key that is met once: a table of its multiples would cost more than it saves.

use crate::der::RawSignature;
use crate::digit::digits;
use crate::jacobian::Jacobian;
use crate::limbs::Limbs;
use crate::point::Point;
use crate::scalar::Scalar;
use crate::table;
use crate::verifier::abscissas;

/// Bits of a digit of the factor of the key.
const WIDTH: usize = 5;
/// Odd multiples below 2^(WIDTH - 1).
const MULTIPLES: usize = 1 << (WIDTH - 2);
/// Places of digits: one more than a scalar has bits, since the last digit may leave a carry.
const PLACES: usize = 257;

/// Whether `signature` (DER) is that of an uncompressed public key (SEC 1 section 2.3.3) over a SHA-256 digest (FIPS 186-4
/// section 6.4); false of what is no point of the curve.
pub fn verify_once(public_key: &[u8], digest: &[u8; 32], signature: &[u8]) -> bool {
    let (Some(key), Some(RawSignature { r, s })) =
        (Point::from_sec1(public_key), RawSignature::from_der(signature))
    else {
        return false;
    };
    let inverse = Scalar::from_limbs(s).invert();
    let of_key = multiply(key, Scalar::from_limbs(r) * inverse);
    let of_base = digits(Scalar::from_digest(digest) * inverse);
    table::generator().add_product(of_key, &of_base).has_x(abscissas(r))
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
    use crate::residue::Modulus as _;
    use crate::scalar::Order;

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
