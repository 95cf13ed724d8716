//! Inverses modulo an odd prime by divisions of 2: Bernstein and Yang, "Fast constant-time gcd computation and modular
//! inversion" (CHES 2019), here in **variable time**. Numbers have five limbs of 62 bits, the highest with the sign, as
//! in libsecp256k1's `modinv64`; 62 steps at a time are found on the lowest limbs alone and then applied to all.

use crate::limbs::Limbs;

/// The lowest limb first; each but the highest from 0 to 2^62 - 1.
type Limbs62 = [i64; 5];

const BITS: u32 = 62;
const MASK: i64 = (1 << BITS) - 1;

/// What 62 steps make of f and g: (u f + v g, q f + r g) / 2^62.
struct TransitionMatrix {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

/// The inverse of `value` modulo the odd prime `modulus`, both below 2^256, `value` the lower; 0 for 0. `negated` is
/// -1 / modulus modulo 2^64.
pub(crate) fn invert(value: Limbs, modulus: Limbs, negated: u64) -> Limbs {
    let modulus = split(modulus);
    let inverse = negated.wrapping_neg() as i64 & MASK;
    // value * d = f and value * e = g hold modulo the modulus all the time, but for a power of 2 that `apply` divides by.
    let (mut f, mut g) = (modulus, split(value));
    let (mut d, mut e) = ([0; 5], [1, 0, 0, 0, 0]);
    let (mut eta, mut length) = (-1, 5);
    while g != [0; 5] {
        let matrix;
        (eta, matrix) = find_steps(eta, f[0] as u64, g[0] as u64);
        apply_modulo(&matrix, &mut d, &mut e, &modulus, inverse);
        apply(&matrix, &mut f[..length], &mut g[..length]);
        length = shorten(&mut f, &mut g, length);
    }
    join(least(d, f[length - 1] < 0, &modulus))
}

/// The next 62 steps for the lowest 62 bits of f, which is odd, and g. `eta` is the negated delta of the paper's section 8.
fn find_steps(mut eta: i64, mut f: u64, mut g: u64) -> (i64, TransitionMatrix) {
    let (mut u, mut v, mut q, mut r) = (1u64, 0u64, 0u64, 1u64);
    let mut left = BITS;
    loop {
        let zeros = (g | u64::MAX << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= i64::from(zeros);
        left -= zeros;
        if left == 0 {
            break;
        }
        if eta < 0 {
            eta = -eta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
        }
        // f * (f^2 - 2) is -1 / f modulo 2^6, so that as many as six bits of g go at once, until f and g change places.
        let bits = (eta + 1).min(i64::from(left)).min(6);
        let inverse = f.wrapping_mul(f.wrapping_mul(f).wrapping_sub(2));
        let factor = g.wrapping_mul(inverse) & ((1 << bits) - 1);
        g = g.wrapping_add(f.wrapping_mul(factor));
        q = q.wrapping_add(u.wrapping_mul(factor));
        r = r.wrapping_add(v.wrapping_mul(factor));
    }
    (eta, TransitionMatrix { u: u as i64, v: v as i64, q: q as i64, r: r as i64 })
}

/// Applies steps to f and g, which they leave whole.
#[inline(always)]
fn apply(matrix: &TransitionMatrix, f: &mut [i64], g: &mut [i64]) {
    let (mut next_f, mut next_g) = matrix.of(f[0], g[0]);
    for at in 1..f.len().min(g.len()) {
        let (more_f, more_g) = matrix.of(f[at], g[at]);
        next_f = (next_f >> BITS) + more_f;
        next_g = (next_g >> BITS) + more_g;
        f[at - 1] = next_f as i64 & MASK;
        g[at - 1] = next_g as i64 & MASK;
    }
    let last = f.len() - 1;
    f[last] = (next_f >> BITS) as i64;
    g[last] = (next_g >> BITS) as i64;
}

/// Applies steps to d and e modulo the modulus: the multiples of it are added that make both whole. They stay above
/// twice the negated modulus, and below the modulus.
#[inline(always)]
fn apply_modulo(
    matrix: &TransitionMatrix,
    d: &mut Limbs62,
    e: &mut Limbs62,
    modulus: &Limbs62,
    inverse: i64,
) {
    let (negative_d, negative_e) = (d[4] >> 63, e[4] >> 63);
    let (mut next_d, mut next_e) = matrix.of(d[0], e[0]);
    let multiple = |u: i64, v: i64, low: i128| {
        let whole = (u & negative_d) + (v & negative_e);
        whole - (inverse.wrapping_mul(low as i64).wrapping_add(whole) & MASK)
    };
    let (times_d, times_e) = (multiple(matrix.u, matrix.v, next_d), multiple(matrix.q, matrix.r, next_e));
    next_d += wide(modulus[0], times_d);
    next_e += wide(modulus[0], times_e);
    for at in 1..5 {
        let (more_d, more_e) = matrix.of(d[at], e[at]);
        next_d = (next_d >> BITS) + more_d + wide(modulus[at], times_d);
        next_e = (next_e >> BITS) + more_e + wide(modulus[at], times_e);
        d[at - 1] = next_d as i64 & MASK;
        e[at - 1] = next_e as i64 & MASK;
    }
    d[4] = (next_d >> BITS) as i64;
    e[4] = (next_e >> BITS) as i64;
}

impl TransitionMatrix {
    #[inline(always)]
    fn of(&self, f: i64, g: i64) -> (i128, i128) {
        (wide(self.u, f) + wide(self.v, g), wide(self.q, f) + wide(self.r, g))
    }
}

#[inline(always)]
fn wide(left: i64, right: i64) -> i128 {
    i128::from(left) * i128::from(right)
}

/// How many limbs f and g need: one less, where the highest of both is nothing but a sign.
fn shorten(f: &mut Limbs62, g: &mut Limbs62, length: usize) -> usize {
    let last = length - 1;
    let is_sign = |limb: i64| limb == 0 || limb == -1;
    if last == 0 || !is_sign(f[last]) || !is_sign(g[last]) {
        return length;
    }
    for number in [f, g] {
        number[last - 1] |= number[last] << BITS;
        number[last] = 0;
    }
    last
}

/// The least residue of `value`, or of its opposite, for a value above twice the negated modulus and below the modulus.
fn least(mut value: Limbs62, negated: bool, modulus: &Limbs62) -> Limbs62 {
    let add_if_negative = |value: &mut Limbs62| {
        if value[4] < 0 {
            value.iter_mut().zip(modulus).for_each(|(limb, more)| *limb += more);
            carry(value);
        }
    };
    add_if_negative(&mut value);
    if negated {
        value = value.map(|limb| -limb);
        carry(&mut value);
    }
    add_if_negative(&mut value);
    value
}

fn carry(value: &mut Limbs62) {
    for at in 0..4 {
        value[at + 1] += value[at] >> BITS;
        value[at] &= MASK;
    }
}

fn split([a, b, c, d]: Limbs) -> Limbs62 {
    [a, a >> 62 | b << 2, b >> 60 | c << 4, c >> 58 | d << 6, d >> 56].map(|limb| limb as i64 & MASK)
}

fn join(limbs: Limbs62) -> Limbs {
    let [a, b, c, d, e] = limbs.map(|limb| limb as u64);
    [a | b << 62, b >> 2 | c << 60, c >> 4 | d << 58, d >> 6 | e << 56]
}
