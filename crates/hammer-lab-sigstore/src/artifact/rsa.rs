//! RSA PKCS #1 v1.5 over a hash that was computed elsewhere (RFC 8017 section 8.2.2); the signature library hashes
//! only messages that it is given whole.

use crypto_bigint::{
    BoxedUint, Odd,
    modular::{BoxedMontyForm, BoxedMontyParams},
};
use hammer_tlog::keys::der::{self, Tlv};

use super::hash_algorithm::HashAlgorithm;

/// Whether `signature` is that of `hash` by the key, a DER `RSAPublicKey` (RFC 8017 appendix A.1.1) of 2,048 to 8,192 bits.
pub(super) fn verifies(key: &[u8], algorithm: HashAlgorithm, hash: &[u8], signature: &[u8]) -> bool {
    let Some((modulus, exponent)) = read_key(key) else { return false };
    let in_range = (LEAST_LENGTH..=MOST_LENGTH).contains(&modulus.len());
    if !in_range || signature.len() != modulus.len() {
        return false;
    }
    let Some(expected) = encoded(algorithm, hash, modulus.len()) else { return false };
    power(modulus, exponent, signature).is_some_and(|message| message == expected)
}

/// `signature ^ exponent mod modulus`, as long as the modulus.
fn power(modulus: &[u8], exponent: u64, signature: &[u8]) -> Option<Vec<u8>> {
    let bits = u32::try_from(modulus.len()).ok()?.checked_mul(8)?;
    let number = |bytes: &[u8]| BoxedUint::from_be_slice(bytes, bits).ok();
    let modulus_number = number(modulus)?;
    let base = number(signature).filter(|base| *base < modulus_number)?;
    let modulus_number: Odd<BoxedUint> = Option::from(Odd::new(modulus_number))?;
    let parameters = BoxedMontyParams::new_vartime(modulus_number);
    let base = BoxedMontyForm::new(base, &parameters);
    let mut result = base.clone();
    // The exponent's highest bit is the base itself.
    for bit in (0..exponent.checked_ilog2()?).rev() {
        result = result.square();
        if exponent >> bit & 1 == 1 {
            result = result.mul(&base);
        }
    }
    let bytes = result.retrieve().to_be_bytes();
    let (padding, message) = bytes.split_at(bytes.len().checked_sub(modulus.len())?);
    padding.iter().all(|byte| *byte == 0).then(|| message.to_vec())
}

/// EMSA-PKCS1-v1_5 (RFC 8017 section 9.2).
fn encoded(algorithm: HashAlgorithm, hash: &[u8], length: usize) -> Option<Vec<u8>> {
    let last = match algorithm {
        HashAlgorithm::Sha256 => 1,
        HashAlgorithm::Sha384 => 2,
        HashAlgorithm::Sha512 => 3,
    };
    let size = u8::try_from(hash.len()).ok()?;
    let identifier =
        [0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, last, 0x05, 0x00];
    let info = [&[0x30, 0x11 + size], identifier.as_slice(), &[0x04, size], hash].concat();
    let padding = length.checked_sub(info.len() + 3)?;
    Some([&[0, 1], vec![0xff; padding].as_slice(), &[0], &info].concat())
}

/// The modulus without leading zeros, and the exponent.
fn read_key(key: &[u8]) -> Option<(&[u8], u64)> {
    let mut fields = Tlv::parse(key, der::SEQUENCE).ok()?.content();
    let modulus = fields.expect(der::INTEGER).ok()?.value;
    let exponent = fields.expect(der::INTEGER).ok()?.value;
    let exponent = exponent.strip_prefix(&[0]).unwrap_or(exponent);
    let small = exponent.len() <= 8;
    let exponent = exponent.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    small.then_some((modulus.strip_prefix(&[0]).unwrap_or(modulus), exponent))
}

const LEAST_LENGTH: usize = 256;
const MOST_LENGTH: usize = 1024;
