//! The inverses of many scalars.

use super::element::Wide;
use super::ifma::{Ifma, LANES, Register};
use super::inversion::invert;
use crate::residue::Residue;
use crate::scalar::{Order, Scalar};

/// Memory for the inverses, to be used again.
#[derive(Debug, Default)]
pub(crate) struct Inverses {
    values: Vec<Wide<Order>>,
    /// For each value the product of those before it.
    before: Vec<Wide<Order>>,
}

impl Inverses {
    /// Inverts all of `scalars`, a multiple of eight in number. False, and nothing done, where one is 0.
    pub(crate) fn invert(&mut self, ifma: Ifma, scalars: &mut [Scalar]) -> bool {
        ifma.vectorize(Invert { ifma, inverses: self, scalars }).is_some()
    }
}

struct Invert<'a> {
    ifma: Ifma,
    inverses: &'a mut Inverses,
    scalars: &'a mut [Scalar],
}

impl pulp::NullaryFnOnce for Invert<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn call(self) -> Option<()> {
        let Self { ifma, inverses: Inverses { values, before }, scalars } = self;
        let (eights, rest) = scalars.as_chunks_mut::<LANES>();
        assert!(rest.is_empty());
        values.clear();
        before.clear();
        let mut product = Wide::one(ifma);
        for eight in &*eights {
            let value = load(ifma, eight);
            values.push(value);
            before.push(product);
            product = product * value;
        }
        // What is loaded lacks 2^4, and so its inverse has 2^4 too many where it should lack as many: 2^8 are taken out.
        let power = Wide::splat_residue(ifma, Residue::from_montgomery([0, 0, 0, 1 << 56]));
        let mut inverse = invert(product)? * power;
        for ((eight, value), before) in eights.iter_mut().zip(&*values).zip(&*before).rev() {
            store((inverse * *before).to_limbs(), eight);
            inverse = inverse * *value;
        }
        Some(())
    }
}

/// Products with 2^256 where those with 2^260 are meant.
#[inline(always)]
fn load(ifma: Ifma, eight: &[Scalar; LANES]) -> Wide<Order> {
    let mut limbs = [[0; LANES]; 4];
    for (lane, scalar) in eight.iter().enumerate() {
        for (at, limb) in scalar.montgomery().into_iter().enumerate() {
            limbs[at][lane] = limb;
        }
    }
    let [a, b, c, d] = limbs;
    Wide::from_limbs(ifma, [pulp::cast(a), pulp::cast(b), pulp::cast(c), pulp::cast(d)])
}

#[inline(always)]
fn store([a, b, c, d]: [Register; 4], eight: &mut [Scalar; LANES]) {
    let (a, b): ([u64; LANES], [u64; LANES]) = (pulp::cast(a), pulp::cast(b));
    let (c, d): ([u64; LANES], [u64; LANES]) = (pulp::cast(c), pulp::cast(d));
    for (lane, scalar) in eight.iter_mut().enumerate() {
        *scalar = Residue::from_montgomery([a[lane], b[lane], c[lane], d[lane]]);
    }
}
