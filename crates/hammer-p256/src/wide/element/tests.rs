use proptest::prelude::*;

use super::*;
use crate::limbs;

/// A number below four times the modulus by limbs of 52 bits, and the residue whose product with 2^260 it is.
type Value<M> = ([u64; 5], Residue<M>);

/// Least residues with the edges often (0, 1, limbs of ones, just below the modulus) and up to three times the modulus more.
fn value<M: WideModulus>() -> impl Strategy<Value = Value<M>> {
    let limb =
        prop_oneof![any::<u64>(), Just(0), Just(1), Just(u64::MAX), Just(1 << 52), Just((1 << 52) - 1)];
    let any = prop::array::uniform4(limb).prop_map(|limbs| limbs::subtract_once(limbs, 0, M::LIMBS));
    let edge = (1..9u64).prop_map(|low| limbs::subtract(M::LIMBS, [low, 0, 0, 0]).0);
    (prop_oneof![8 => any, 1 => edge], 0..4u64).prop_map(|(least, times)| {
        let (mut limbs, mut carry) = (split(least), 0);
        for (limb, modulus) in limbs.iter_mut().zip(M::WIDE) {
            let sum = *limb + times * modulus + carry;
            (*limb, carry) = (sum & MASK, sum >> BITS);
        }
        limbs[4] += carry << BITS;
        // 2^-4, since a residue's own domain has 2^256.
        let residue = Residue::from_montgomery(least) * Residue::from_montgomery([0, 0, 0, 1 << 60]);
        (limbs, residue)
    })
}

fn wide<M: WideModulus>(ifma: Ifma, values: &[Value<M>]) -> Wide<M> {
    let limb = |at: usize| {
        pulp::cast(
            <[u64; LANES]>::try_from(values.iter().map(|value| value.0[at]).collect::<Vec<_>>()).unwrap(),
        )
    };
    Wide::new(ifma, [limb(0), limb(1), limb(2), limb(3), limb(4)])
}

/// The residues of all lanes, whose limbs have to be below 2^52 and the value below four times the modulus.
fn residues<M: WideModulus>(wide: Wide<M>) -> Vec<Residue<M>> {
    for limbs in wide.limbs.map(pulp::cast::<Register, [u64; LANES]>) {
        assert!(limbs.into_iter().all(|limb| limb <= MASK));
    }
    let highest = pulp::cast::<Register, [u64; LANES]>(wide.limbs[4]);
    assert!(highest.into_iter().all(|limb| limb < 4 << 48));
    (0..LANES).map(|lane| wide.lane(lane)).collect()
}

fn eight<M: WideModulus>() -> impl Strategy<Value = Vec<Value<M>>> {
    prop::collection::vec(value::<M>(), LANES)
}

