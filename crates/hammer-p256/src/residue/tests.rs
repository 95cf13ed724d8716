use fiat_crypto::p256_64 as field;
use fiat_crypto::p256_scalar_64 as scalar;
use proptest::prelude::*;

use super::*;
use crate::field::Field;
use crate::scalar::Order;

/// Limbs below the modulus, with the edges often: 0, 1, small limbs, limbs of ones, just below the modulus.
fn limbs<M: Modulus>() -> impl Strategy<Value = Limbs> {
    let limb =
        prop_oneof![any::<u64>(), Just(0), Just(1), Just(u64::MAX), Just(1 << 32), Just((1 << 32) - 1)];
    let any = prop::array::uniform4(limb).prop_map(|limbs| limbs::subtract_once(limbs, 0, M::LIMBS));
    prop_oneof![8 => any, 1 => (1..9u64).prop_map(|low| limbs::subtract(M::LIMBS, [low, 0, 0, 0]).0)]
}

/// The inverse by Fermat's theorem.
fn by_fermat<M: Modulus>(value: Residue<M>) -> Residue<M> {
    let (exponent, _) = limbs::subtract(M::LIMBS, [2, 0, 0, 0]);
    let bits = (0..256).rev().map(|at| exponent[at / 64] >> (at % 64) & 1 == 1);
    bits.fold(Residue::ONE, |power, bit| if bit { power.square() * value } else { power.square() })
}

/// Every operation of ours against fiat-crypto's, in Montgomery's domain.
macro_rules! agrees_with_fiat {
    ($name:ident, $modulus:ty, $module:ident, $inside:ident, $outside:ident, $mul:ident, $square:ident, $add:ident,
     $sub:ident, $neg:ident, $to:ident, $from:ident) => {
        proptest! {
            #[test]
            fn $name(a in limbs::<$modulus>(), b in limbs::<$modulus>()) {
                let (x, y) = ($module::$inside(a), $module::$inside(b));
                let (ours, other) = (Residue::<$modulus>::from_montgomery(a), Residue::from_montgomery(b));
                let mut out = $module::$inside([0; 4]);
                $module::$mul(&mut out, &x, &y);
                prop_assert_eq!((ours * other).limbs, out.0);
                $module::$square(&mut out, &x);
                prop_assert_eq!(ours.square().limbs, out.0);
                $module::$add(&mut out, &x, &y);
                prop_assert_eq!((ours + other).limbs, out.0);
                $module::$sub(&mut out, &x, &y);
                prop_assert_eq!((ours - other).limbs, out.0);
                $module::$neg(&mut out, &x);
                prop_assert_eq!((-ours).limbs, out.0);
                $module::$to(&mut out, &$module::$outside(a));
                prop_assert_eq!(Residue::<$modulus>::from_limbs(a).limbs, out.0);
                let mut plain = $module::$outside([0; 4]);
                $module::$from(&mut plain, &x);
                prop_assert_eq!(ours.to_limbs(), plain.0);
            }
        }
    };
}

agrees_with_fiat!(
    the_field_agrees_with_fiat_crypto,
    Field,
    field,
    fiat_p256_montgomery_domain_field_element,
    fiat_p256_non_montgomery_domain_field_element,
    fiat_p256_mul,
    fiat_p256_square,
    fiat_p256_add,
    fiat_p256_sub,
    fiat_p256_opp,
    fiat_p256_to_montgomery,
    fiat_p256_from_montgomery
);
agrees_with_fiat!(
    scalars_agree_with_fiat_crypto,
    Order,
    scalar,
    fiat_p256_scalar_montgomery_domain_field_element,
    fiat_p256_scalar_non_montgomery_domain_field_element,
    fiat_p256_scalar_mul,
    fiat_p256_scalar_square,
    fiat_p256_scalar_add,
    fiat_p256_scalar_sub,
    fiat_p256_scalar_opp,
    fiat_p256_scalar_to_montgomery,
    fiat_p256_scalar_from_montgomery
);

proptest! {
    #[test]
    fn an_inverse_times_its_residue_is_one(a in limbs::<Field>(), b in limbs::<Order>()) {
        let (x, y) = (Residue::<Field>::from_montgomery(a), Residue::<Order>::from_montgomery(b));
        prop_assert_eq!(x.invert() * x, if x.is_zero() { x } else { Residue::ONE });
        prop_assert_eq!(y.invert() * y, if y.is_zero() { y } else { Residue::ONE });
    }

    #[test]
    fn inverses_are_those_by_fermats_theorem(a in limbs::<Field>(), b in limbs::<Order>()) {
        let (x, y) = (Residue::<Field>::from_montgomery(a), Residue::<Order>::from_montgomery(b));
        prop_assert_eq!(x.invert(), by_fermat(x));
        prop_assert_eq!(y.invert(), by_fermat(y));
    }

    #[test]
    fn inverting_many_is_inverting_each(all in prop::collection::vec(limbs::<Order>(), 0..20)) {
        let values: Vec<_> =
            all.into_iter().map(Residue::<Order>::from_montgomery).filter(|one| !one.is_zero()).collect();
        let expected: Vec<_> = values.iter().map(|one| one.invert()).collect();
        let (mut inverted, mut products) = (values.clone(), values);
        invert_all(&mut inverted, &mut products);
        prop_assert_eq!(inverted, expected);
    }

    #[test]
    fn inverses_of_scalars_are_those_of_p256(bytes in any::<[u8; 32]>()) {
        let Some(ours) = Residue::<Order>::from_be_bytes(&bytes).filter(|one| !one.is_zero()) else {
            return Ok(());
        };
        let theirs = p256::NonZeroScalar::try_from(bytes.as_slice()).unwrap();
        let inverse = p256::elliptic_curve::ops::Invert::invert(&theirs);
        prop_assert_eq!(ours.invert().to_be_bytes().to_vec(), inverse.to_bytes().to_vec());
    }
}

/// 0, and both ways around the edges: powers of 2 with their neighbours, and all of those as the inverse.
#[test]
fn inverses_at_the_edges_are_those_by_fermats_theorem() {
    fn agree<M: Modulus>() {
        let two = Residue::<M>::ONE.double();
        let powers = std::iter::successors(Some(Residue::<M>::ONE), |power| Some(*power * two));
        for power in powers.take(256) {
            for value in [power, power - Residue::ONE, power + Residue::ONE] {
                for value in [value, -value, Residue::from_montgomery(value.to_limbs())] {
                    assert_eq!(value.invert(), by_fermat(value), "{value:?}");
                    assert_eq!(value.invert().invert(), value);
                }
            }
        }
    }
    agree::<Field>();
    agree::<Order>();
}

#[test]
fn what_is_not_below_the_modulus_is_no_residue() {
    let modulus = limbs::to_be_bytes(Order::LIMBS);
    assert!(Residue::<Order>::from_be_bytes(&modulus).is_none());
    assert!(Residue::<Field>::from_be_bytes(&modulus).is_some());
    assert!(Residue::<Field>::from_be_bytes(&limbs::to_be_bytes(Field::LIMBS)).is_none());
    let largest = limbs::subtract(Order::LIMBS, [1, 0, 0, 0]).0;
    let last = Residue::<Order>::from_be_bytes(&limbs::to_be_bytes(largest)).unwrap();
    assert_eq!(last + Residue::ONE, Residue::ZERO);
}
