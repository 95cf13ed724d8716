//! The public keys that leaves certify, one for each seq.

use p256::SecretKey;
use p256::elliptic_curve::sec1::ToSec1Point;

use crate::der::Der;
use crate::profile::SubjectKey;
use crate::seed::Seed;
use crate::spki;

/// The subject keys of one seed and kind.
#[derive(Clone, Debug)]
pub(crate) struct SubjectKeys {
    seed: Seed,
    kind: SubjectKey,
}

impl SubjectKeys {
    pub(crate) fn new(seed: &Seed, kind: SubjectKey) -> Self {
        Self { seed: seed.child("subject keys", 0), kind }
    }

    /// Replaces `out` by the content of the subjectPublicKey BIT STRING: an uncompressed point of 65 bytes, or a DER
    /// `RSAPublicKey` of 270 bytes.
    pub(crate) fn write(&self, seq: u64, out: &mut Vec<u8>) {
        out.clear();
        match self.kind {
            SubjectKey::P256 => {
                out.extend_from_slice(
                    p256_secret(&self.seed, seq).public_key().to_sec1_point(false).as_bytes(),
                );
            }
            SubjectKey::Rsa2048 => {
                out.extend_from_slice(RSA_PUBLIC_KEY_HEAD);
                let start = out.len();
                out.resize(start + 256, 0);
                self.seed.fill("modulus", seq, &mut out[start..]);
                out[start] |= 0x80;
                out[start + 255] |= 1;
                out.extend_from_slice(RSA_PUBLIC_KEY_TAIL);
            }
        }
    }

    /// Writes the SubjectPublicKeyInfo around such content.
    pub(crate) fn write_spki(&self, der: &mut Der, subject_public_key: &[u8]) {
        match self.kind {
            SubjectKey::P256 => spki::write_p256(der, subject_public_key),
            SubjectKey::Rsa2048 => spki::write_rsa(der, subject_public_key),
        }
    }
}

fn p256_secret(seed: &Seed, seq: u64) -> SecretKey {
    (0..)
        .find_map(|block| SecretKey::from_slice(&seed.block("p256", seq, block)).ok())
        .expect("one of 2^32 blocks is below the order of the curve")
}

/// SEQUENCE of 266 bytes, INTEGER of 257 with its leading zero.
const RSA_PUBLIC_KEY_HEAD: &[u8] = &[0x30, 0x82, 1, 10, 2, 0x82, 1, 1, 0];
/// The exponent 65537.
const RSA_PUBLIC_KEY_TAIL: &[u8] = &[2, 3, 1, 0, 1];