proptest! {
    #[test]
    fn eight_lanes_of_the_field_agree_with_one(a in eight::<Field>(), b in eight::<Field>(), mask: u8) {
        let Some(ifma) = Ifma::try_new() else { return Ok(()) };
        let (left, right) = (wide(ifma, &a), wide(ifma, &b));
        let each = |of: fn(Residue<Field>, Residue<Field>) -> Residue<Field>| -> Vec<_> {
            a.iter().zip(&b).map(|(left, right)| of(left.1, right.1)).collect()
        };
        prop_assert_eq!(residues(left), each(|left, _| left));
        prop_assert_eq!(residues(left * right), each(|left, right| left * right));
        prop_assert_eq!(residues(left.square()), each(|left, _| left.square()));
        prop_assert_eq!(residues(left + right), each(|left, right| left + right));
        prop_assert_eq!(residues(left - right), each(|left, right| left - right));
        prop_assert_eq!(residues(left.minus([right, right, right])), each(|left, right| left - right - right - right));
        prop_assert_eq!(residues(right.minus([left, right])), each(|left, _| -left));
        let product = left * right;
        prop_assert_eq!(residues(product.doubled::<1>()), each(|left, right| (left * right).double()));
        prop_assert_eq!(residues(product.doubled::<2>()), each(|left, right| (left * right).double().double()));
        prop_assert_eq!(residues(product.doubled::<3>()), each(|left, right| (left * right).double().double().double()));
        prop_assert_eq!(residues(left.tripled()), each(|left, _| left.double() + left));
        for wide in [left - left, left.minus([right, left]) + right] {
            prop_assert_eq!(wide.zeros(), 0xff);
        }
        let zeros = (0..LANES).map(|lane| u8::from(a[lane].1.is_zero()) << lane).sum::<u8>();
        prop_assert_eq!(left.zeros(), zeros);
        let least = left.least();
        let negated = (0..LANES).map(|lane| if mask >> lane & 1 == 1 { -a[lane].1 } else { a[lane].1 });
        prop_assert_eq!(residues(least.negate_lanes(mask)), negated.collect::<Vec<_>>());
        let chosen = (0..LANES).map(|lane| if mask >> lane & 1 == 1 { a[lane].1 } else { b[lane].1 });
        prop_assert_eq!(residues(left.or_else(mask, right)), chosen.collect::<Vec<_>>());
    }

    #[test]
    fn eight_lanes_of_scalars_agree_with_one(a in eight::<Order>(), b in eight::<Order>()) {
        let Some(ifma) = Ifma::try_new() else { return Ok(()) };
        let expected: Vec<_> = a.iter().zip(&b).map(|(left, right)| left.1 * right.1).collect();
        prop_assert_eq!(residues(wide(ifma, &a) * wide(ifma, &b)), expected);
        prop_assert_eq!(residues(wide(ifma, &a)), a.iter().map(|value| value.1).collect::<Vec<_>>());
    }

    #[test]
    fn limbs_of_64_bits_become_limbs_of_52_and_back(a in eight::<Field>()) {
        let Some(ifma) = Ifma::try_new() else { return Ok(()) };
        let plain: Vec<_> = a.iter().map(|value| value.1.to_limbs()).collect();
        let limb = |at: usize| pulp::cast(<[u64; LANES]>::try_from(plain.iter().map(|limbs| limbs[at]).collect::<Vec<_>>()).unwrap());
        let limbs: [Register; 4] = [limb(0), limb(1), limb(2), limb(3)];
        let wide = Wide::<Field>::from_plain(ifma, limbs);
        prop_assert_eq!(residues(wide), a.iter().map(|value| value.1).collect::<Vec<_>>());
        let back = wide.plain().to_limbs().map(pulp::cast::<Register, [u64; LANES]>);
        prop_assert_eq!(back, limbs.map(pulp::cast::<Register, [u64; LANES]>));
        for (_, residue) in a {
            prop_assert_eq!(residues(Wide::splat_residue(ifma, residue))[7], residue);
        }
        prop_assert_eq!(residues(Wide::<Field>::one(ifma))[3], Residue::ONE);
    }

    #[test]
    fn inverses_of_eight_lanes_are_those_of_one(a in eight::<Order>()) {
        let Some(ifma) = Ifma::try_new() else { return Ok(()) };
        let inverse = crate::wide::inversion::invert(wide(ifma, &a));
        let expected: Vec<_> = a.iter().map(|value| value.1.invert()).collect();
        let any_zero = a.iter().any(|value| value.1.is_zero());
        prop_assert_eq!(inverse.map(residues), (!any_zero).then_some(expected));
    }
}

#[test]
fn lanes_are_swapped_and_transposed() {
    let Some(ifma) = Ifma::try_new() else { return };
    let rows: [[u64; 8]; 8] =
        std::array::from_fn(|row| std::array::from_fn(|column| (10 * row + column) as u64));
    let columns = ifma.transpose(rows.map(pulp::cast)).map(pulp::cast::<Register, [u64; 8]>);
    for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
        assert_eq!(columns[column][row], rows[row][column]);
    }
    for distance in [1, 2, 4] {
        let swapped: [u64; 8] = pulp::cast(ifma.swap(distance, pulp::cast(rows[3])));
        for lane in 0..8 {
            assert_eq!(swapped[lane], rows[3][lane ^ distance]);
        }
    }
}
