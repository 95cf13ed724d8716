//! The token of the instructions, and the registers that it works on.

use std::arch::x86_64::__m512i;

/// Lanes of a register.
pub(crate) const LANES: usize = 8;

pulp::simd_type! {
    /// That the processor has the instructions.
    pub(crate) struct Ifma {
        pub(super) foundation: "avx512f",
        multiply_add: "avx512ifma",
    }
}

/// A limb of each lane.
pub(crate) type Register = __m512i;

impl Ifma {
    #[inline(always)]
    pub(super) fn zero(self) -> Register {
        self.foundation._mm512_setzero_si512()
    }

    #[inline(always)]
    pub(super) fn splat(self, limb: u64) -> Register {
        self.foundation._mm512_set1_epi64(limb.cast_signed())
    }

    #[inline(always)]
    pub(super) fn add(self, left: Register, right: Register) -> Register {
        self.foundation._mm512_add_epi64(left, right)
    }

    #[inline(always)]
    pub(super) fn subtract(self, left: Register, right: Register) -> Register {
        self.foundation._mm512_sub_epi64(left, right)
    }

    #[inline(always)]
    pub(super) fn and(self, left: Register, right: Register) -> Register {
        self.foundation._mm512_and_si512(left, right)
    }

    #[inline(always)]
    pub(super) fn or(self, left: Register, right: Register) -> Register {
        self.foundation._mm512_or_si512(left, right)
    }

    #[inline(always)]
    pub(super) fn left<const BITS: u32>(self, value: Register) -> Register {
        self.foundation._mm512_slli_epi64::<BITS>(value)
    }

    #[inline(always)]
    pub(super) fn right<const BITS: u32>(self, value: Register) -> Register {
        self.foundation._mm512_srli_epi64::<BITS>(value)
    }

    /// Shifts right, and the sign with it.
    #[inline(always)]
    pub(super) fn signed_right<const BITS: u32>(self, value: Register) -> Register {
        self.foundation._mm512_srai_epi64::<BITS>(value)
    }

    /// `sum` and the low 52 bits of the product of the low 52 bits of both.
    #[inline(always)]
    pub(super) fn add_low(self, sum: Register, left: Register, right: Register) -> Register {
        self.multiply_add._mm512_madd52lo_epu64(sum, left, right)
    }

    /// `sum` and the high 52 bits of the product of the low 52 bits of both.
    #[inline(always)]
    pub(super) fn add_high(self, sum: Register, left: Register, right: Register) -> Register {
        self.multiply_add._mm512_madd52hi_epu64(sum, left, right)
    }

    /// `chosen` in the lanes of the mask, `other` in the rest.
    #[inline(always)]
    pub(super) fn select(self, mask: u8, chosen: Register, other: Register) -> Register {
        self.foundation._mm512_mask_blend_epi64(mask, other, chosen)
    }

    #[inline(always)]
    pub(super) fn negative(self, value: Register) -> u8 {
        self.foundation._mm512_cmplt_epi64_mask(value, self.zero())
    }

    /// The lanes whose number differs from the lane's in the bits of `distance`.
    #[inline(always)]
    pub(super) fn swap(self, distance: usize, value: Register) -> Register {
        let lanes: [u64; LANES] = std::array::from_fn(|lane| (lane ^ distance) as u64);
        self.foundation._mm512_permutexvar_epi64(pulp::cast(lanes), value)
    }

    /// Limb `i` of number `j` becomes lane `j` of register `i`, and the other way round.
    #[inline(always)]
    pub(super) fn transpose(self, rows: [Register; 8]) -> [Register; 8] {
        let f = self.foundation;
        let [a, b, c, d, e, g, h, i] = rows;
        let [zero, two, four, six] = self.quarters([
            f._mm512_unpacklo_epi64(a, b),
            f._mm512_unpacklo_epi64(c, d),
            f._mm512_unpacklo_epi64(e, g),
            f._mm512_unpacklo_epi64(h, i),
        ]);
        let [one, three, five, seven] = self.quarters([
            f._mm512_unpackhi_epi64(a, b),
            f._mm512_unpackhi_epi64(c, d),
            f._mm512_unpackhi_epi64(e, g),
            f._mm512_unpackhi_epi64(h, i),
        ]);
        [zero, one, two, three, four, five, six, seven]
    }

    /// Quarter `i` of register `j` becomes quarter `j` of register `i`.
    #[inline(always)]
    fn quarters(self, [a, b, c, d]: [Register; 4]) -> [Register; 4] {
        let (first, second) = (self.even(a, b), self.even(c, d));
        let (third, fourth) = (self.odd(a, b), self.odd(c, d));
        [self.even(first, second), self.even(third, fourth), self.odd(first, second), self.odd(third, fourth)]
    }

    /// The first and the third quarter of both.
    #[inline(always)]
    fn even(self, left: Register, right: Register) -> Register {
        self.foundation._mm512_shuffle_i64x2::<0b10_00_10_00>(left, right)
    }

    /// The second and the fourth quarter of both.
    #[inline(always)]
    fn odd(self, left: Register, right: Register) -> Register {
        self.foundation._mm512_shuffle_i64x2::<0b11_01_11_01>(left, right)
    }
}
