//! `ECDSA-Sig-Value` in DER (RFC 3279 section 2.2.3): a SEQUENCE of the INTEGERs r and s.

use crate::limbs::{self, Limbs};
use crate::residue::Modulus;
use crate::scalar::Order;

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;

/// r and s, both from 1 to n - 1, the lowest limb first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawSignature {
    pub(crate) r: Limbs,
    pub(crate) s: Limbs,
}

impl RawSignature {
    /// Reads the DER of a signature; none unless it is the only encoding of numbers from 1 to n - 1.
    pub fn from_der(bytes: &[u8]) -> Option<Self> {
        let (&[tag, length], content) = bytes.split_first_chunk()?;
        // 2^256 has 33 bytes, so that no valid content needs the long form of a length.
        if tag != SEQUENCE || length >= 0x80 || usize::from(length) != content.len() {
            return None;
        }
        let (r, rest) = integer(content)?;
        let (s, rest) = integer(rest)?;
        rest.is_empty().then_some(Self { r, s })
    }

    /// Reads r and s, 32 bytes each (RFC 7518 section 3.4); none unless they are from 1 to n - 1.
    pub fn from_fixed(bytes: &[u8; 64]) -> Option<Self> {
        let (r, s) = bytes.split_at(32);
        let number = |bytes: &[u8]| {
            let limbs = limbs::from_be_bytes(bytes.try_into().ok()?);
            (limbs != [0; 4] && limbs::is_below(limbs, Order::LIMBS)).then_some(limbs)
        };
        Some(Self { r: number(r)?, s: number(s)? })
    }
}

impl RawSignature {
    /// r and s, 32 bytes each, big endian (RFC 7518 section 3.4).
    pub fn to_fixed(&self) -> [u8; 64] {
        let mut fixed = [0; 64];
        fixed[..32].copy_from_slice(&limbs::to_be_bytes(self.r));
        fixed[32..].copy_from_slice(&limbs::to_be_bytes(self.s));
        fixed
    }
}

/// A number from 1 to n - 1, and what follows it.
fn integer(bytes: &[u8]) -> Option<(Limbs, &[u8])> {
    let (&[tag, length], rest) = bytes.split_first_chunk()?;
    let (content, rest) = rest.split_at_checked(usize::from(length))?;
    let magnitude = match content {
        [0, high, ..] if high & 0x80 != 0 => &content[1..],
        [high, ..] if *high != 0 && high & 0x80 == 0 => content,
        _ => return None,
    };
    let mut padded = [0; 32];
    padded[32usize.checked_sub(magnitude.len())?..].copy_from_slice(magnitude);
    let limbs = limbs::from_be_bytes(&padded);
    (tag == INTEGER && limbs::is_below(limbs, Order::LIMBS)).then_some((limbs, rest))
}

/// The DER of a signature, in place: at most 72 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Signature {
    bytes: [u8; 72],
    length: u8,
}

impl Signature {
    pub(crate) fn new(r: &[u8; 32], s: &[u8; 32]) -> Self {
        let mut bytes = [0; 72];
        bytes[0] = SEQUENCE;
        let middle = write_integer(&mut bytes, 2, r);
        let end = write_integer(&mut bytes, middle, s);
        bytes[1] = end as u8 - 2;
        Self { bytes, length: end as u8 }
    }

    /// r and s, 32 bytes each, big endian (RFC 7518 section 3.4).
    pub fn to_fixed(&self) -> [u8; 64] {
        let mut fixed = [0; 64];
        let (r, s) = self.as_ref()[2..].split_at(2 + usize::from(self.bytes[3]));
        for (half, integer) in fixed.chunks_exact_mut(32).zip([r, s]) {
            // Of 33 bytes the first is the zero that keeps the number from being a negative one.
            let magnitude = &integer[2 + (integer.len() - 2) / 33..];
            half[32 - magnitude.len()..].copy_from_slice(magnitude);
        }
        fixed
    }
}

impl AsRef<[u8]> for Signature {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl From<RawSignature> for Signature {
    fn from(RawSignature { r, s }: RawSignature) -> Self {
        Self::new(&limbs::to_be_bytes(r), &limbs::to_be_bytes(s))
    }
}

/// Writes an INTEGER at `at`, and says where it ends.
fn write_integer(bytes: &mut [u8; 72], at: usize, number: &[u8; 32]) -> usize {
    let zeros = number.iter().position(|&byte| byte != 0).unwrap_or(31);
    let sign = usize::from(number[zeros] >> 7);
    let (start, length) = (at + 2 + sign, 32 - zeros);
    bytes[at] = INTEGER;
    bytes[at + 1] = (sign + length) as u8;
    bytes[start..start + length].copy_from_slice(&number[zeros..]);
    start + length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_and_is_what_p256_writes(
            mut r: [u8; 32], mut s: [u8; 32], short in 0..32usize, shorter in 0..32usize,
        ) {
            r[..short].fill(0);
            s[..shorter].fill(0);
            let Ok(theirs) = p256::ecdsa::Signature::from_scalars(r, s) else { return Ok(()) };
            let ours = Signature::new(&r, &s);
            prop_assert_eq!(ours.as_ref().to_vec(), theirs.to_der().as_bytes().to_vec());
            prop_assert_eq!(ours.to_fixed().to_vec(), theirs.to_bytes().to_vec());
            let read = RawSignature::from_der(ours.as_ref()).unwrap();
            prop_assert_eq!(read, RawSignature { r: limbs::from_be_bytes(&r), s: limbs::from_be_bytes(&s) });
        }
    }

    #[test]
    fn another_encoding_of_a_number_is_refused() {
        let good = [0x30, 6, 2, 1, 1, 2, 1, 1];
        assert!(RawSignature::from_der(&good).is_some());
        for bad in [
            &[0x30, 7, 2, 2, 0, 1, 2, 1, 1][..],
            &[0x30, 6, 2, 1, 0, 2, 1, 1],
            &[0x30, 6, 2, 1, 0x81, 2, 1, 1],
            &[0x30, 5, 2, 0, 2, 1, 1],
            &[0x30, 6, 2, 1, 1, 2, 1, 1, 0],
            &[0x30, 7, 2, 1, 1, 2, 1, 1, 0],
            &[0x30, 0x81, 6, 2, 1, 1, 2, 1, 1],
            &[0x31, 6, 2, 1, 1, 2, 1, 1],
            &[0x30, 6, 3, 1, 1, 2, 1, 1],
            &[],
        ] {
            assert!(RawSignature::from_der(bad).is_none(), "{bad:x?}");
        }
    }
}
