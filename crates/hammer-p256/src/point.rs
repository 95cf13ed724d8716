//! Points of P-256 by their two coordinates.

use crate::field::FieldElement;
use crate::limbs::{self, Limbs};

/// Bytes of a point as SEC 1 section 2.3.3 writes it without compression.
pub const POINT_LENGTH: usize = 65;

/// The DER of a `SubjectPublicKeyInfo` of P-256 up to the point, which ends it (RFC 5480 section 2).
pub const SPKI_PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3,
    1, 7, 3, 0x42, 0,
];

/// The coefficient b of y^2 = x^3 - 3x + b (FIPS 186-4 section D.1.2.3).
const B: [u8; 32] = [
    0x5a, 0xc6, 0x35, 0xd8, 0xaa, 0x3a, 0x93, 0xe7, 0xb3, 0xeb, 0xbd, 0x55, 0x76, 0x98, 0x86, 0xbc, 0x65,
    0x1d, 0x06, 0xb0, 0xcc, 0x53, 0xb0, 0xf6, 0x3b, 0xce, 0x3c, 0x3e, 0x27, 0xd2, 0x60, 0x4b,
];

/// The base point G, as SEC 1 writes it.
const GENERATOR: [u8; POINT_LENGTH] = [
    4, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77,
    0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96, 0x4f, 0xe3,
    0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33,
    0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
];

/// A point of the curve, or infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    pub(crate) x: FieldElement,
    /// 0 at infinity alone: the order is odd, so no point of the curve is its own opposite.
    pub(crate) y: FieldElement,
}

impl Point {
    /// The neutral element.
    pub const INFINITY: Self = Self { x: FieldElement::ZERO, y: FieldElement::ZERO };

    /// The base point G.
    pub fn generator() -> Self {
        Self::from_sec1(&GENERATOR).expect("the base point is on the curve")
    }

    /// Reads an uncompressed point (SEC 1 section 2.3.4); none if its form is another or it is not on the curve.
    pub fn from_sec1(bytes: &[u8]) -> Option<Self> {
        let (x, y) = bytes.strip_prefix(&[4])?.split_at_checked(32)?;
        let x = FieldElement::from_be_bytes(x.try_into().ok()?)?;
        let y = FieldElement::from_be_bytes(y.try_into().ok()?)?;
        let b = FieldElement::from_be_bytes(&B)?;
        let right = (x.square() - FieldElement::ONE.double() - FieldElement::ONE) * x + b;
        (y.square() == right).then_some(Self { x, y })
    }

    /// The uncompressed form (SEC 1 section 2.3.3). Infinity, which has none, is 0x04 and zeros.
    pub fn to_sec1(self) -> [u8; POINT_LENGTH] {
        to_sec1(self.x.to_limbs(), self.y.to_limbs())
    }

    /// Whether it is the neutral element.
    #[inline]
    pub fn is_infinity(self) -> bool {
        self.y.is_zero()
    }

    /// The opposite point.
    #[inline]
    pub(crate) fn negate(self) -> Self {
        Self { x: self.x, y: -self.y }
    }
}

/// The uncompressed form of a point with these coordinates.
#[inline]
pub(crate) fn to_sec1(x: Limbs, y: Limbs) -> [u8; POINT_LENGTH] {
    let mut bytes = [4; POINT_LENGTH];
    bytes[1..33].copy_from_slice(&limbs::to_be_bytes(x));
    bytes[33..].copy_from_slice(&limbs::to_be_bytes(y));
    bytes
}
