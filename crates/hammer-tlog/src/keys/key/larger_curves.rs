//! Signatures of ECDSA that ring does not verify: those of P-521, and those of P-384 over SHA-512.

use p384::ecdsa as of_p384;
use p384::ecdsa::signature::hazmat::PrehashVerifier as _;
use p521::ecdsa as of_p521;

/// Whether `signature` (DER) is that of an uncompressed point of P-384 over a digest of SHA-2, whose leftmost 384 bits are signed.
pub(super) fn p384_verifies(point: &[u8], digest: &[u8], signature: &[u8]) -> bool {
    let key = of_p384::VerifyingKey::from_sec1_bytes(point);
    let signature = of_p384::Signature::from_der(signature);
    matches!((key, signature), (Ok(key), Ok(signature)) if key.verify_prehash(digest, &signature).is_ok())
}

/// The same of P-521, which signs all of any digest of SHA-2.
pub(super) fn p521_verifies(point: &[u8], digest: &[u8], signature: &[u8]) -> bool {
    let key = of_p521::VerifyingKey::from_sec1_bytes(point);
    let signature = of_p521::Signature::from_der(signature);
    matches!((key, signature), (Ok(key), Ok(signature)) if key.verify_prehash(digest, &signature).is_ok())
}
